// Time of every row of Attention on shapes of real models: GFLOP/s of prefill and encoders (4 flops per
// visible query-key pair and dimension), GB/s of keys and values read by decode steps.
//   attention_bench --benchmark_filter='smollm2'      ORRERY_THREADS=1: one thread, rates by its CPU time,
//   which holds on a busy machine too
// A row is checked against the reference before it is timed. Decode walks over copies of its pages until they
// exceed the caches, as a model with many layers does.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/attention.h"

namespace orrery::kernels {
namespace {

struct Case {
  const char* name;
  Attention::Keys keys;
  int64_t heads, kv_heads, head_dim;
  int64_t sequences, tokens, length;  // each sequence brings `tokens` and has `length` after them
};

constexpr Case kCases[] = {
    {"smollm2/prefill_512", Attention::Keys::paged, 9, 3, 64, 1, 512, 512},
    {"smollm2/prefill_128_at_2048", Attention::Keys::paged, 9, 3, 64, 1, 128, 2048},
    {"smollm2/decode_at_512", Attention::Keys::paged, 9, 3, 64, 1, 1, 512},
    {"smollm2/decode_at_8192", Attention::Keys::paged, 9, 3, 64, 1, 1, 8192},
    {"1b/prefill_512", Attention::Keys::paged, 32, 8, 64, 1, 512, 512},
    {"8b/prefill_512", Attention::Keys::paged, 32, 8, 128, 1, 512, 512},
    {"8b/decode_at_4096", Attention::Keys::paged, 32, 8, 128, 1, 1, 4096},
    {"mha/decode_at_2048", Attention::Keys::paged, 32, 32, 64, 1, 1, 2048},
    {"batch/16_decodes_at_1024", Attention::Keys::paged, 9, 3, 64, 16, 1, 1024},
    {"minilm/8_of_128", Attention::Keys::packed, 12, 12, 32, 8, 128, 128},
    {"minilm/32_of_16", Attention::Keys::packed, 12, 12, 32, 32, 16, 16},
    {"bert/1_of_512", Attention::Keys::packed, 12, 12, 64, 1, 512, 512},
};

constexpr size_t kBeyondCaches = size_t{96} << 20;

int thread_count() {
  const char* wish = std::getenv("ORRERY_THREADS");
  const int threads = wish == nullptr ? available_cores() : std::atoi(wish);
  return threads < 1 ? 1 : threads;
}

std::vector<float> random_floats(int64_t count) {
  std::mt19937 engine(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

/// Buffers of one case; pages hold f16 and lie in order, one copy after the other.
class Bench {
 public:
  Bench(const Case& c, DType kv)
      : case_(c),
        team_(thread_count()),
        query_(random_floats(c.sequences * c.tokens * c.heads * c.head_dim)),
        key_(random_floats(c.sequences * c.length * c.kv_heads * c.head_dim)),
        value_(key_.rbegin(), key_.rend()),
        dst_(query_.size()) {
    problem_ = {.keys = c.keys,
                .kv = paged() ? kv : DType::f32,
                .heads = c.heads,
                .kv_heads = c.kv_heads,
                .head_dim = c.head_dim,
                .tokens = c.sequences * c.tokens,
                .causal = paged()};
    for (int64_t s = 0; s <= c.sequences; ++s) starts_.push_back(static_cast<int32_t>(s * c.tokens));
    lengths_.assign(static_cast<size_t>(c.sequences), static_cast<int32_t>(c.length));
    if (paged()) fill_pages();
  }

  bool paged() const { return case_.keys == Attention::Keys::paged; }
  const Attention::Problem& problem() const { return problem_; }

  void run(const Row<Attention>& row) {
    const size_t wanted =
        row.workspace != nullptr ? row.workspace(problem_, this_machine(), team_.size()) : 0;
    if (workspace_.size() < wanted + 64) workspace_.resize(wanted + 64);
    auto address = reinterpret_cast<uintptr_t>(workspace_.data());
    row.run(args(), {.team = &team_, .workspace = workspace_.data() + (64 - address % 64) % 64});
    copy_ = (copy_ + 1) % copies_;
  }

  double worst_difference(const Row<Attention>& row) {
    copy_ = 0;
    run(attention_rows().back());
    const std::vector<float> expected = dst_;
    copy_ = 0;
    run(row);
    double worst = 0;
    for (size_t i = 0; i < dst_.size(); ++i) worst = std::max<double>(worst, std::abs(dst_[i] - expected[i]));
    return std::isfinite(worst) ? worst : INFINITY;
  }

  double flops() const {
    const auto last = static_cast<double>(case_.length);
    const double first = paged() ? last - static_cast<double>(case_.tokens) + 1 : last;
    const double pairs =
        static_cast<double>(case_.sequences * case_.tokens * case_.heads) * (first + last) / 2;
    return 4.0 * pairs * static_cast<double>(case_.head_dim);
  }
  double bytes() const {
    const auto elements =
        static_cast<double>(2 * case_.sequences * case_.length * case_.kv_heads * case_.head_dim);
    return elements * static_cast<double>(row_bytes(problem_.kv, 1).value_or(0));
  }

 private:
  static constexpr int64_t kPageTokens = 16;

  void fill_pages() {
    max_pages_ = case_.length / kPageTokens + 1;
    const size_t page = kv_page_bytes(problem_.kv, kPageTokens, case_.kv_heads, case_.head_dim);
    copy_bytes_ = page * static_cast<size_t>(case_.sequences * max_pages_);
    copies_ = case_.tokens == 1 ? kBeyondCaches / copy_bytes_ + 1 : 1;
    memory_.resize(copies_ * copy_bytes_);
    for (int64_t i = 0; i < case_.sequences * max_pages_; ++i) table_.push_back(static_cast<int32_t>(i));
    std::vector<int32_t> starts;
    for (int64_t s = 0; s <= case_.sequences; ++s) starts.push_back(static_cast<int32_t>(s * case_.length));
    const int64_t width = case_.kv_heads * case_.head_dim;
    Ragged whole = args().ragged;
    whole.sequence_starts = starts.data();
    kv_append_rows().back().run({.key = key_.data(),
                                 .value = value_.data(),
                                 .key_stride = width,
                                 .value_stride = width,
                                 .ragged = whole,
                                 .kv = args().kv},
                                {});
    for (size_t i = 1; i < copies_; ++i)
      std::memcpy(memory_.data() + i * copy_bytes_, memory_.data(), copy_bytes_);
  }

  Attention::Args args() {
    const int64_t width = case_.kv_heads * case_.head_dim;
    return {.problem = problem_,
            .query = query_.data(),
            .query_stride = case_.heads * case_.head_dim,
            .key = key_.data(),
            .value = value_.data(),
            .key_stride = width,
            .value_stride = width,
            .dst = dst_.data(),
            .dst_stride = case_.heads * case_.head_dim,
            .scale = 1.0F / std::sqrt(static_cast<float>(case_.head_dim)),
            .ragged = {.sequence_starts = starts_.data(),
                       .kv_lengths = lengths_.data(),
                       .page_table = paged() ? table_.data() : nullptr,
                       .sequences = case_.sequences,
                       .max_pages = max_pages_},
            .kv = {.base = memory_.data() + copy_ * copy_bytes_,
                   .page_stride = kv_page_bytes(problem_.kv, kPageTokens, case_.kv_heads, case_.head_dim),
                   .dtype = problem_.kv,
                   .page_tokens = kPageTokens,
                   .kv_heads = case_.kv_heads,
                   .head_dim = case_.head_dim}};
  }

  Case case_;
  ThreadTeam team_;
  Attention::Problem problem_;
  std::vector<float> query_, key_, value_, dst_;
  std::vector<int32_t> starts_, lengths_, table_;
  std::vector<std::byte> memory_, workspace_;
  int64_t max_pages_ = 0;
  size_t copy_bytes_ = 0, copies_ = 1, copy_ = 0;
};

void time_row(benchmark::State& state, const Row<Attention>& row, const Case& c) {
  Bench bench(c, DType::f16);
  if (const double difference = bench.worst_difference(row); !(difference < 1e-4)) {
    return state.SkipWithError(("wrong by " + std::to_string(difference)).c_str());
  }
  for (auto _ : state) bench.run(row);
  const auto rate = [](double each) {
    return benchmark::Counter(each * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["GFLOP/s"] = rate(bench.flops());
  state.counters["GB/s"] = rate(bench.bytes());
}

void register_all() {
  for (const Case& c : kCases) {
    for (const Row<Attention>& row : attention_rows().first(attention_rows().size() - 1)) {
      const Attention::Problem problem{.heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim};
      if (!row.supports(problem, this_machine()).empty()) continue;
      const std::string name = std::string(c.name) + "/" + std::string(row.name);
      auto* registered = benchmark::RegisterBenchmark(name.c_str(), time_row, row, c);
      registered->Unit(benchmark::kMicrosecond);
      if (thread_count() > 1) registered->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace orrery::kernels

int main(int argc, char** argv) {
  orrery::kernels::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
