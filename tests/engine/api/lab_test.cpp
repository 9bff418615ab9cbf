// The kernels by themselves through the facade: what a run reports to a page, and when a machine was busy.
#include "engine/api/lab_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "engine/base/csv.h"

namespace orrery::api {
namespace {

using ::testing::HasSubstr;

LabVersion steady(double p10, double us, double p90) {
  LabVersion version;
  version.ok = true;
  version.p10 = p10;
  version.us = us;
  version.p90 = p90;
  return version;
}

TEST(LabRun, says_when_the_machine_was_busy) {
  LabRun run;
  run.versions = {steady(9.9, 10, 10.2), steady(0, 0, 0)};
  EXPECT_EQ(run.busy(), "") << "nothing is known of the load";
  run.others = 0.02;
  EXPECT_EQ(run.busy(), "");
  run.others = 0.48;
  EXPECT_EQ(run.busy(), "the machine was busy: other programs took 48 % of the cores' time");
  run.others = 0.02;
  run.versions.push_back(steady(9, 10, 14));
  EXPECT_EQ(run.busy(), "the machine may have been busy: the samples of 1 row lie far apart");
  run.others = 0.48;
  EXPECT_THAT(run.busy(),
              HasSubstr("was busy: other programs took 48 % of the cores' time; the samples of 1 row"));
}

TEST(LabKernel, tells_libraries_and_blocks_of_its_rows) {
  const LabKernel linear = find_kernel("linear").value(), ladder = find_kernel("matmul_ladder").value();
  EXPECT_EQ(linear.libraries.at("cpu.onednn.f32"), "oneDNN");
  EXPECT_FALSE(linear.libraries.contains("cpu.reference"));
  EXPECT_EQ(ladder.tiles.at("cpu.avx2.tile"), "6x16");
  EXPECT_FALSE(ladder.tiles.contains("cpu.naive"));
}

TEST(LabRun, tells_row_after_row_on_the_caller_s_thread) {
  size_t told = 0;
  const auto caller = std::this_thread::get_id();
  const auto on_version = [&](const LabRun& so_far) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(so_far.versions.size(), ++told);
    EXPECT_EQ(so_far.problem, "3x70x1");
    EXPECT_THAT(so_far.machine, HasSubstr(" threads of "));
  };
  const Result<LabRun> run = run_lab({.kernel = "softmax", .shape = "3x70x1"}, on_version, {}, {});
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  ASSERT_EQ(run.value().versions.size(), told);
  const Result<LabKernel> kernel = find_kernel("softmax");
  ASSERT_TRUE(kernel.ok());
  ASSERT_EQ(kernel.value().cpu.size(), told);
  for (size_t row = 0; row < told; ++row)
    EXPECT_EQ(run.value().versions[row].name, kernel.value().cpu[row]) << "fastest first";
}

TEST(LabRun, tells_work_and_limits_and_runs_the_rows_that_are_asked_for) {
  const LabRequest all{.kernel = "softmax", .shape = "3x70x1"};
  const Result<LabKernel> kernel = find_kernel("softmax");
  ASSERT_TRUE(kernel.ok());
  LabRequest one = all;
  one.rows = {kernel->cpu.back()};
  const Result<LabRun> run = run_lab(one, {}, {}, {});
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  ASSERT_EQ(run->versions.size(), 1U);
  EXPECT_EQ(run->versions[0].name, kernel->cpu.back());
  EXPECT_EQ(run->bytes, 2 * 3 * 70 * 4) << "read once, written once";
  EXPECT_NEAR(run->versions[0].gbytes_per_second, run->bytes / run->versions[0].us * 1e-3, 1e-9);
  EXPECT_NEAR(run->versions[0].gflops, run->flops / run->versions[0].us * 1e-3, 1e-9);
  ASSERT_FALSE(run->limits.reading.empty());
  EXPECT_GT(run->limits.operations_per_second[static_cast<size_t>(Arithmetic::f32)], 1e9);
  one.rows = {"cpu.abacus"};
  const Result<LabRun> none = run_lab(one, {}, {}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

LabRun written_run() {
  LabRun run;
  run.kernel = "linear";
  run.problem = "1x2x3, \"heavy\"";
  run.device = "cpu";
  run.machine = "a machine";
  run.threads = 2;
  run.others = 0.25;
  run.flops = 12;
  run.bytes = 40;
  run.limits.reading = {{1e3, 4e11}, {1e8, 3e10}};
  run.limits.operations_per_second = {1e12, 0, 2e12, 0};
  run.versions = {steady(9.9, 10, 10.2), LabVersion(), LabVersion()};
  run.versions[0].name = "cpu.fast";
  run.versions[0].arithmetic = Arithmetic::int16;
  run.versions[0].memory = true;
  run.versions[0].share_of_limit = 0.5;
  run.versions[1].name = "cpu.refused";
  run.versions[1].refused = "has no such type";
  run.versions[2].name = "cpu.wrong";
  run.versions[2].max_error = INFINITY;
  run.versions[2].where = "dst[0] is nan";
  return run;
}

TEST(LabRun, is_written_and_read_back) {
  const LabRun run = written_run();
  const std::string text = write_lab_run(run);
  const Result<LabRun> read = parse_lab_run(text);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(write_lab_run(*read), text);
  EXPECT_EQ(read->versions[0].arithmetic, Arithmetic::int16);
  EXPECT_TRUE(read->versions[0].memory && read->versions[0].ok);
  EXPECT_EQ(read->versions[1].refused, "has no such type");
  EXPECT_TRUE(std::isinf(read->versions[2].max_error));
  EXPECT_EQ(read->busy(), run.busy());
  EXPECT_EQ(read->limits.reading[1].bytes_per_second, 3e10);
  for (const char* wrong : {"", "[]", "{}", "{\"kernel\": 1}", "not JSON"})
    EXPECT_FALSE(parse_lab_run(wrong).ok()) << wrong;
}

TEST(LabRun, is_a_table_with_a_line_a_row) {
  const std::vector<LabRun> runs{written_run(), written_run()};
  const Result<CsvTable> table = parse_csv(lab_csv(runs));
  ASSERT_TRUE(table.ok()) << table.error().to_string();
  ASSERT_EQ(table->rows.size(), 6U);
  EXPECT_EQ(table->rows[0][*table->column("problem")], runs[0].problem);
  EXPECT_EQ(table->rows[0][*table->column("us")], "10");
  EXPECT_EQ(table->rows[1][*table->column("us")], "");
  EXPECT_EQ(table->rows[1][*table->column("refused")], "has no such type");
  EXPECT_EQ(table->rows[2][*table->column("ok")], "false");
}

TEST(LabRun, lines_of_a_history_that_are_none_are_passed_over) {
  const std::string line = lab_history_line({"2026-11-26T10:15:00Z", "0.1.0", written_run()});
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  const auto kept = parse_lab_history(line + "\n{\"kernel\": \"linear\"}\nbroken\n[1]\n" + line +
                                      line.substr(0, line.size() / 2));
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].when, "2026-11-26T10:15:00Z");
  EXPECT_EQ(kept[1].program, "0.1.0");
  EXPECT_EQ(write_lab_run(kept[1].run), write_lab_run(written_run()));
}

TEST(LabRun, a_stop_ends_it) {
  std::stop_source stop;
  size_t told = 0;
  const auto on_version = [&](const LabRun&) {
    ++told;
    stop.request_stop();
  };
  const Result<LabRun> run = run_lab({.kernel = "softmax"}, on_version, {}, stop.get_token());
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::cancelled);
  EXPECT_EQ(told, 1U);
}

}  // namespace
}  // namespace orrery::api
