// What gradients of Fastmax on tensor cores get of moments (gradients.cu, tensor_state.cu), for the own rows
// of a warp: F(x) = sum_t c_t x_t(x) state_t, and its gradient by x times a row w. bf16.
#pragma once

#include "kernels/cuda/fastmax/tensor.cuh"

namespace orrery::kernels::cuda::fastmax {

template <int kDim, bool kOwnsKeys>
struct GradientSizes {
  using Size = Sizes<kDim>;
  // Tiles of 16 rows that a warp owns: their fragments and totals have to fit registers.
  static constexpr int kTiles = kOwnsKeys ? (kDim <= 32 ? 2 : 1) : (kDim <= 64 ? 2 : 1);
  static constexpr int kOwn = Size::kWarps * 16 * kTiles;
  static constexpr int kOthers = Size::kKeys;
  static constexpr int kOwnBytes = kOwn * Size::kPitch, kOtherBytes = kOthers * Size::kPitch;
  static constexpr int kSumsAt = 2 * kOwnBytes + 4 * kOtherBytes;
  static constexpr int kShared = kSumsAt + 2 * kOthers * static_cast<int>(sizeof(QuerySums));
};

/// c += a b of bf16, 8 columns of a and rows of b.
__device__ inline void multiply_8(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(b));
}

/// What a warp's rows ask of moments, and what they get: x, and w = (own1, last).
template <int kDim, bool kOwnsKeys>
struct Asking {
  static constexpr int kTiles = GradientSizes<kDim, kOwnsKeys>::kTiles;
  const uint32_t (&x)[kTiles][kDim / 16][4];
  const uint32_t (&w)[kTiles][kDim / 16][4];
  uint32_t last[kTiles][2];                                              // operand A of 8 columns
  float (&total0)[kTiles][kDim / 8][4];                                  // of the gradient
  float (&total1)[kOwnsKeys ? kTiles : 1][kOwnsKeys ? kDim / 8 : 1][4];  // of values, of keys
  int lane;

  /// contracted = sum over columns of w and 16 features at `from`.
  __device__ void contract(float (&contracted)[kTiles][2][4], uint32_t from) const {
    constexpr int kPitch = 2 * Sizes<kDim>::kColumns;
    const uint32_t at = from + static_cast<uint32_t>((lane / 16 * 8 + lane % 8) * kPitch + lane / 8 % 2 * 16);
#pragma unroll
    for (int block = 0; block < kDim / 16; ++block) {
      uint32_t b[4];
      load_matrices(b, at + static_cast<uint32_t>(32 * block));
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        multiply<DType::bf16>(contracted[t][0], w[t][block], b[0], b[1]);
        multiply<DType::bf16>(contracted[t][1], w[t][block], b[2], b[3]);
      }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const uint32_t b =
          load_word(from + static_cast<uint32_t>((8 * n + lane / 4) * kPitch + 2 * kDim + 4 * (lane % 4)));
#pragma unroll
      for (int t = 0; t < kTiles; ++t) multiply_8(contracted[t][n], last[t][0], last[t][1], b);
    }
  }
  /// total1 += features in `a` times their rows at `from`.
  __device__ void add_values(const uint32_t (&a)[kTiles][4], uint32_t from) const {
    const uint32_t row = from + static_cast<uint32_t>(lane % 16 * 2 * Sizes<kDim>::kColumns + lane / 16 * 16);
#pragma unroll
    for (int pair = 0; pair < kDim / 16; ++pair) {
      uint32_t b[4];
      load_turned(b, row + static_cast<uint32_t>(32 * pair));
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        multiply<DType::bf16>(total1[t][2 * pair], a[t], b[0], b[1]);
        multiply<DType::bf16>(total1[t][2 * pair + 1], a[t], b[2], b[3]);
      }
    }
  }
  __device__ void scale(float factor) const {
#pragma unroll
    for (auto& tile : total0)
#pragma unroll
      for (auto& eight : tile)
#pragma unroll
        for (float& one : eight) one *= factor;
    scale_values(factor);
  }
  __device__ void scale_values(float factor) const {
    if constexpr (kOwnsKeys) {
#pragma unroll
      for (auto& tile : total1)
#pragma unroll
        for (auto& eight : tile)
#pragma unroll
          for (float& one : eight) one *= factor;
    }
  }
};

