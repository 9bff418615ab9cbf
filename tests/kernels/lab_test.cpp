// The lab: rows that are wrong are caught, none is timed that was not found right, problems are told in
// words, what is measured is kept and read back, and a device is measured as the CPU is (here the fake one).
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "kernels/half.h"
#include "kernels/lab/linear_case.h"
#include "kernels/lab/load.h"
#include "kernels/lab/problems.h"
#include "tests/bench/report.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels::lab {
namespace {

const Timing kBriefly{.samples = 3, .warm_up_seconds = 0, .sample_seconds = 0};

size_t row_workspace(const Linear::Problem& problem, const Machine& machine, int threads) {
  return linear_rows().back().workspace(problem, machine, threads);
}
std::string takes_all(const Linear::Problem&, const Machine&) { return ""; }
std::string takes_none(const Linear::Problem&, const Machine&) { return "not today"; }

void run_right(const Linear::Args& args, const Launch& launch) { linear_rows().back().run(args, launch); }

/// One bit of the last element, of about a thirtieth of its magnitude.
void run_flipped(const Linear::Args& args, const Launch& launch) {
  run_right(args, launch);
  const Linear::Operand& operand = args.operands[0];
  float& last = operand.dst[(args.tokens - 1) * operand.dst_stride + args.problem.segments[0].rows - 1];
  last = float_from_bits(bits_of_float(last) ^ (1U << 18));
}
/// The last column counts for nothing.
void run_short(const Linear::Args& args, const Launch& launch) {
  std::vector<float> src(args.src, args.src + args.tokens * args.src_stride);
  for (int64_t t = 0; t < args.tokens; ++t)
    src[static_cast<size_t>(t * args.src_stride + args.problem.cols - 1)] = 0.0F;
  Linear::Args part = args;
  part.src = src.data();
  run_right(part, launch);
}
/// The last row of the weights is forgotten.
void run_unwritten(const Linear::Args& args, const Launch& launch) {
  Linear::Args part = args;
  part.problem.segments[0].rows -= 1;
  run_right(part, launch);
}
/// A row of dst that is one too long.
void run_over(const Linear::Args& args, const Launch& launch) {
  run_right(args, launch);
  args.operands[0].dst[args.problem.segments[0].rows] = 0.0F;
}

Row<Linear> row_of(void (*run)(const Linear::Args&, const Launch&),
                   std::string (*supports)(const Linear::Problem&, const Machine&) = takes_all) {
  return {.name = "cpu.made", .supports = supports, .run = run, .workspace = row_workspace};
}

Record measured(const Row<Linear>& row, const LinearCase& c, const Timing& timing = kBriefly) {
  ThreadTeam team(1);
  HostPlace place(team);
  CaseExperiment<LinearCase> experiment("made", c, std::span(&row, 1));
  return experiment.measure(0, place, timing);
}

TEST(ProblemFamilies, EachRowHasAFileToRead) {
  for (const ProblemFamily& family : problem_families())
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda})
      for (const NamedRow& row : family.rows(device))
        EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::path(ORRERY_SOURCE_DIR) / row.source))
            << row.name << " of " << family.op << ": " << row.source;
}

TEST(Lab, a_row_that_is_right_is_timed) {
  const Record record = measured(row_of(run_right), LinearCase(3, 64, {{5, DType::f32}}));
  ASSERT_TRUE(record.agreement);
  EXPECT_TRUE(record.agreement->ok) << record.agreement->where;
  EXPECT_EQ(record.agreement->max_error, 0);
  ASSERT_TRUE(record.times);
  EXPECT_GT(record.times->p10, 0);
  EXPECT_LE(record.times->p10, record.times->median);
  EXPECT_LE(record.times->median, record.times->p90);
  EXPECT_EQ(record.work.flops, 2 * 3 * 64 * 5);
  EXPECT_EQ(record.work.bytes, 4 * (64 * 5 + 3 * 64 + 3 * 5));
  EXPECT_NEAR(record.gflops(), record.work.flops / record.times->median * 1e-3, 1e-9);
}

