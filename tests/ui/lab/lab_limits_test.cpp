// What limits a row, from its time and the roofs of its device.
#include "ui/lab/lab_limits.h"

#include <gtest/gtest.h>

namespace orrery::ui {
namespace {

/// A device that reads 100 GB/s from memory, 400 from 1 MB of cache, and multiplies 1 TFLOP/s in float32.
api::LabRun runOf(double bytes, double flops) {
  api::LabRun run;
  run.bytes = bytes;
  run.flops = flops;
  run.limits.reading = {{1e6, 400e9}, {100e6, 100e9}};
  run.limits.operations_per_second[static_cast<size_t>(Arithmetic::f32)] = 1e12;
  return run;
}

LabRow rowOf(const api::LabRun& run, double us, bool memory) {
  api::LabVersion version;
  version.ok = true;
  version.us = us;
  version.p10 = 0.9 * us;
  version.p90 = 1.2 * us;
  version.gflops = run.flops / us * 1e-3;
  version.gbytes_per_second = run.bytes / us * 1e-3;
  version.memory = memory;
  return {.number = 2, .name = "cpu.some", .device = "cpu", .mark = LabMark::verified, .version = version};
}

QString valueOf(const LabLimits& limits, const QString& name) {
  for (const LabLimits::Fact& fact : limits.facts)
    if (fact.name == name) return fact.value;
  return {};
}

TEST(LabLimits, MemoryLimitsWhatComputesLittle) {
  const api::LabRun run = runOf(8e6, 2e6);
  const LabLimits limits = limitsOf(rowOf(run, 100, true), run, nullptr);  // 80 GB/s, 20 GFLOP/s
  ASSERT_EQ(limits.roofs.size(), 2U);
  EXPECT_EQ(limits.roofs[0].name, "memory, 100 GB/s");
  EXPECT_NEAR(limits.roofs[0].share, 0.8, 1e-9);
  EXPECT_TRUE(limits.roofs[0].nearest);
  EXPECT_NEAR(limits.roofs[1].share, 0.02, 1e-9);
  EXPECT_FALSE(limits.far);
  EXPECT_EQ(limits.verdict, "Reading and writing limits it.");
  EXPECT_EQ(valueOf(limits, "flops a byte"), "0.250");
  EXPECT_EQ(valueOf(limits, "spread of its samples"), "30.0 %");
  EXPECT_EQ(valueOf(limits, "to the row before"), "") << "there is none";
}

TEST(LabLimits, ProductsLimitWhatComputesMuch) {
  const api::LabRun run = runOf(1e6, 90e6);
  const LabRow before = rowOf(run, 300, true);
  LabRow row = rowOf(run, 100, true);  // 10 GB/s, 900 GFLOP/s
  row.version->launched_us = 104;
  const LabLimits limits = limitsOf(row, run, &before);
  ASSERT_EQ(limits.roofs.size(), 2U);
  EXPECT_TRUE(limits.roofs[1].nearest);
  EXPECT_EQ(limits.verdict, "Its multiplications limit it.");
  EXPECT_EQ(valueOf(limits, "more when launched alone"), "4.0 µs");
  EXPECT_EQ(valueOf(limits, "to the row before"), "3.00×");
}

TEST(LabLimits, WhatACacheHoldsIsHeldAgainstTheCache) {
  const api::LabRun run = runOf(0.5e6, 1e6);
  const LabLimits limits = limitsOf(rowOf(run, 50, false), run, nullptr);  // 10 GB/s
  EXPECT_EQ(limits.roofs[0].name, "its cache, 400 GB/s");
  EXPECT_NEAR(limits.roofs[0].share, 0.025, 1e-9);
  EXPECT_TRUE(limits.far);
  EXPECT_TRUE(limits.verdict.startsWith("Far from its roofs"));
}

TEST(LabLimits, NothingIsSaidWhereNothingIsKnown) {
  api::LabRun run = runOf(1e6, 1e6);
  LabRow row = rowOf(run, 10, true);
  row.version->us = 0;
  EXPECT_TRUE(limitsOf(row, run, nullptr).facts.empty()) << "it was not timed";
  run.limits = {};
  const LabLimits limits = limitsOf(rowOf(run, 10, true), run, nullptr);
  EXPECT_TRUE(limits.roofs.empty());
  EXPECT_TRUE(limits.verdict.isEmpty());
}

}  // namespace
}  // namespace orrery::ui
