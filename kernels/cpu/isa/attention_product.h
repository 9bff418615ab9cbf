// C = A B or C += A B, tiled in registers, with lanes along the columns: an element is summed in the order of
// depth however the rows are tiled.
#pragma once

#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {

// Register tile of the product: rows x vectors accumulators, one row of B and one broadcast fit
// the registers (32 of AVX-512, 16 of AVX2).
constexpr int kBlockRows = 6;
constexpr int kBlockVectors = kLanes == 16 ? 4 : 2;

/// How a factor meets a vector: of float32.
struct Floats {
  using Element = float;
  ORRERY_INLINE static Vec row(const float* b) { return load(b); }
  ORRERY_INLINE static Vec factor(float a) { return set1(a); }
  ORRERY_INLINE static Vec add(Vec factor, Vec row, Vec total) { return fma(factor, row, total); }
};

#if defined(__AVX512BF16__)
/// Two bf16 of neighbouring depths in one element, multiplied each with its own and added.
struct Bf16Pairs {
  using Element = uint32_t;
  ORRERY_INLINE static __m512bh row(const uint32_t* b) { return (__m512bh)_mm512_loadu_si512(b); }
  ORRERY_INLINE static __m512bh factor(uint32_t a) {
    return (__m512bh)_mm512_set1_epi32(static_cast<int>(a));
  }
  ORRERY_INLINE static Vec add(__m512bh factor, __m512bh row, Vec total) {
    return _mm512_dpbf16_ps(total, factor, row);
  }
};
#endif

template <class Pair>
struct Product {
  const typename Pair::Element* a;  // (rows, depth)
  const typename Pair::Element* b;  // (depth, columns)
  float* c;                         // (rows, columns)
  int64_t lda, ldb, ldc;
  int64_t depth;
  bool add;            // C += A B, else C = A B
  int64_t a_step = 1;  // from depth to depth of A: 1, or lda is and A lies transposed
};

template <class Pair, int kRows, int kVectors>
void multiply_block(const Product<Pair>& p) {
  Vec total[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) total[r][v] = p.add ? load(p.c + r * p.ldc + v * kLanes) : set1(0.0F);
  }
  const auto* a = p.a;
  const auto* b = p.b;
  for (int64_t k = 0; k < p.depth; ++k, a += p.a_step, b += p.ldb) {
    decltype(Pair::row(b)) row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = Pair::row(b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto factor = Pair::factor(a[r * p.lda]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) total[r][v] = Pair::add(factor, row[v], total[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(p.c + r * p.ldc + v * kLanes, total[r][v]);
  }
}

template <int kVectors, class Pair>
void multiply_columns(Product<Pair> p, int64_t rows) {
  for (; rows >= kBlockRows; rows -= kBlockRows) {
    multiply_block<Pair, kBlockRows, kVectors>(p);
    p.a += kBlockRows * p.lda;
    p.c += kBlockRows * p.ldc;
  }
  switch (rows) {
    case 5:
      return multiply_block<Pair, 5, kVectors>(p);
    case 4:
      return multiply_block<Pair, 4, kVectors>(p);
    case 3:
      return multiply_block<Pair, 3, kVectors>(p);
    case 2:
      return multiply_block<Pair, 2, kVectors>(p);
    case 1:
      return multiply_block<Pair, 1, kVectors>(p);
    default:
      return;
  }
}

/// columns is a multiple of kLanes.
template <class Pair>
void multiply(Product<Pair> p, int64_t rows, int64_t columns) {
  const auto step = [&](int vectors) {
    p.b += vectors * kLanes;
    p.c += vectors * kLanes;
    columns -= vectors * kLanes;
  };
  for (; columns >= kBlockVectors * kLanes; step(kBlockVectors)) multiply_columns<kBlockVectors>(p, rows);
  for (; columns >= 2 * kLanes; step(2)) multiply_columns<2>(p, rows);
  for (; columns >= kLanes; step(1)) multiply_columns<1>(p, rows);
}

}  // namespace orrery::kernels::ORRERY_ISA