TEST(Lab, a_row_that_is_wrong_is_caught_and_never_timed) {
  for (const DType dtype : {DType::f32, DType::q8_0}) {
    LinearCase c(3, 64, {{5, dtype}});
    c.dst_gap = 2;
    for (const auto run : {run_flipped, run_short, run_unwritten, run_over}) {
      const Record record = measured(row_of(run), c);
      ASSERT_TRUE(record.agreement);
      EXPECT_FALSE(record.agreement->ok) << record.agreement->max_error;
      EXPECT_GT(record.agreement->max_error, record.agreement->tolerance);
      EXPECT_FALSE(record.times);
      EXPECT_EQ(record.gflops(), 0);
    }
  }
  EXPECT_EQ(measured(row_of(run_flipped), LinearCase(3, 64, {{5, DType::f32}})).agreement->where.substr(0, 9),
            "dst[2, 4]");
}

// Of many tokens a few are looked at: the last is always among them.
TEST(Lab, the_last_token_is_checked_where_not_all_are) {
  LinearCase c(33, 64, {{5, DType::f32}});
  c.most_checked = 3;
  EXPECT_TRUE(measured(row_of(run_right), c).times);
  const Record record = measured(row_of(run_flipped), c);
  EXPECT_FALSE(record.times);
  EXPECT_EQ(record.agreement->where.substr(0, 10), "dst[32, 4]");
}

TEST(Lab, a_row_that_refuses_is_not_run_unless_that_is_asked_for) {
  const LinearCase c(3, 64, {{5, DType::f32}});
  const Record record = measured(row_of(run_right, takes_none), c);
  EXPECT_EQ(record.refusal, "not today");
  EXPECT_FALSE(record.agreement);
  EXPECT_FALSE(record.times);
  Timing too = kBriefly;
  too.refused_too = true;
  EXPECT_TRUE(measured(row_of(run_right, takes_none), c, too).times);
  EXPECT_FALSE(measured(row_of(run_flipped, takes_none), c, too).times);
}

TEST(Lab, a_row_that_is_stopped_has_no_time) {
  std::stop_source stop;
  Timing timing = kBriefly;
  timing.stop = stop.get_token();
  const LinearCase c(3, 64, {{5, DType::f32}});
  EXPECT_TRUE(measured(row_of(run_right), c, timing).times);
  stop.request_stop();
  const Record record = measured(row_of(run_right), c, timing);
  EXPECT_FALSE(record.times);
  EXPECT_TRUE(record.agreement->ok);
}

TEST(Lab, slow_calls_have_fewer_samples) {
  const auto slow = [](size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  Timing timing = kBriefly;
  timing.samples = 1000;
  timing.most_seconds = 0.02;
  const Times times = time_calls(slow, timing, false);
  EXPECT_GE(times.samples, 1);
  EXPECT_LE(times.samples, 4);
  EXPECT_GE(times.p10, 5000);
}

TEST(Lab, what_became_of_a_row_is_a_line) {
  const LinearCase c(3, 64, {{5, DType::f32}});
  Record record = measured(row_of(run_right), c);
  record.share_of_limit = 0.25;
  for (const char* part : {" us (", " GB/s", " GFLOP/s", " 25 % of the limit", "  off by 0.0e+00"})
    EXPECT_NE(outcome_of(record).find(part), std::string::npos) << outcome_of(record);
  EXPECT_EQ(outcome_of(measured(row_of(run_flipped), c)).substr(0, 9), "WRONG by ");
  EXPECT_EQ(outcome_of(measured(row_of(run_right, takes_none), c)), "refused: not today");
}

TEST(Lab, limits_tell_what_a_row_reaches) {
  Limits limits;
  limits.reading = {{1e6, 1e12}, {1e9, 1e11}};
  Record record;
  record.work = {.bytes = 1e6, .flops = 1e6};
  EXPECT_EQ(limits.share_of(record), 0) << "it was not timed";
  record.times = Times{.median = 20, .memory = true};
  EXPECT_NEAR(limits.share_of(record), 0.5, 1e-9);
  record.times->memory = false;
  EXPECT_NEAR(limits.share_of(record), 0.05, 1e-9);
  limits.operations_per_second.fill(1e11);
  EXPECT_NEAR(limits.share_of(record), 0.5, 1e-9);
}

/// Counted on one core, which a process that is always busy shares with this one, which only waits.
TEST(Lab, other_programs_are_seen) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  int core = 0;
  while (!CPU_ISSET(core, &all)) ++core;
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const pid_t busy = fork();
  if (busy == 0)
    for (volatile uint64_t turns = 0;;) turns = turns + 1;
  const OtherPrograms others;
  const bool told = others.share().has_value();
  double share = 0;
  for (int i = 0; told && i < 500 && share < 0.5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    share = others.share().value_or(0);
  }
  kill(busy, SIGKILL);
  waitpid(busy, nullptr, 0);
  sched_setaffinity(0, sizeof all, &all);
  if (!told) GTEST_SKIP() << "the system does not tell";
  EXPECT_GE(share, 0.5);
}

