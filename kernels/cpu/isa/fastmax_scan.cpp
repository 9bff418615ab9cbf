// FastmaxScan on float32 rows: formulas and layouts in kernels/fastmax_scan.h.
//   S_t += x_t(k) value;  dst = (sum_t w_t x_t(q) S_t) / (sum_t w_t x_t(q) z_t)
//   a vector holds columns of S, a quad of features is four rows of it: those eight vectors stay in registers
//     while a block of tokens passes by, each of which adds its value to them and reads them with its
//     queries. So S is read and written once a block, and in decode once a token: that is what bounds a
//     token's time.
//   one call is one thread's work on one kv head (and some columns of it) of one run of tokens
//   order: of each element of S that of the tokens, of dst that of the features; a block of tokens only
//   decides
//     when S goes to memory, so however a text is cut, numbers are the same
//   traffic: S twice for each block of kTokens; keys, queries and values from the cache
#include "kernels/cpu/isa/fastmax_scan.h"

#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int kQuad = 4;
constexpr int kVectors = 2;  // of columns at once

/// 1 / length of a row, the length between the two bounds.
float by_length(const FastmaxCountRun& run, const float* row) {
  Vec squares = set1(0.0F);
  each_vector(run.head_dim, [&](auto read, auto) {
    const Vec x = read(row);
    squares = fma(x, x, squares);
  });
  float lanes[kLanes];
  store(lanes, sqrt(set1(sum(squares))));
  const float length = lanes[0];
  return 1.0F / (length < run.shortest ? run.shortest : length > run.longest ? run.longest : length);
}

void scale_row(const FastmaxCountRun& run, const float* row, float factor, float* dst) {
  for (int64_t n = 0; n < run.padded; ++n) dst[n] = n < run.head_dim ? factor * row[n] : 0.0F;
}

/// body(t, m, n, count) for runs of features from t on that are x_m (m < 0: 1) times x_n, x_n+1 ..
template <class Body>
ORRERY_INLINE void each_feature_row(int p, int64_t padded, Body&& body) {
  int64_t t = kQuad;
  body(t, int64_t{-1}, int64_t{0}, padded);
  t += padded;
  for (int64_t m = 0; m < padded && p == 2; ++m) {
    const int64_t n = m / kQuad * kQuad;
    body(t, m, n, padded - n);
    t += padded - n;
  }
}

void add_counts(const FastmaxCountRun& run, const float* key, float* counts) {
  counts[0] += 1.0F;
  each_feature_row(run.p, run.padded, [&](int64_t t, int64_t m, int64_t n, int64_t length) {
    const Vec first = set1(m < 0 ? 1.0F : key[m]);
    each_vector(length,
                [&](auto read, auto write) { write(counts + t, read(counts + t) + first * read(key + n)); });
  });
}

/// What weights of features are where a run of them begins: the pairs of one block stand there twice.
ORRERY_INLINE Vec weights_at(int64_t m) {
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = m >= 0 && i < kQuad ? 0.5F : 1.0F;
  return load(lanes);
}

float divisor(const FastmaxCountRun& run, const float* query, const float* counts) {
  Vec total = set1(0.0F);
  const Vec halves = weights_at(0), ones = set1(1.0F);
  each_feature_row(run.p, run.padded, [&](int64_t t, int64_t m, int64_t n, int64_t length) {
    const Vec first = set1(m < 0 ? 1.0F : query[m]);
    Vec weights = m < 0 ? ones : halves;
    each_vector(length, [&](auto read, auto) {
      total = fma(first * read(query + n) * weights, read(counts + t), total);
      weights = ones;
    });
  });
  return counts[0] + sum(total);
}

void count(const FastmaxCountRun& run) {
  for (int64_t t = 0; t < run.features; ++t) {
    const float held = run.before != nullptr ? run.before[t] : 0.0F;
    run.after[t] = held;
  }
  for (int64_t i = 0; i < run.tokens; ++i) {
    const float* key = run.key + i * run.key_stride;
    float* keys = run.keys + i * run.keys_stride;
    scale_row(run, key, run.normalise ? by_length(run, key) : 1.0F, keys);
    add_counts(run, keys, run.after);
    for (int64_t g = 0; g < run.group; ++g) {
      const float* query = run.query + i * run.query_stride + g * run.head_dim;
      float* queries = run.queries + i * run.queries_stride + g * run.padded;
      scale_row(run, query, run.normalise ? run.query_factor * by_length(run, query) : run.query_factor,
                queries);
      const float sum = divisor(run, queries, run.after);
      run.inverse[i * run.inverse_stride + g] = sum <= 0.0F ? 0.0F : 1.0F / sum;
    }
  }
}

/// Four features: x_m (x_n .. x_n+3), m = -1: x_n .. x_n+3, m = -2: 1, 0, 0, 0.
struct Quad {
  int64_t t, m, n;
  float weight;

