// What the CPU's rows of Fastmax read and write, head by head, a chunk of tokens at a time, and one thread's
// arithmetic on chunks. In both calls consumers gather what producers bring them: queries from keys, and in
// the backward call keys from queries. Everything is written once for both:
//   x, y     a consumer and a producer: q_i or k_j of fastmax.h
//   u, w     what a producer brings along and what a consumer multiplies it with: (value_j, 1) of a key,
//            (g_i, -g_i . o_i) of a query
//   values   sum over y of f(x . y) u               (queries: numerator and denominator; keys: grad_value)
//   slopes   sum over y of f'(x . y) (u . w) y      (the gradient of x)
// Keys take queries from the last to the first, so that causal always means that a consumer sees producers up
// to its own place plus `ahead`.
#pragma once

#include "kernels/cpu/isa/fastmax.h"
#include "kernels/fastmax.h"

namespace orrery::kernels {

constexpr int64_t kFeatureBlock = 60;  // features made at a time: whole tiles of 6, 5 and 4 rows

constexpr int64_t padded(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

/// Sizes that follow from the head alone.
struct FastmaxSizes {
  int64_t dim, wide, full;  // wide: dim, full: dim + 1, rounded up to vectors
  int64_t features;

  explicit FastmaxSizes(const Fastmax::Problem& problem)
      : dim(problem.head_dim),
        wide(padded(dim, kFastmaxPad)),
        full(padded(dim + 1, kFastmaxPad)),
        features(1 + dim + (problem.p == 2 ? dim * (dim + 1) / 2 : 0)) {}
  int64_t state() const { return padded(features * full, 16); }
};

/// What the rows of a tensor's batch and head are multiplied by, and the row that decides it.
struct FastmaxScale {
  double factor = 1, squares = 0;
  int64_t longest = -1;
};

/// One call: its operands and what was found out of them.
struct FastmaxCall {
  const Fastmax::Args& args;
  const FastmaxTable& table;
  FastmaxSizes sizes;
  FastmaxCurve curve;
  const FastmaxScale* of_query = nullptr;  // (batch, heads)
  const FastmaxScale* of_key = nullptr;    // (batch, kv_heads)
  float* g = nullptr;                      // backward: (batch, heads, queries, full), u of queries

  FastmaxCall(const Fastmax::Args& from, const FastmaxTable& functions)
      : args(from),
        table(functions),
        sizes(from.problem),
        curve{from.a0, from.a1, from.problem.p == 2 ? from.a2 : 0.0F} {}
  bool masks() const { return args.problem.dropping == Fastmax::Dropping::features; }
  int64_t group() const { return args.problem.heads / args.problem.kv_heads; }
};

/// The tokens of one head as a pass takes them.
struct FastmaxTokens {
  const FastmaxCall* call;
  bool keys;       // or queries
  bool backwards;  // from the last to the first
  int64_t batch, head, count;

  int64_t token(int64_t place) const { return backwards ? count - 1 - place : place; }
  /// x or y of a chunk of places from `first` on, those in [low, high), else zeros: (kFastmaxChunk, wide).
  void load(int64_t first, int64_t low, int64_t high, float* rows) const;
  /// u of them: (kFastmaxChunk, full).
  void load_brought(int64_t first, int64_t low, int64_t high, float* rows) const;
  const FastmaxScale& scale() const;
};

/// Buffers of one thread, and what it does to chunks. Nothing of the size of features x tokens is kept: a
/// block of kFeatureBlock features of a chunk is made, used and forgotten.
class FastmaxWorker {
 public:
  static int64_t floats(const FastmaxSizes& sizes);
  FastmaxWorker(const FastmaxCall& call, float* memory);

  /// A chunk of consumers; values and slopes become zeros.
  void take_consumers(const FastmaxTokens& tokens, int64_t first);
  /// And what they multiply u with.
  void take_factors(const FastmaxTokens& tokens);
  void take_producers(const FastmaxTokens& tokens, int64_t first, int64_t low, int64_t high);

  /// values or slopes += those of the chunk of producers, score by score; a consumer at place x sees
  /// producers up to x + ahead.
  void add_values(int64_t ahead);
  void add_slopes(int64_t ahead);
  /// state (features, full) += the chunk of producers.
  void add_to_state(float* state);
  void add_values(const float* state);
  void add_slopes(const float* state);

  float* values() { return values_; }  // (kFastmaxChunk, full)
  /// (kFastmaxChunk, wide)
  const float* slopes();

 private:
  /// Places of a chunk, and which of its features stay.
  struct Chunk {
    int64_t first = 0;
    FastmaxMask mask;
  };
  void take(const FastmaxTokens& tokens, int64_t first, Chunk& chunk) const;
  template <class Visit>
  void each_feature(int64_t first, int64_t count, const Visit& visit) const;
  /// Features [first, first + count) of the chunk whose tokens are the columns of `across`.
  void make_features(const Chunk& chunk, const float* across, int64_t first, int64_t count, bool weighed,
                     float* to) const;
  /// Of features [first, first + count), the rows of `to`, those that are dropped become 0.
  void drop(const Chunk& chunk, int64_t first, int64_t count, float* to) const;
  void make_scores();
  /// slopes += what features_, the gradients of features [first, first + count), bring x.
  void add_derivatives(int64_t first, int64_t count);
  /// Zeros where a consumer does not see a producer.
  void hide(int64_t ahead, float* scores) const;
  void multiply(const FastmaxProduct& product) const { call_.table.multiply(product); }

  const FastmaxCall& call_;
  FastmaxSizes sizes_;
  Chunk consumers_, producers_;
  float *rows_, *x_, *y_, *u_, *w_, *values_, *slopes_, *scores_, *products_, *features_, *others_, *ones_;
};

}  // namespace orrery::kernels