TEST(Lab, weights_that_repeat_give_what_all_of_them_give) {
  const LinearCase c(2, 64, {{70, DType::q4_0, true}, {33, DType::q4_0}}, Epilogue::none, Precision::balanced,
                     {.period = 32});
  testing::expect_rows_agree(c, linear_rows());
  const std::vector<float> dst = run_reference<LinearCase>(c, linear_rows())[0].values;
  EXPECT_EQ(dst[0], dst[32]);
  EXPECT_EQ(dst[5], dst[69]);
  EXPECT_NE(dst[0], dst[1]);
}

TEST(Lab, numbers_agree_with_their_likes_alone) {
  const auto off = [](float actual, float expected) {
    return compare({.name = "x", .values = {actual, 2}},
                   {.output = {.name = "x", .values = {expected, 2}}, .tolerance = 1e-3});
  };
  EXPECT_TRUE(off(NAN, NAN).ok);
  EXPECT_TRUE(off(-INFINITY, -INFINITY).ok);
  EXPECT_FALSE(off(NAN, 1).ok);
  EXPECT_FALSE(off(1, NAN).ok);
  EXPECT_FALSE(off(INFINITY, -INFINITY).ok);
  EXPECT_TRUE(off(1.001F, 1).ok);
  EXPECT_NEAR(off(1.5F, 1).max_error, 0.25, 1e-9) << "of the largest, which is 2";
  EXPECT_NEAR(off(1.5F, 1).nmse, 0.25 / 5, 1e-9);
  EXPECT_FALSE(compare({.name = "x", .values = {1}}, {.output = {.name = "x", .values = {1, 2}}}).ok);
}

