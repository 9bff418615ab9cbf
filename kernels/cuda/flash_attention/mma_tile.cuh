// Tiles of f16 or bf16 in shared memory for products of warps (device/tensor_core.cuh), and what the forward
// and backward kernels of cuda.flash_mma make of them. A block has 4 warps; a tile has rows of kDim elements
// without gaps from a multiple of 128 bytes on, 16-byte chunk i of row r at place(r, i), so that the 8 rows
// that ldmatrix reads together meet no bank twice.
#pragma once

#include <cstddef>

#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/device/tensor_core.cuh"
#include "kernels/cuda/flash_attention/scores.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::flash {

constexpr int kWarps = 4, kThreads = 32 * kWarps;

/// Rows of 128 bytes begin in the same bank; of 64 bytes more, every second one.
template <int kDim>
__device__ inline int place(int row, int chunk) {
  return kDim % 64 == 0 ? chunk ^ (row % 8) : chunk ^ (row / 2 % 4);
}

template <int kDim>
__device__ inline uint32_t chunk_at(uint32_t tile, int row, int chunk) {
  return tile + static_cast<uint32_t>(row * kDim * 2 + place<kDim>(row, chunk) * 16);
}

/// Where a lane finds chunk `half` (0 or 1) of a row; 16 elements further on, which are chunks 2 f + half, it
/// is at `along`. Of rows 16 apart the chunks lie alike, so that offsets are constants but for one XOR.
template <int kDim>
__device__ inline uint32_t lane_at(uint32_t tile, int row, int half) {
  return chunk_at<kDim>(tile, row, half);
}
template <int kDim>
__device__ inline uint32_t along(uint32_t lane, int f) {
  constexpr int kTurn = kDim % 64 == 0 ? 4 : 2;  // pairs of chunks that are exchanged among each other
  return (lane ^ static_cast<uint32_t>(f % kTurn * 32)) + static_cast<uint32_t>(f / kTurn * kTurn * 32);
}

/// Rows of a tensor of one batch and head, of 16 bits an element.
struct HalfRows {
  const uint16_t* from;
  int64_t stride;

  __device__ HalfRows(const void* data, const HeadStrides& strides, int batch, int head)
      : from(static_cast<const uint16_t*>(data) + batch * strides.batch + head * strides.head),
        stride(strides.token) {}
};

/// Starts to copy kRows rows from `first` on; zeros from row `end` and element `head_dim` on.
template <int kDim, int kRows>
__device__ inline void copy_rows(uint32_t tile, const HalfRows& rows, int first, int end, int head_dim) {
  constexpr int kChunks = kDim / 8;
  static_assert(kRows * kChunks % kThreads == 0);
  const auto thread = static_cast<int>(threadIdx.x);
  if constexpr (kThreads % kChunks == 0) {  // a thread's chunks lie below each other
    constexpr int kStep = kThreads / kChunks;
    const int row = thread / kChunks, chunk = thread % kChunks;
    const uint16_t* from = rows.from + (first + row) * rows.stride + chunk * 8;
    int left = chunk * 8 < head_dim ? end - first - row : 0;
#pragma unroll
    for (int i = 0; i < kRows; i += kStep, left -= kStep, from += kStep * rows.stride)
      copy_16(chunk_at<kDim>(tile, row + i, chunk), left > 0 ? from : rows.from, left > 0);
  } else {
#pragma unroll
    for (int i = 0; i < kRows * kChunks; i += kThreads) {
      const int row = (i + thread) / kChunks, chunk = (i + thread) % kChunks;
      const bool there = first + row < end && chunk * 8 < head_dim;
      copy_16(chunk_at<kDim>(tile, row, chunk),
              there ? rows.from + (first + row) * rows.stride + chunk * 8 : rows.from, there);
    }
  }
}