  ORRERY_INLINE __m128 of(const float* row) const {
    if (m == -2) return _mm_set_ss(1.0F);
    const __m128 four = _mm_loadu_ps(row + n);
    return m < 0 ? four : _mm_mul_ps(_mm_set1_ps(row[m]), four);
  }
};

/// kCount vectors of columns, the last of which has `rest` columns where kPart.
template <int kCount, bool kPart>
struct Columns {
  int64_t rest;

  ORRERY_INLINE Vec read(const float* src, int v) const {
    return kPart && v == kCount - 1 ? load_part(src + v * kLanes, rest) : load(src + v * kLanes);
  }
  ORRERY_INLINE void write(float* dst, Vec x, int v) const {
    if (kPart && v == kCount - 1)
      store_part(dst + v * kLanes, x, rest);
    else
      store(dst + v * kLanes, x);
  }

  /// One quad through a block of tokens. `out`: (tokens, group, kCount vectors).
  ORRERY_INLINE void pass(const FastmaxColumnRun& run, const Quad& quad, const float* before, int64_t first,
                          int64_t tokens, float* out) const {
    Vec s[kQuad][kCount];
#pragma GCC unroll 4
    for (int r = 0; r < kQuad; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kCount; ++v)
        s[r][v] = before != nullptr ? read(before + (quad.t + r) * run.head_dim, v) : set1(0.0F);
    alignas(16) float x[kQuad];
    const __m128 weight = _mm_set1_ps(quad.weight);
    for (int64_t i = first; i < first + tokens; ++i) {
      _mm_store_ps(x, quad.of(run.keys + i * run.keys_stride));
      Vec value[kCount];
#pragma GCC unroll 2
      for (int v = 0; v < kCount; ++v) value[v] = read(run.value + i * run.value_stride, v);
#pragma GCC unroll 4
      for (int r = 0; r < kQuad; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < kCount; ++v) s[r][v] = fma(set1(x[r]), value[v], s[r][v]);
      for (int64_t g = 0; g < run.group; ++g, out += kCount * kLanes) {
        _mm_store_ps(x, _mm_mul_ps(weight, quad.of(run.queries + i * run.queries_stride + g * run.padded)));
        Vec total[kCount];
#pragma GCC unroll 2
        for (int v = 0; v < kCount; ++v) total[v] = load(out + v * kLanes);
#pragma GCC unroll 4
        for (int r = 0; r < kQuad; ++r)
#pragma GCC unroll 2
          for (int v = 0; v < kCount; ++v) total[v] = fma(set1(x[r]), s[r][v], total[v]);
#pragma GCC unroll 2
        for (int v = 0; v < kCount; ++v) store(out + v * kLanes, total[v]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kQuad; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kCount; ++v) write(run.after + (quad.t + r) * run.head_dim, s[r][v], v);
  }

  void block(const FastmaxColumnRun& run, const float* before, int64_t first, int64_t tokens) const {
    float* out = run.scratch;
    for (int64_t i = 0; i < tokens * run.group * kCount * kLanes; ++i) out[i] = 0.0F;
    pass(run, {0, -2, 0, 1.0F}, before, first, tokens, out);
    each_feature_row(run.p, run.padded, [&](int64_t t, int64_t m, int64_t n, int64_t length) {
      for (int64_t i = 0; i < length; i += kQuad)
        pass(run, {t + i, m, n + i, m >= 0 && i == 0 ? 0.5F : 1.0F}, before, first, tokens, out);
    });
    for (int64_t i = first; i < first + tokens; ++i)
      for (int64_t g = 0; g < run.group; ++g, out += kCount * kLanes) {
        const Vec inverse = set1(run.inverse[i * run.inverse_stride + g]);
        float* dst = run.dst + i * run.dst_stride + g * run.head_dim;
#pragma GCC unroll 2
        for (int v = 0; v < kCount; ++v) write(dst, load(out + v * kLanes) * inverse, v);
      }
  }

  void all(const FastmaxColumnRun& run) const {
    const float* before = run.before;
    int64_t first = 0;
    do {
      const int64_t left = run.tokens - first;
      const int64_t tokens = left < FastmaxColumnRun::kTokens ? left : FastmaxColumnRun::kTokens;
      block(run, before, first, tokens);
      before = run.after;
      first += tokens;
    } while (first < run.tokens);
  }
};

void columns(const FastmaxColumnRun& run) {
  if (run.columns == 2 * kLanes) return Columns<2, false>{0}.all(run);
  if (run.columns > kLanes) return Columns<2, true>{run.columns - kLanes}.all(run);
  if (run.columns == kLanes) return Columns<1, false>{0}.all(run);
  Columns<1, true>{run.columns}.all(run);
}

}  // namespace

const FastmaxScanTable kFastmaxScan = {kVectors * kLanes, count, columns};

}  // namespace orrery::kernels::ORRERY_ISA