TEST(Lab, a_problem_is_told_in_words) {
  std::string reason;
  const auto told = [&](const std::string& op, const std::string& words) {
    reason.clear();
    return make_experiment(op, words, reason) != nullptr;
  };
  EXPECT_TRUE(told("linear", "decode 1x576x1536 q8_0")) << reason;
  EXPECT_TRUE(told("linear", "3x256x64+32 Q4_K+q6_k bias exact inputs=heavy seed=3")) << reason;
  EXPECT_TRUE(told("linear", "3x256x64 Q4_K int8")) << reason;
  EXPECT_TRUE(told("linear", "2x64x32 silu_mul")) << reason;
  EXPECT_TRUE(told("attention", "1x4x70 heads=4 kv_heads=2 dim=32 q8_0 window=20")) << reason;
  EXPECT_TRUE(told("attention", "1x4x70 heads=4 kv_heads=2 fastmax p=1 limit=0.5")) << reason;
  EXPECT_FALSE(told("attention", "1x4x70 heads=4 fastmax p=3"));
  EXPECT_NE(reason.find("Fastmax has p 1 and 2"), std::string::npos) << reason;
  EXPECT_FALSE(told("attention", "1x4x70 heads=4 fastmax softcap=2"));
  EXPECT_FALSE(told("linear", "1x576 q8_0"));
  EXPECT_NE(reason.find("TOKENSxCOLSxROWS"), std::string::npos) << reason;
  EXPECT_FALSE(told("linear", "1x577x4 q8_0"));
  EXPECT_NE(reason.find("no whole blocks"), std::string::npos) << reason;
  EXPECT_FALSE(told("linear", "1x64x4 q8_0 quickly"));
  EXPECT_NE(reason.find("not understood: quickly"), std::string::npos) << reason;
  for (const char* words : {"0x64x4", "1xx4", "1x64x4+", "1x64x99999999999", "999999999x999999999x9", ""})
    EXPECT_FALSE(told("linear", words)) << words;
  EXPECT_FALSE(told("attention", "1x9x4 heads=2"));
  EXPECT_FALSE(told("attention", "1x1x4 heads=3 kv_heads=2"));
  EXPECT_FALSE(told("attention", "1x1x4 heads=-1"));
  EXPECT_FALSE(told("topknot", "1x1"));
  EXPECT_NE(reason.find("topknot"), std::string::npos) << reason;
}

/// The first row that takes it.
size_t chosen(const Experiment& experiment, const Place& place) {
  const std::vector<Version> versions = experiment.versions(kind_of(place));
  size_t row = 0;
  while (row + 1 < versions.size() && !versions[row].refusal.empty()) ++row;
  return row;
}

/// All rows that take the problem are right; how many.
int right_rows(std::string_view op, const std::string& problem, Place& place) {
  std::string reason;
  const auto experiment = make_experiment(op, problem, reason);
  if (!experiment) {
    ADD_FAILURE() << reason;
    return 0;
  }
  int right = 0;
  const std::vector<Version> versions = experiment->versions(kind_of(place));
  for (size_t v = 0; v < versions.size(); ++v) {
    if (!versions[v].refusal.empty()) continue;
    const Record record = experiment->measure(v, place, kBriefly);
    EXPECT_TRUE(record.times) << op << " " << problem << " " << record.row << ": "
                              << (record.agreement ? record.agreement->where : record.refusal);
    right += record.times ? 1 : 0;
  }
  place.drop();
  return right;
}