/// Of consumers times their factor: total0 += the gradient of sum_t c_t x_t(x) (w . state_t) by x, total1 +=
/// sum_t c_t x_t(x) state_t. A pair x_m x_n of one block lies in two tiles, whose gradients are equal; of
/// different blocks in one, which gives two: of x_n as it comes, of x_m added up over the tile's columns, by
/// four lanes.
template <int kDim, bool kOwnsKeys>
__device__ void ask_moments(const Asking<kDim, kOwnsKeys>& asking, int squares, const __nv_bfloat16* weighed,
                            const float* ones, float factor, uint32_t own_rows, uint32_t buffer) {
  using Size = Sizes<kDim>;
  constexpr int kTiles = Asking<kDim, kOwnsKeys>::kTiles;
  static_assert(2 * StateStages<kDim>::kBytes <= 4 * GradientSizes<kDim, kOwnsKeys>::kOtherBytes);
  const int lane = asking.lane, c = lane % 4;
  const StateStages<kDim> stages{weighed, buffer, squares};
  stages.bring(0);
  stages.bring(1);
  const uint32_t own_row = own_rows + static_cast<uint32_t>(lane / 4 * Size::kPitch);
  int stage = 0;
  if (squares > 0) {
#pragma unroll
    for (int block = 0; block < Size::kBlocks; ++block) {
      for (int part = 0; part < 2 * (block + 1); ++part, ++stage) {
        wait_for_copies<1>();
        __syncthreads();
        const uint32_t from = stages.at(stage);
        const bool same = part >= 2 * block;
#pragma unroll 1
        for (int i = 0; i < kStageTiles; i += 2) {
          uint32_t pairs[kTiles][2];  // x_m and its neighbour, of two rows
#pragma unroll
          for (int t = 0; t < kTiles; ++t)
#pragma unroll
            for (int half = 0; half < 2; ++half)
              pairs[t][half] = load_word(own_row + static_cast<uint32_t>((16 * t + 8 * half) * Size::kPitch +
                                                                         2 * (part * kStageTiles + i)));
          float of_m[kTiles][2][2];
#pragma unroll
          for (int odd = 0; odd < 2; ++odd) {
            const uint32_t tile = from + static_cast<uint32_t>(2 * (i + odd) * Size::kTileElements);
            float contracted[kTiles][2][4] = {};
            asking.contract(contracted, tile);
#pragma unroll
            for (int t = 0; t < kTiles; ++t)
#pragma unroll
              for (int half = 0; half < 2; ++half) {
                const float2 two = two_of<DType::bf16>(pairs[t][half]);
                const float x = (odd == 0 ? two.x : two.y) * (same ? 2.0F : 1.0F);
                float sum = 0.0F;
#pragma unroll
                for (int n = 0; n < 2; ++n) {
                  const float2 own = two_of<DType::bf16>(asking.x[t][block][2 * n + half]);
                  const float left = contracted[t][n][2 * half], right = contracted[t][n][2 * half + 1];
                  asking.total0[t][2 * block + n][2 * half] =
                      fmaf(x, left, asking.total0[t][2 * block + n][2 * half]);
                  asking.total0[t][2 * block + n][2 * half + 1] =
                      fmaf(x, right, asking.total0[t][2 * block + n][2 * half + 1]);
                  sum = fmaf(own.x, left, fmaf(own.y, right, sum));
                }
                of_m[t][half][odd] = sum;
              }
            if constexpr (kOwnsKeys) {
              uint32_t a[kTiles][4];
#pragma unroll
              for (int t = 0; t < kTiles; ++t) {
                const uint32_t both = odd == 0 ? 0x1010 : 0x3232;
                const uint32_t high = __byte_perm(pairs[t][0], 0, both),
                               low = __byte_perm(pairs[t][1], 0, both);
                a[t][0] = times(asking.x[t][block][0], high);
                a[t][1] = times(asking.x[t][block][1], low);
                a[t][2] = times(asking.x[t][block][2], high);
                a[t][3] = times(asking.x[t][block][3], low);
              }
              asking.add_values(a, tile);
            }
          }
          if (same) continue;
#pragma unroll
          for (int t = 0; t < kTiles; ++t)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
              for (int odd = 0; odd < 2; ++odd) {
                float& sum = of_m[t][half][odd];
                sum += __shfl_xor_sync(~0U, sum, 1);
                sum += __shfl_xor_sync(~0U, sum, 2);
              }
#pragma unroll
          for (int eight = 0; eight < 2 * block; ++eight) {  // so that registers have constant numbers
            if (eight != part) continue;
#pragma unroll
            for (int t = 0; t < kTiles; ++t)
#pragma unroll
              for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int odd = 0; odd < 2; ++odd)
                  asking.total0[t][eight][2 * half + odd] += c == i / 2 ? of_m[t][half][odd] : 0.0F;
          }
        }
        __syncthreads();  // before the stage is filled anew
        stages.bring(stage + 2);
      }
    }
    asking.scale(factor);
  }
  wait_for_copies<0>();
  __syncthreads();
  const uint32_t from = stages.at(stage);
#pragma unroll
  for (int block = 0; block < Size::kBlocks; ++block) {
    const uint32_t tile = from + static_cast<uint32_t>(2 * block * Size::kTileElements);
    float contracted[kTiles][2][4] = {};
    asking.contract(contracted, tile);
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int j = 0; j < 4; ++j) asking.total0[t][2 * block + n][j] += contracted[t][n][j];
    if constexpr (kOwnsKeys) {
      uint32_t a[kTiles][4];
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) a[t][i] = asking.x[t][block][i];
      asking.add_values(a, tile);
    }
  }
  asking.scale_values(factor);
  if constexpr (kOwnsKeys) {
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n) {
      const float2 one = *reinterpret_cast<const float2*>(ones + 8 * n + 2 * c);
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
#pragma unroll
        for (int j = 0; j < 4; ++j) asking.total1[t][n][j] += j % 2 == 0 ? one.x : one.y;
    }
  }
  __syncthreads();  // before the buffer is filled with others
}

}  // namespace orrery::kernels::cuda::fastmax
