// Rows of Sample, fastest first. Output rows are split over the team. One output:
//   one pass for the largest logit of each block of 128, one for the sum of the softmax; then only as many
//   tokens are ranked as the request can use. The k-th largest block maximum bounds the k-th largest logit
//   from below, so the tokens over it hold the best k. Without top-k the ranked prefix grows until it holds
//   the mass that is needed.
//   accumulation: float64      penalties and bias work on a copy of the row; 16-bit logits are widened first
//   traffic: 8 bytes a logit, 4 more for each ranking, 8 more for penalties, 12 for a bias, 6 for 16 bits
#include "kernels/sample.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/split.h"
#include "kernels/philox.h"
#include "kernels/sampler_chain.h"

namespace orrery::kernels {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kLargestFloat = std::numeric_limits<float>::max();

int64_t block_count(int64_t vocabulary) {
  return (vocabulary + ReduceTable::kBlock - 1) / ReduceTable::kBlock;
}

/// What one thread works in; a slice of the launch's workspace.
struct Scratch {
  RankKey* keys;   // (vocabulary)
  RankKey* spare;  // (vocabulary) of the sort
  float* logits;   // (vocabulary) after penalties and bias
  float* maxima;   // (blocks)
  float* ordered;  // (blocks)
  float* widened;  // (vocabulary) of 16-bit logits

  static size_t bytes(int64_t vocabulary, DType dtype) {
    const int rows = dtype == DType::f32 ? 1 : 2;
    const auto floats = static_cast<size_t>(rows * vocabulary + 2 * block_count(vocabulary));
    return (2 * static_cast<size_t>(vocabulary) * sizeof(RankKey) + floats * sizeof(float) + 63) / 64 * 64;
  }
  Scratch(std::byte* memory, int64_t vocabulary)
      : keys(reinterpret_cast<RankKey*>(memory)),
        spare(keys + vocabulary),
        logits(reinterpret_cast<float*>(spare + vocabulary)),
        maxima(logits + vocabulary),
        ordered(maxima + block_count(vocabulary)),
        widened(ordered + block_count(vocabulary)) {}
};

/// Stable, by the logit's half of the keys, in four passes of a byte; equal logits keep their order, which is
/// by id.
void radix_sort(RankKey* keys, RankKey* spare, int64_t count) {
  for (int shift = 32; shift < 64; shift += 8) {
    std::array<int64_t, 257> starts{};
    for (int64_t i = 0; i < count; ++i) ++starts[(keys[i] >> shift & 0xFF) + 1];
    for (size_t digit = 1; digit < 256; ++digit) starts[digit] += starts[digit - 1];
    for (int64_t i = 0; i < count; ++i) spare[starts[keys[i] >> shift & 0xFF]++] = keys[i];
    std::swap(keys, spare);  // an even number of passes ends where it began
  }
}

constexpr int64_t kRadixFrom = 1024;  // ranks from which sorting everything found is faster than a heap

struct Token {
  int32_t id;
  float logit;
};

/// The tokens of one row in order of preference, ranked as far as they are asked for.
template <const ReduceTable& kTable>
class Ranking {
 public:
  Ranking(const float* logits, int64_t vocabulary, const Scratch& scratch)
      : logits_(logits), vocabulary_(vocabulary), scratch_(scratch) {
    largest_ = kTable.block_maxima(logits, vocabulary, scratch.maxima);
  }

  /// -infinity when no logit is finite.
  float largest() const { return largest_; }
  int32_t best() const { return kTable.find(logits_, vocabulary_, largest_); }

  /// The token of a rank; false when fewer tokens have finite logits.
  bool at(int64_t rank, Token& token) {
    while (rank >= ranked_ && !complete_) extend(std::max(rank + 1, ranked_ * 8));
    if (rank >= ranked_) return false;
    const RankKey key = scratch_.keys[rank];
    const auto ascending = ~static_cast<uint32_t>(key >> 32);
    const uint32_t word = (ascending & 0x80000000U) != 0 ? ascending & 0x7FFFFFFFU : ~ascending;
    token = {static_cast<int32_t>(key), std::bit_cast<float>(word)};
    return true;
  }