/// sums[n] += (16 rows of `a` from `row` on) . (rows 8 n .. 8 n + 7 of `b`), over kDim elements.
template <DType kType, int kDim, int kOthers, int kTiles>
__device__ inline void multiply_rows(uint32_t a, int row, uint32_t b, float (&sums)[kTiles][kOthers / 8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint32_t own_at = lane_at<kDim>(a, row + lane % 16, lane / 16);
  const uint32_t other_at = lane_at<kDim>(b, lane / 16 * 8 + lane % 8, lane / 8 % 2);
#pragma unroll
  for (int f = 0; f < kDim / 16; ++f) {
    uint4 own[kTiles];
#pragma unroll
    for (int t = 0; t < kTiles; ++t) own[t] = load_matrices(along<kDim>(own_at, f) + 16 * t * kDim * 2);
#pragma unroll
    for (int n = 0; n < kOthers / 16; ++n) {
      const uint4 other = load_matrices(along<kDim>(other_at, f) + 16 * n * kDim * 2);
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        multiply_halves<kType>(sums[t][2 * n], own[t], other.x, other.y);
        multiply_halves<kType>(sums[t][2 * n + 1], own[t], other.z, other.w);
      }
    }
  }
}

/// Weights of 16 rows and kOthers columns as products left them, rounded, as a factor of the next product.
template <DType kType, int kOthers>
struct Factor {
  uint4 at[kOthers / 16];

  Factor() = default;
  __device__ explicit Factor(const float (&weights)[kOthers / 8][4]) {
#pragma unroll
    for (int k = 0; k < kOthers / 16; ++k) {
      const auto& low = weights[2 * k];
      const auto& high = weights[2 * k + 1];
      at[k] = {pack_halves<kType>(low[0], low[1]), pack_halves<kType>(low[2], low[3]),
               pack_halves<kType>(high[0], high[1]), pack_halves<kType>(high[2], high[3])};
    }
  }
};

/// totals[d] += factor . (kOthers rows of the tile), elements from `first_chunk` (a multiple of 8) on.
template <DType kType, int kDim, int kCols, int kOthers, int kTiles>
__device__ inline void add_rows(const Factor<kType, kOthers> (&factor)[kTiles], uint32_t tile,
                                int first_chunk, float (&totals)[kTiles][kCols / 8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint32_t at = lane_at<kDim>(tile, lane % 16, lane / 16) + static_cast<uint32_t>(first_chunk * 16);
#pragma unroll
  for (int k = 0; k < kOthers / 16; ++k)
#pragma unroll
    for (int d = 0; d < kCols / 16; ++d) {
      const uint4 value = load_transposed(along<kDim>(at, d) + 16 * k * kDim * 2);
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        multiply_halves<kType>(totals[t][2 * d], factor[t].at[k], value.x, value.y);
        multiply_halves<kType>(totals[t][2 * d + 1], factor[t].at[k], value.z, value.w);
      }
    }
}

/// Puts 16 rows of totals, each times its share, into the warp's own rows of a tile, from chunk 0 on; then
/// `store` copies them, 16 bytes at a time. Nobody else reads those rows.
template <DType kType, int kDim, int kCols>
__device__ inline void put_rows(uint32_t tile, int row, const float (&totals)[kCols / 8][4],
                                const float (&share)[2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, c = lane % 4;
#pragma unroll
  for (int n = 0; n < kCols / 8; ++n)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // A row that counts for nothing may have summed what is no number.
      const float low = share[half] == 0 ? 0.0F : totals[n][2 * half] * share[half];
      const float high = share[half] == 0 ? 0.0F : totals[n][2 * half + 1] * share[half];
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(chunk_at<kDim>(tile, row + g + 8 * half, n) + 4 * c),
                   "r"(pack_halves<kType>(low, high))
                   : "memory");
    }
}

/// Row i of them goes to place(i), unless that is null, where elements from `first_chunk` on belong to the
/// tile's chunk 0.
template <int kDim, int kCols, int kRows, class Place>
__device__ inline void store_rows_at(uint32_t tile, int row, int first_chunk, int head_dim, Place&& place) {
  constexpr int kChunks = kCols / 8;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kRows * kChunks / 32; ++i) {
    const int item = static_cast<int>(threadIdx.x) % 32 + 32 * i;
    const int own = item / kChunks, chunk = item % kChunks;
    uint4 x;
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(chunk_at<kDim>(tile, row + own, chunk))
                 : "memory");
    uint16_t* const to = place(own);
    if (to != nullptr && (first_chunk + chunk) * 8 < head_dim)
      *reinterpret_cast<uint4*>(to + (first_chunk + chunk) * 8) = x;
  }
}

