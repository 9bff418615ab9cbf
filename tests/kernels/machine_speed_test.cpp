#include "kernels/machine_speed.h"

#include <gtest/gtest.h>

namespace orrery::kernels {
namespace {

TEST(SpeedMeter, MeasuresLevelAfterLevelInParts) {
  ThreadTeam team(2);
  SpeedMeter meter;
  size_t parts = 1;
  while (meter.measure(team)) ++parts;
  const std::vector<ReadingSpeed>& reading = meter.reading();
  EXPECT_EQ(parts, kArithmetics + reading.size());
  ASSERT_GT(reading.size(), 10U);
  for (size_t i = 1; i < reading.size(); ++i) {
    EXPECT_GT(reading[i].bytes, reading[i - 1].bytes);
    EXPECT_LE(reading[i].bytes_per_second, reading[i - 1].bytes_per_second);
  }
  EXPECT_GE(reading.back().bytes, 160 << 20);
  EXPECT_GT(meter.multiplying()[static_cast<size_t>(Arithmetic::f32)], 1e8);
}

/// On a quiet machine: what else runs here slows the caches as it slows memory.
TEST(MachineSpeed, CachesAreFasterThanMemory) {
  ThreadTeam team(2);
  SpeedMeter meter;
  while (meter.measure(team)) {
  }
  const std::vector<ReadingSpeed>& reading = meter.reading();
  EXPECT_GT(reading.front().bytes_per_second, 1.5 * reading.back().bytes_per_second);
}

}  // namespace
}  // namespace orrery::kernels
