// Time of every row of Linear on shapes of real models: GB/s of weights for few tokens, GOP/s for many.
//   kernels_bench --benchmark_filter='Q4_1.*576x1536'      ORRERY_THREADS=1: one thread, rates by its CPU
// time, which holds on a busy machine too.
// A row is checked against the reference before it is timed; weights are copied until they exceed the caches,
// and each call takes the next copy, so that few tokens read memory as a model does.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/bench/random_weights.h"

namespace orrery::kernels {
namespace {

using namespace bench;

struct Shape {
  int64_t rows, cols;
};

constexpr size_t kBeyondCaches = size_t{192} << 20;

int thread_count() {
  const char* wish = std::getenv("ORRERY_THREADS");
  const int threads = wish == nullptr ? available_cores() : std::atoi(wish);
  return threads < 1 ? 1 : threads;
}

/// One problem with copies of its weights, as the row wants them.
class Bench {
 public:
  Bench(const Row<Linear>& row, DType dtype, Shape shape, int64_t tokens, Linear::Accuracy accuracy)
      : row_(row),
        team_(thread_count()),
        src_(random_floats(tokens * shape.cols)),
        dst_(static_cast<size_t>(tokens * shape.rows)),
        stored_(random_weights(dtype, shape.rows, shape.cols)) {
    problem_.tokens = problem_.min_tokens = tokens;
    problem_.cols = shape.cols;
    problem_.segments[0] = {shape.rows, dtype, false};
    problem_.accuracy = accuracy;
    const WeightPacking* packing = row.packing == nullptr ? nullptr : row.packing(problem_);
    std::vector<std::byte> one = stored_;
    if (packing != nullptr) {
      one.resize(packing->bytes(dtype, shape.rows, shape.cols) + 64);
      packing->pack(stored_.data(), dtype, shape.rows, shape.cols, aligned(one), team_);
    }
    weight_bytes_ = stored_.size();
    const size_t copies = tokens > 8 ? 1 : kBeyondCaches / one.size() + 1;
    weights_.resize(copies);
    for (std::vector<std::byte>& copy : weights_) {
      copy.resize(one.size() + 64);
      std::memcpy(aligned(copy), packing == nullptr ? one.data() : aligned(one),
                  one.size() - (packing == nullptr ? 0 : 64));
    }
    workspace_.resize((row.workspace == nullptr ? 0 : row.workspace(problem_, this_machine(), team_.size())) +
                      64);
  }

  void call() {
    std::vector<std::byte>& weight = weights_[next_++ % weights_.size()];
    run(row_, aligned(weight), workspace_);
  }

  /// Largest difference from the reference on up to four tokens, relative to the largest value.
  double error() {
    const int64_t all = problem_.tokens;
    call();
    const std::vector<float> actual = dst_;
    const Row<Linear>& reference = linear_rows().back();
    std::vector<std::byte> scratch(reference.workspace(problem_, this_machine(), team_.size()) + 64);
    problem_.tokens = std::min<int64_t>(all, 4);
    run(reference, stored_.data(), scratch);
    double worst = 0.0;
    double scale = 1e-30;
    for (size_t i = 0; i < dst_.size() / static_cast<size_t>(all) * static_cast<size_t>(problem_.tokens);
         ++i) {
      worst = std::max(worst, std::fabs(static_cast<double>(actual[i]) - dst_[i]));
      scale = std::max(scale, std::fabs(static_cast<double>(dst_[i])));
    }
    problem_.tokens = all;
    return worst / scale;
  }

  const Linear::Problem& problem() const { return problem_; }
  size_t weight_bytes() const { return weight_bytes_; }

 private:
  static std::byte* aligned(std::vector<std::byte>& bytes) {
    return bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
  }

  void run(const Row<Linear>& row, const void* weight, std::vector<std::byte>& workspace) {
    Linear::Args args;
    args.problem = problem_;
    args.tokens = problem_.tokens;
    args.src = src_.data();
    args.src_stride = problem_.cols;
    args.operands[0] = {weight, nullptr, dst_.data(), problem_.segments[0].rows};
    row.run(args, {.team = &team_, .workspace = aligned(workspace)});
  }