  /// Ranks at least `count` tokens at once, where there are so many.
  void extend(int64_t count) {
    if (complete_ || count <= ranked_) return;
    const float threshold = threshold_for(count);
    const int64_t found = kTable.collect(logits_, vocabulary_, threshold, scratch_.keys);
    if (count >= kRadixFrom) {
      radix_sort(scratch_.keys, scratch_.spare, found);
      ranked_ = found;
    } else {
      ranked_ = std::min(count, found);
      std::partial_sort(scratch_.keys, scratch_.keys + ranked_, scratch_.keys + found);
    }
    complete_ = threshold == -kLargestFloat && ranked_ == found;
  }

 private:
  /// A bound that at least `count` logits reach, or the lowest float, which every finite logit reaches.
  float threshold_for(int64_t count) const {
    const int64_t blocks = block_count(vocabulary_);
    if (count > blocks / 2) return -kLargestFloat;
    std::copy_n(scratch_.maxima, blocks, scratch_.ordered);
    std::nth_element(scratch_.ordered, scratch_.ordered + count - 1, scratch_.ordered + blocks,
                     std::greater<>());
    return std::max(scratch_.ordered[count - 1], -kLargestFloat);
  }

  const float* logits_;
  int64_t vocabulary_;
  const Scratch& scratch_;
  float largest_ = kMinusInfinity;
  int64_t ranked_ = 0;
  bool complete_ = false;
};

/// Weights relative to the best token: e^((logit - largest) / temperature).
struct Softmax {
  double largest, temperature;
  double weight(float logit) const { return std::exp((logit - largest) / temperature); }
};

/// Walks down the ranking while `keep(weight, mass before it)` holds; at most `limit` tokens. Returns the
/// mass passed.
template <class Ranked, class Keep>
double walk(Ranked& ranking, const Softmax& softmax, int64_t limit, Token& last, Keep&& keep) {
  double mass = 0;
  Token token;
  for (int64_t rank = 0; rank < limit && ranking.at(rank, token); ++rank) {
    const double weight = softmax.weight(token.logit);
    if (rank > 0 && (weight == 0 || !keep(weight, mass))) break;
    mass += weight;
    last = token;
  }
  return mass;
}

template <const ReduceTable& kTable>
int32_t draw(const Sample::Request& request, const float* logits, int64_t vocabulary,
             Ranking<kTable>& ranking) {
  const SamplingParams& params = request.params;
  if (ranking.largest() == kMinusInfinity) return -1;
  if (!(params.temperature > 0) || ranking.largest() == kLargestFloat) return ranking.best();
  const Softmax softmax{ranking.largest(), params.temperature};
  const int64_t limit = params.top_k > 0 ? std::min<int64_t>(params.top_k, vocabulary) : vocabulary;
  const double uniform = philox_uniform(params.seed, request.position);
  const bool nucleus = params.top_p < 1.0F;
  Token last{-1, 0};
  const auto everything = [](double, double) { return true; };

  ranking.extend(params.top_k > 0 ? limit : 64);
  double mass = 0;
  if (params.top_k > 0) {
    mass = walk(ranking, softmax, limit, last, everything);
  } else {
    const float inverse = std::min(1.0F / params.temperature, kLargestFloat);
    mass = kTable.sum_exp(logits, vocabulary, ranking.largest(), inverse);
  }
  if (nucleus || params.min_p > 0) {
    const double enough = nucleus ? params.top_p * mass : std::numeric_limits<double>::infinity();
    mass = walk(ranking, softmax, limit, last,
                [&](double weight, double before) { return before < enough && weight >= params.min_p; });
  }
  const double wanted = uniform * mass;
  // The token whose step crosses `wanted`; a prefix that never does (rounding) ends at its last token.
  walk(ranking, softmax, limit, last, [&](double, double before) { return before <= wanted; });
  return last.id;
}

/// The row after penalties and bias, in scratch; the row itself where there are none.
const float* change(const Sample::Request& request, const float* logits, int64_t vocabulary,
                    const Scratch& scratch) {
  const bool penalised_too = penalises(request);
  if (!penalised_too && request.bias == nullptr) return logits;
  std::copy_n(logits, vocabulary, scratch.logits);
  if (penalised_too) {
    auto* seen = reinterpret_cast<int32_t*>(scratch.spare);  // of the recent ids alone
    const auto each = [&](auto body) {
      for (int32_t i = 0; i < request.recent_count; ++i)
        if (const int64_t id = request.recent[i]; id >= 0 && id < vocabulary) body(id);
    };
    each([&](int64_t id) { seen[id] = 0; });
    each([&](int64_t id) { ++seen[id]; });
    // From the untouched row, so an id may be listed twice.
    each([&](int64_t id) {
      scratch.logits[id] = penalised(request.params, clean_logit(logits[id]), seen[id]);
    });
  }
  for (int64_t id = 0; request.bias != nullptr && id < vocabulary; ++id)
    scratch.logits[id] = clean_logit(clean_logit(scratch.logits[id]) + request.bias[id]);
  return scratch.logits;
}

template <const ReduceTable& kTable>
void list_top(Ranking<kTable>& ranking, int32_t wanted, double log_sum, Sample::Choice& choice) {
  const int32_t count = std::clamp<int32_t>(wanted, 0, Sample::kMaxTop);
  if (count > 0) ranking.extend(count);
  Token token;
  for (int32_t i = 0; i < count && ranking.at(i, token); ++i) {
    choice.top_ids[i] = token.id;
    choice.top_logprobs[i] = static_cast<float>(token.logit - log_sum);
    choice.top_count = i + 1;
  }
}

template <const ReduceTable& kTable>
Sample::Choice choose(const Sample::Request& request, const float* logits, int64_t vocabulary,
                      const Scratch& scratch) {
  Sample::Choice choice;
  choice.logprob = kMinusInfinity;
  Ranking<kTable> untouched(logits, vocabulary, scratch);
  const float largest = untouched.largest();
  const bool only_infinities =
      largest == kLargestFloat &&
      !std::any_of(logits, logits + vocabulary, [](float x) { return std::isfinite(x); });
  if (largest == kMinusInfinity || only_infinities || request.target >= vocabulary) return choice;

  const double log_sum = largest + std::log(kTable.sum_exp(logits, vocabulary, largest, 1.0F));
  list_top(untouched, request.top, log_sum, choice);
  if (request.target >= 0) {
    choice.id = request.target;
  } else if (request.chain != nullptr) {
    choice.id = draw_by_chain(request.params, *request.chain, request.position,
                              {logits, static_cast<size_t>(vocabulary)});
  } else if (const float* changed = change(request, logits, vocabulary, scratch); changed == logits) {
    choice.id = draw(request, logits, vocabulary, untouched);
  } else {
    Ranking<kTable> ranking(changed, vocabulary, scratch);
    choice.id = draw(request, changed, vocabulary, ranking);
  }
  if (choice.id < 0) return choice;
  choice.logprob = static_cast<float>(clean_logit(logits[choice.id]) - log_sum);
  return choice;
}

/// An output's logits in float32.
const float* row_of(const Sample::Args& args, int64_t output, const Scratch& scratch) {
  const int64_t first = output * args.vocabulary;
  if (args.dtype == DType::f32) return static_cast<const float*>(args.logits) + first;
  load_run(args.dtype, at(args.dtype, args.logits, first), 1, args.vocabulary, scratch.widened);
  return scratch.widened;
}

template <const ReduceTable& kTable>
void run(const Sample::Args& args, const Launch& launch) {
  const size_t bytes = Scratch::bytes(args.vocabulary, args.dtype);
  split(launch, args.outputs, args.vocabulary, [&](int64_t begin, int64_t end, int thread) {
    const Scratch scratch(launch.workspace + static_cast<size_t>(thread) * bytes, args.vocabulary);
    for (int64_t i = begin; i < end; ++i)
      put_choice(args, i,
                 choose<kTable>(request_of(args, i), row_of(args, i, scratch), args.vocabulary, scratch));
  });
}

size_t workspace(const Sample::Problem& problem, const Machine&, int threads) {
  return Scratch::bytes(problem.vocabulary, problem.dtype) * static_cast<size_t>(threads);
}

}  // namespace

std::span<const Row<Sample>> sample_rows() {
  static const Row<Sample> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<Sample, ref::legal, kAvx512>,
       .run = run<avx512::kReduce>,
       .workspace = workspace},
      {.name = "cpu.avx2",
       .supports = legal_on<Sample, ref::legal, kAvx2>,
       .run = run<avx2::kReduce>,
       .workspace = workspace},
      {.name = "cpu.reference", .supports = on_any_machine<Sample, ref::legal>, .run = ref::sample},
  };
  return rows;
}

}  // namespace orrery::kernels