/// One of each op that the reference solves in a moment.
constexpr std::pair<std::string_view, std::string_view> kSmall[] = {
    {"linear", "3x256x40 q4_0"},
    {"attention", "2x3x40 heads=4 kv_heads=2"},
    {"kv_append", "2x3x40 kv_heads=2"},
    {"norm", "5x300 residual"},
    {"rope", "5x3x64"},
    {"elementwise", "5x300 silu_mul"},
    {"embedding", "5x256 Q8_0 vocabulary=70"},
    {"gather", "3x4x96 mean"},
    {"top_experts", "5x16x4"},
    {"expert_mlp", "3x64x32 Q4_0 experts=8 active=2"},
    {"sample", "3x500 top_k=4"},
    {"causal_convolution", "2x5x40x70"},
    {"selective_scan", "2x5x40x70"},
    {"combine", "3x5x70 where column"},
    {"copy", "3x5x70 transpose F32+BF16"},
    {"matmul", "2x9x70x33 transposed"},
    {"matmul_ladder", "9x70x33"},
    {"softmax", "3x70x5 BF16"},
    {"top_k", "3x70x5 BF16 k=7"},
    {"dropout_norm", "5x70 BF16+F32 residual rowscale p=0.1"},
    {"dropout_norm_backward", "5x70 BF16 rms colscale p=0.1"},
    {"dropout_norm", "5x70 BF16 src2 norm2 p=0.1"},
    {"dropout_norm_backward", "5x70 F16 src2 norm2 p=0.1"},
    {"flash_attention", "2x4x33x24 keys=70 kv_heads=2 causal"},
    {"flash_attention_backward", "2x4x33x24 keys=70 kv_heads=2 bias dropout=0.1"},
    {"fastmax", "1x4x90x8 causal kv_heads=2 rpe noise=0.1"},
    {"fastmax_backward", "2x2x70x12 p=1 keys=90 interleaved"},
    {"fastmax_scan", "2x3x9x4x12 kv_heads=2"},
    {"map", "3x70 sigmoid BF16"},
    {"reduce", "3x70x5 mean"},
    {"cumsum", "3x70x5 exclusive"},
    {"group_norm", "2x6x35 groups=3 BF16"},
    {"pad", "1x2x5x7 by=3 reflect"},
    {"mask", "2x5x7 band upper=0"},
    {"nonzero", "30x70 put"},
    {"generate", "3x70 gaussian"},
    {"take", "2x30x5x7"},
    {"scatter", "2x30x5x7 add"},
    {"convolution", "2x18x20x1x7x9 bias"},
    {"pooling", "6x1x7x9 average stride=2"},
    {"pooling_backward", "6x1x7x9 stride=2"},
    {"resize_backward", "3x5x7x9x4 cubic"},
    {"resize", "6x7x9x12x5 cubic"},
    {"roi_align", "2x3x9x13 boxes=5"},
    {"roi_align_backward", "2x3x9x13 boxes=5 largest"},
    {"suppression", "2x3x70 most=9"},
    {"fold", "6x1x7x9 stride=2"},
    {"hann", "1x70"},
    {"irfft", "3x36x70"},
    {"irfft_backward", "3x36x70"},
    {"recurrence", "3x70x5 reverse"},
};

TEST(Lab, each_op_has_problems_that_rows_solve) {
  ThreadTeam team(2);
  HostPlace place(team);
  for (const RowList& list : rows_on(DeviceKind::cpu).lists()) {
    const auto is_of_op = [&](const auto& each) { return each.op == list.op(); };
    const auto family = std::find_if(problem_families().begin(), problem_families().end(), is_of_op);
    ASSERT_NE(family, problem_families().end()) << list.op();
    EXPECT_EQ(std::count_if(problem_families().begin(), problem_families().end(), is_of_op), 1) << list.op();
    EXPECT_FALSE(family->rows(DeviceKind::cpu).empty()) << list.op();
    ASSERT_FALSE(family->known().empty()) << list.op();
    std::string reason;
    EXPECT_NE(make_experiment(list.op(), family->known().front(), reason), nullptr) << reason;
    const auto small = std::find_if(std::begin(kSmall), std::end(kSmall),
                                    [&](const auto& each) { return each.first == list.op(); });
    ASSERT_NE(small, std::end(kSmall)) << list.op();
    EXPECT_GT(right_rows(small->first, std::string(small->second), place), 1) << list.op();
  }
}

// Where an op defines what comes of them, inputs may hold infinities and NaNs.
TEST(Lab, rows_solve_problems_of_any_distribution) {
  ThreadTeam team(2);
  HostPlace place(team);
  for (const std::string inputs : {"normal", "uniform", "heavy"}) {
    EXPECT_GT(right_rows("linear", "3x256x40 q4_0 inputs=" + inputs, place), 1);
    EXPECT_GT(right_rows("attention", "2x3x40 heads=4 kv_heads=2 inputs=" + inputs, place), 1);
    EXPECT_GT(right_rows("attention", "2x3x40 heads=4 kv_heads=2 fastmax inputs=" + inputs, place), 1);
    EXPECT_GT(right_rows("norm", "5x300 layer residual inputs=" + inputs, place), 1);
  }
  EXPECT_GT(right_rows("softmax", "5x300x1 inputs=masked", place), 1);
  EXPECT_GT(right_rows("sample", "3x500 inputs=broken top=5", place), 1);
  EXPECT_GT(right_rows("top_k", "3x500x1 k=20 inputs=broken", place), 1);
}

