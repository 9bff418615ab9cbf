// Products of small matrices for Fastmax: c[i, j] += sum_k a[i, k] b[k, j] in float32
//   layout: isa/fastmax.h      one call is one thread's work; its operands lie in L1 and L2
//   a tile of c is held in registers over the whole depth, so every sum is one chain of FMAs in the order of
//   k. Tiles are as wide as possible, since a row of b is loaded once for all rows of a tile and an element
//   of a once for all its vectors: AVX-512 6 x 4 or 5 x 5 sums, AVX2 6 x 2.
#include "kernels/cpu/isa/fastmax.h"

#include "kernels/cpu/isa/dropout_mask.h"
#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

template <int kRows, int kVectors>
void tile(const FastmaxProduct& product, int64_t row, int64_t col) {
  Vec total[kRows][kVectors];
  float* c = product.c + row * product.c_row + col;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) total[r][v] = load(c + r * product.c_row + v * kLanes);
  const float *a = product.a + row * product.a_row, *b = product.b + col;
  for (int64_t k = 0; k < product.depth; ++k, a += product.a_col, b += product.b_row) {
    Vec line[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) line[v] = load(b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vec x = set1(a[r * product.a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) total[r][v] = fma(x, line[v], total[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(c + r * product.c_row + v * kLanes, total[r][v]);
}

/// All rows of so many vectors of columns.
template <int kRows, int kVectors>
void panel(const FastmaxProduct& product, int64_t col) {
  int64_t row = 0;
  for (; row + kRows <= product.rows; row += kRows) tile<kRows, kVectors>(product, row, col);
  if constexpr (kRows > 4)
    for (; row + 4 <= product.rows; row += 4) tile<4, kVectors>(product, row, col);
  for (; row + 2 <= product.rows; row += 2) tile<2, kVectors>(product, row, col);
  if (row < product.rows) tile<1, kVectors>(product, row, col);
}

void multiply(const FastmaxProduct& product) {
  int64_t col = 0;
  for (int64_t left = product.cols / kLanes; left > 0; left = (product.cols - col) / kLanes) {
#if defined(ORRERY_ISA_AVX512)
    const int64_t take = left == 5 ? 5 : left < 4 ? left : 4;
    if (take == 5) panel<5, 5>(product, col);
    if (take == 4) panel<6, 4>(product, col);
    if (take == 3) panel<8, 3>(product, col);
    if (take == 2) panel<8, 2>(product, col);
    if (take == 1) panel<8, 1>(product, col);
#else
    const int64_t take = left > 1 ? 2 : 1;  // the padding is two vectors
    panel<6, 2>(product, col);
#endif
    col += take * kLanes;
  }
}

void transpose_chunk(const float* from, int64_t stride, int64_t cols, float* to) {
  for (int64_t col = 0; col < cols; col += kLanes)
    for (int64_t row = 0; row < kFastmaxChunk; row += kLanes) {
      Vec block[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) block[i] = load(from + (row + i) * stride + col);
      transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(to + (col + i) * kFastmaxChunk + row, block[i]);
    }
}

void weigh(float* scores, int64_t count, const FastmaxCurve& curve) {
  const Vec a0 = set1(curve.a0), a1 = set1(curve.a1), a2 = set1(curve.a2);
  for (int64_t i = 0; i < count; i += kLanes) {
    const Vec s = load(scores + i);
    store(scores + i, fma(fma(a2, s, a1), s, a0));
  }
}

void slope(float* scores, const float* by, int64_t count, const FastmaxCurve& curve) {
  const Vec a1 = set1(curve.a1), twice = set1(2 * curve.a2);
  for (int64_t i = 0; i < count; i += kLanes)
    store(scores + i, fma(twice, load(scores + i), a1) * load(by + i));
}

void feature(const float* a, const float* b, float factor, float* to) {
  const Vec by = set1(factor);
  for (int64_t i = 0; i < kFastmaxChunk; i += kLanes) store(to + i, load(a + i) * load(b + i) * by);
}

void add_feature(const float* a, const float* b, float factor, float* to) {
  const Vec by = set1(factor);
  for (int64_t i = 0; i < kFastmaxChunk; i += kLanes)
    store(to + i, fma(load(a + i) * by, load(b + i), load(to + i)));
}

/// A token a lane: the four words of a draw are those of four features, each of which lies in a row.
void mask_features(const FastmaxMask& mask, int64_t group, float* const (&to)[4]) {
  const Ints most = ints(mask.most);
  const Vec kept = set1(mask.kept);
  for (int64_t i = 0; i < kFastmaxChunk; i += kLanes) {
    Counters words{ints(static_cast<uint32_t>(group)), load_ints(mask.low + i), load_ints(mask.high + i),
                   ints(mask.stream)};
    words.draw(mask.seed);
    const Ints of_features[4] = {words.c0, words.c1, words.c2, words.c3};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k)
      if (to[k] != nullptr)
        store(to[k] + i, factors_of(as_floats(of_features[k]), most, load(to[k] + i) * kept));
  }
}

}  // namespace

const FastmaxTable kFastmaxProducts = {multiply, transpose_chunk, weigh,        slope,
                                       feature,  add_feature,     mask_features};

}  // namespace orrery::kernels::ORRERY_ISA
