// Dense sums: dst[t, r] = sum_k src[t, k] * weight[r, k], float32 FMA.
//   weight rows (cols) f32, f16 or bf16 as stored; other types are dequantised 16 rows at a time into scratch
//   src (tokens, cols) f32, row stride; dst float32
//   One call is one thread's rows. Lanes run over k; each sum is one chain of FMAs over k in steps of kLanes,
//   then one reduction: so it depends neither on the tile around it nor on how many tokens or threads there
//   are. One token: rows are walked one after the other, so that memory is read linearly. More: tiles of
//   kTileRows x kTileTokens, panels of kDensePanel rows, each panel read from L2 for all tokens. traffic:
//   weights once, src once per panel (cache)
#include "kernels/cpu/isa/linear_parts.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

#if defined(ORRERY_ISA_AVX512)
constexpr int kTileRows = 4, kTileTokens = 6;  // 24 sums + 4 weights + 1 source of 32 registers
#else
constexpr int kTileRows = 3, kTileTokens = 3;  // 9 sums + 3 weights + 1 source of 16 registers
#endif
constexpr int kPrefetch = 2048;  // bytes ahead of a linear walk

struct F32 {
  static constexpr int kBytes = 4;
  ORRERY_INLINE static Vec at(const std::byte* p) { return load(reinterpret_cast<const float*>(p)); }
  ORRERY_INLINE static Vec part(const std::byte* p, int64_t n) {
    return load_part(reinterpret_cast<const float*>(p), n);
  }
};
struct F16 {
  static constexpr int kBytes = 2;
  ORRERY_INLINE static Vec at(const std::byte* p) { return load_f16(p); }
  ORRERY_INLINE static Vec part(const std::byte* p, int64_t n) { return load_part_f16(p, n); }
};
struct Bf16 {
  static constexpr int kBytes = 2;
  ORRERY_INLINE static Vec at(const std::byte* p) { return load_bf16(p); }
  ORRERY_INLINE static Vec part(const std::byte* p, int64_t n) { return load_part_bf16(p, n); }
};

struct Tile {
  const std::byte* weight;
  size_t row_bytes;
  const float* src;
  int64_t src_stride, cols;
  float* dst;
  int64_t dst_stride;
};

template <class Weight, int rows, int tokens, bool prefetch>
ORRERY_INLINE void tile(const Tile& a) {
  Vec total[tokens][rows];
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) total[t][r] = set1(0.0F);
  }
  const auto step = [&](auto weight_at, auto src_at) __attribute__((always_inline)) {
    Vec w[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) w[r] = weight_at(a.weight + static_cast<size_t>(r) * a.row_bytes);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      const Vec x = src_at(a.src + t * a.src_stride);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) total[t][r] = fma(w[r], x, total[t][r]);
    }
  };
  int64_t k = 0;
  for (; k + kLanes <= a.cols; k += kLanes) {
    if constexpr (prefetch) {
      _mm_prefetch(reinterpret_cast<const char*>(a.weight + k * Weight::kBytes + kPrefetch), _MM_HINT_T0);
    }
    step([k](const std::byte* p) { return Weight::at(p + k * Weight::kBytes); },
         [k](const float* p) { return load(p + k); });
  }
  if (const int64_t rest = a.cols - k; rest > 0) {
    step([k, rest](const std::byte* p) { return Weight::part(p + k * Weight::kBytes, rest); },
         [k, rest](const float* p) { return load_part(p + k, rest); });
  }
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) a.dst[t * a.dst_stride + r] = sum(total[t][r]);
  }
}

/// All tokens of `rows` adjacent rows.
template <class Weight, int rows, bool prefetch>
void row_group(Tile a, int64_t tokens) {
  int64_t t = 0;
  for (; t + kTileTokens <= tokens; t += kTileTokens) {
    tile<Weight, rows, kTileTokens, prefetch>(a);
    a.src += kTileTokens * a.src_stride;
    a.dst += kTileTokens * a.dst_stride;
  }
  for (; t + 2 <= tokens; t += 2) {
    tile<Weight, rows, 2, prefetch>(a);
    a.src += 2 * a.src_stride;
    a.dst += 2 * a.dst_stride;
  }
  if (t < tokens) tile<Weight, rows, 1, prefetch>(a);
}

/// Few tokens: memory bound, so one row after the other.
template <class Weight>
void walk(const DenseShare& share) {
  Tile a{share.matrix + static_cast<size_t>(share.begin) * share.row_bytes,
         share.row_bytes,
         share.src,
         share.src_stride,
         share.cols,
         share.dst,
         share.dst_stride};
  for (int64_t r = share.begin; r < share.end; ++r) {
    row_group<Weight, 1, true>(a, share.tokens);
    a.weight += share.row_bytes;
    ++a.dst;
  }
}

/// One panel: token tiles outside, so that a tile's sources stay in L1 while the panel passes from L2.
template <class Weight>
void panel(Tile a, int64_t rows, int64_t tokens) {
  for (int64_t t = 0; t < tokens; t += kTileTokens) {
    const int64_t count = tokens - t < kTileTokens ? tokens - t : kTileTokens;
    Tile b = a;
    b.src += t * a.src_stride;
    b.dst += t * a.dst_stride;
    int64_t r = 0;
    for (; r + kTileRows <= rows; r += kTileRows) {
      row_group<Weight, kTileRows, false>(b, count);
      b.weight += kTileRows * a.row_bytes;
      b.dst += kTileRows;
    }
    for (; r < rows; ++r) {
      row_group<Weight, 1, false>(b, count);
      b.weight += a.row_bytes;
      ++b.dst;
    }
  }
}

template <class Weight>
void dense_as(const DenseShare& share) {
  if (share.tokens <= 2) return walk<Weight>(share);
  for (int64_t r = share.begin; r < share.end; r += kDensePanel) {
    const int64_t rows = share.end - r < kDensePanel ? share.end - r : kDensePanel;
    panel<Weight>({share.matrix + static_cast<size_t>(r) * share.row_bytes, share.row_bytes, share.src,
                   share.src_stride, share.cols, share.dst + (r - share.begin), share.dst_stride},
                  rows, share.tokens);
  }
}

void dequantised(const DenseShare& share) {
  const size_t scratch_row = static_cast<size_t>(share.cols) * sizeof(float);
  for (int64_t r = share.begin; r < share.end; r += kDensePanel) {
    const int64_t rows = share.end - r < kDensePanel ? share.end - r : kDensePanel;
    for (int64_t i = 0; i < rows; ++i) {
      share.dequantise(share.weight, share.matrix + static_cast<size_t>(r + i) * share.row_bytes, share.cols,
                       share.scratch + i * share.cols);
    }
    panel<F32>({reinterpret_cast<const std::byte*>(share.scratch), scratch_row, share.src, share.src_stride,
                share.cols, share.dst + (r - share.begin), share.dst_stride},
               rows, share.tokens);
  }
}

}  // namespace

void linear_dense(const DenseShare& share) {
  switch (share.weight) {
    case DType::f32:
      return dense_as<F32>(share);
    case DType::f16:
      return dense_as<F16>(share);
    case DType::bf16:
      return dense_as<Bf16>(share);
    default:
      return dequantised(share);
  }
}

}  // namespace orrery::kernels::ORRERY_ISA