TEST(Lab, calls_in_turn_read_operands_from_memory_where_that_is_asked_for) {
  ThreadTeam team(1);
  HostPlace place(team);
  CaseExperiment<LinearCase> experiment("made", LinearCase(1, 1024, {{64, DType::q8_0}}));
  const size_t row = chosen(experiment, place);
  Timing timing = kBriefly;
  timing.caches = Caches::memory;
  EXPECT_TRUE(experiment.measure(row, place, timing).times->memory);
  const size_t cold = place.bytes_put();
  timing.caches = Caches::cache;
  EXPECT_FALSE(experiment.measure(row, place, timing).times->memory);
  EXPECT_GT(cold, 10 * (place.bytes_put() - cold));
}

TEST(Lab, a_report_is_read_back) {
  bench::Report report{.date = "2026-11-23",
                       .command = "kernels_bench 'a b' --threads 1",
                       .machine = machine_facts(1, nullptr),
                       .records = {}};
  EXPECT_FALSE(report.machine.features.empty());
  report.records.push_back(measured(row_of(run_right), LinearCase(3, 64, {{5, DType::f32}})));
  report.records.back().share_of_limit = 0.25;
  report.records.push_back(measured(row_of(run_unwritten), LinearCase(3, 64, {{5, DType::f32}})));
  report.records.back().agreement->max_error = INFINITY;
  report.records.push_back(measured(row_of(run_right, takes_none), LinearCase(3, 64, {{5, DType::f32}})));
  const std::string json = bench::to_json(report);
  const bench::Report back = bench::report_of(json);
  EXPECT_EQ(bench::to_json(back), json);
  EXPECT_EQ(back.machine.cpu, report.machine.cpu);
  ASSERT_EQ(back.records.size(), 3U);
  EXPECT_EQ(back.records[0].times->median, report.records[0].times->median);
  EXPECT_EQ(back.records[0].share_of_limit, 0.25);
  EXPECT_FALSE(back.records[1].times);
  EXPECT_TRUE(std::isinf(back.records[1].agreement->max_error));
  EXPECT_EQ(back.records[2].refusal, "not today");
  EXPECT_THROW(bench::report_of("{}"), std::runtime_error);
  EXPECT_THROW(bench::report_of("no json"), std::runtime_error);
}

class LabOnADevice : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    const DeviceModule* module = cuda_module(reason);
    if (module == nullptr || module->count(reason) == 0) GTEST_SKIP() << "no device: " << reason;
    device_ = module->open(0);
  }
  std::unique_ptr<Device> device_;
};

/// All memory comes back, but for the code of kernels, which stays once it was loaded.
TEST_F(LabOnADevice, rows_are_verified_and_timed_in_a_graph) {
  ThreadTeam team(1);
  uint64_t loaded = 0;
  for (const bool first : {true, false}) {
    {
      DevicePlace place(*device_, team);
      for (const auto& [op, problem] : kSmall)
        EXPECT_GT(right_rows(op, std::string(problem), place), 0) << op;
      std::string reason;
      const auto experiment = make_experiment("linear", "1x1024x64 q8_0", reason);
      const Record record = experiment->measure(chosen(*experiment, place), place, kBriefly);
      ASSERT_TRUE(record.times);
      EXPECT_GT(record.times->launched, 0);
      EXPECT_TRUE(record.times->memory) << "a model's weights do not stay in a cache from token to token";
      EXPECT_EQ(machine_facts(1, device_.get()).device, device_->facts().name);
      EXPECT_GT(limits_of(*device_).least_microseconds(record.work, record.arithmetic, true), 0);
    }
    if (first)
      loaded = device_->vitals().memory_used;
    else
      EXPECT_EQ(device_->vitals().memory_used, loaded);
  }
}

}  // namespace
}  // namespace orrery::kernels::lab