/// Rows [first, end) of them go to `to` (of row 0).
template <int kDim, int kCols, int kRows>
__device__ inline void store_rows(uint32_t tile, int row, uint16_t* to, int64_t stride, int first, int end,
                                  int first_chunk, int head_dim) {
  store_rows_at<kDim, kCols, kRows>(tile, row, first_chunk, head_dim, [&](int own) {
    return first + own < end ? to + (first + own) * stride : nullptr;
  });
}

// Dropout: a draw decides of 4 keys that follow each other (dropout.h). Lanes that need parts of the same
// draws make one each and tell the others.

/// Of a lane that has keys 2 c and 2 c + 1 of 8 that begin at `first`, in two rows: bit i: element i of a
/// product stays.
__device__ inline unsigned kept_along_row(const Rule& rule, const int (&query)[2], int first) {
  const int c = static_cast<int>(threadIdx.x) % 4;
  const unsigned own = rule.kept(query[c % 2], first / 4 + c / 2);
  const unsigned other = __shfl_xor_sync(~0U, own, 1);
  const unsigned low = c % 2 == 0 ? own : other, high = c % 2 == 0 ? other : own;
  return (low >> (c % 2 * 2) & 3U) | (high >> (c % 2 * 2) & 3U) << 2;
}

/// Of a lane that has queries 2 c and 2 c + 1 of 8 that begin at `first`, and keys g and g + 8 of 16 that
/// begin at `first_key`.
__device__ inline unsigned kept_along_column(const Rule& rule, int first, int first_key) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, c = lane % 4;
  const int mine = g % 4;  // of the four elements of a product
  const unsigned own = rule.kept(first + 2 * c + mine % 2, (first_key + g / 4 * 4 + mine / 2 * 8) / 4);
  unsigned bits = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned drawn = __shfl_sync(~0U, own, lane / 16 * 16 + 4 * i + c);
    bits |= (drawn >> (g % 4) & 1U) << i;
  }
  return bits;
}

template <class Function>
auto with_half_type(DType dtype, Function&& function) {
  return dtype == DType::f16 ? function.template operator()<DType::f16>()
                             : function.template operator()<DType::bf16>();
}

/// Of operands nothing, of weights what these kernels multiply them as.
inline Rounded rounded_to(const FlashAttention::Problem& problem) {
  return problem.dtype == DType::f16 ? Rounded::f16 : Rounded::bf16;
}

/// Empty where cuda.flash_mma can compute the problem with so much shared memory.
inline std::string without_mma(const FlashAttention::Problem& problem, size_t shared,
                               const Machine& machine) {
  if (problem.dtype == DType::f32) return "f32 operands; tensor cores multiply f16 and bf16 exactly";
  if (std::string reason = too_coarse(problem.precision, rounded_to(problem)); !reason.empty()) return reason;
  if (problem.head_dim % 8 != 0)
    return "heads of " + std::to_string(problem.head_dim) + " elements; it reads 8 at a time";
  if (!problem.aligned) return "rows do not begin at multiples of 16 bytes";
  return without_shared(shared, machine.card);
}

inline bool lies_in_chunks(const void* data, const HeadStrides& strides) {
  return is_aligned(data) && strides.batch % 8 == 0 && strides.head % 8 == 0 && strides.token % 8 == 0;
}
inline bool lies_in_chunks(const FlashAttention::Args& args) {
  return lies_in_chunks(args.query, args.query_strides) && lies_in_chunks(args.key, args.key_strides) &&
         lies_in_chunks(args.value, args.value_strides) && lies_in_chunks(args.out, args.out_strides);
}

/// Whether scores are more than products times a positive factor.
inline bool is_involved(const FlashAttention::Args& args) {
  const FlashAttention::Problem& problem = args.problem;
  return problem.has_bias || problem.has_mask || problem.drops || problem.softcap > 0 || !(args.scale > 0);
}

}  // namespace orrery::kernels::cuda::flash