  const Row<Linear>& row_;
  ThreadTeam team_;
  Linear::Problem problem_;
  std::vector<float> src_, dst_;
  std::vector<std::byte> stored_, workspace_;
  std::vector<std::vector<std::byte>> weights_;
  size_t weight_bytes_ = 0;
  size_t next_ = 0;
};

void measure(benchmark::State& state, const Row<Linear>& row, DType dtype, Shape shape, int64_t tokens,
             Linear::Accuracy accuracy) {
  Bench bench(row, dtype, shape, tokens, accuracy);
  if (const double error = bench.error(); !(error < 0.05)) {
    state.SkipWithError(("wrong result, relative error " + std::to_string(error)).c_str());
    return;
  }
  for (auto _ : state) bench.call();
  const auto calls = static_cast<double>(state.iterations());
  const auto products = static_cast<double>(2 * tokens * shape.rows * shape.cols);
  state.counters["GB/s"] = benchmark::Counter(calls * static_cast<double>(bench.weight_bytes()) / 1e9,
                                              benchmark::Counter::kIsRate);
  state.counters["GOP/s"] = benchmark::Counter(calls * products / 1e9, benchmark::Counter::kIsRate);
}

/// An empty task of a chunk for each of as many threads as the argument says: the time is what a dispatch and
/// its join cost.
void dispatch(benchmark::State& state) {
  ThreadTeam team(static_cast<int>(state.range(0)));
  for (auto _ : state) team.run(team.size(), 1, [](ThreadTeam::Range, int) {});
}

void register_rows() {
  auto* dispatches = benchmark::RegisterBenchmark("team/dispatch", dispatch)->UseRealTime()->Arg(2);
  if (thread_count() > 2) dispatches->Arg(thread_count());
  const std::pair<DType, Shape> cases[] = {
      {DType::q4_1, {1536, 576}},    {DType::q4_1, {576, 1536}},    {DType::q4_0, {1536, 576}},
      {DType::q8_0, {4096, 576}},    {DType::q4_k, {8192, 2048}},   {DType::q6_k, {2048, 8192}},
      {DType::f32, {1536, 384}},     {DType::f32, {384, 1536}},     {DType::bf16, {2048, 2048}},
      {DType::f16, {2048, 2048}},    {DType::q5_k, {8192, 2048}},   {DType::q5_0, {8192, 2048}},
      {DType::q5_1, {8192, 2048}},   {DType::q3_k, {8192, 2048}},   {DType::q2_k, {8192, 2048}},
      {DType::iq4_nl, {8192, 2048}}, {DType::iq4_xs, {8192, 2048}}, {DType::mxfp4, {8192, 2048}}};
  for (const auto& [dtype, shape] : cases) {
    for (const int64_t tokens : {1, 2, 4, 8, 16, 64, 512}) {
      for (const Row<Linear>& row : linear_rows().first(linear_rows().size() - 1)) {
        for (const Linear::Accuracy accuracy : {Linear::Accuracy::fast, Linear::Accuracy::exact}) {
          Linear::Problem problem;
          problem.tokens = problem.min_tokens = tokens;
          problem.cols = shape.cols;
          problem.segments[0] = {shape.rows, dtype, false};
          problem.accuracy = accuracy;
          if (!row.supports(problem, this_machine()).empty()) continue;
          const std::string name = std::string(name_of(dtype)) + "/" + std::to_string(shape.rows) + "x" +
                                   std::to_string(shape.cols) + "/" + std::to_string(tokens) + "/" +
                                   std::string(row.name) +
                                   (accuracy == Linear::Accuracy::exact ? "/exact" : "/fast");
          auto* entry = benchmark::RegisterBenchmark(
              name.c_str(), [&row, dtype = dtype, shape = shape, tokens, accuracy](auto& state) {
                measure(state, row, dtype, shape, tokens, accuracy);
              });
          if (thread_count() > 1) entry->UseRealTime();
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  orrery::kernels::register_rows();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
