// What a block of tensor.cu adds up for its queries, in registers: products with a state of the keys before
// them, and with keys by way of their weights. Operands lie in shared memory as tensor.cu says.
#pragma once

#include <algorithm>

#include "kernels/cuda/fastmax/tensor.cuh"

namespace orrery::kernels::cuda::fastmax {

template <int kDim>
struct Block {
  using Size = Sizes<kDim>;
  static constexpr int kTileBytes = Size::kKeys * Size::kPitch;
  static constexpr int kQueryBytes = Size::kQueries * Size::kPitch;
  static constexpr int kBufferBytes = std::max(4 * kTileBytes, 2 * StateStages<kDim>::kBytes);
  static constexpr int kShared = kQueryBytes + kBufferBytes;
  static_assert(Size::kPitch % 16 == 0 && StateStages<kDim>::kBytes % 16 == 0);
};

template <int kDim>
struct Accumulators {
  uint32_t query[Sizes<kDim>::kTiles][Sizes<kDim>::kBlocks][4];  // fragments
  float total[Sizes<kDim>::kTiles][Sizes<kDim>::kAcross][4] = {};

  __device__ void scale(float factor) {
#pragma unroll
    for (auto& tile : total)
#pragma unroll
      for (auto& eight : tile)
#pragma unroll
        for (float& x : eight) x *= factor;
  }
};

/// total += features in `a` of each tile of queries, times 16 rows of a state at `from`.
template <int kDim>
__device__ void multiply_state(Accumulators<kDim>& sums, const uint32_t (&a)[Sizes<kDim>::kTiles][4],
                               uint32_t from, int lane) {
  using Size = Sizes<kDim>;
  const uint32_t row = from + static_cast<uint32_t>(lane % 16 * 2 * Size::kColumns);
#pragma unroll
  for (int pair = 0; pair < kDim / 16; ++pair) {
    uint32_t b[4];
    load_turned(b, row + static_cast<uint32_t>(32 * pair + lane / 16 * 16));
#pragma unroll
    for (int t = 0; t < Size::kTiles; ++t) {
      multiply<DType::bf16>(sums.total[t][2 * pair], a[t], b[0], b[1]);
      multiply<DType::bf16>(sums.total[t][2 * pair + 1], a[t], b[2], b[3]);
    }
  }
  uint32_t b[2];
  load_two_turned(b, row + 2 * kDim);
#pragma unroll
  for (int t = 0; t < Size::kTiles; ++t)
    multiply<DType::bf16>(sums.total[t][Size::kAcross - 1], a[t], b[0], b[1]);
}

/// total += sum over t of c_t x_t(query) state_t, with the query's factor.
template <int kDim>
__device__ void add_state(Accumulators<kDim>& sums, const Fastmax::Args& args, const __nv_bfloat16* weighed,
                          const float* ones, float factor, uint32_t queries, uint32_t buffer) {
  using Size = Sizes<kDim>;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int squares = args.problem.p == 2 ? Size::kSquares / kStageTiles : 0;  // stages
  const StateStages<kDim> stages{weighed, buffer, squares};
  stages.bring(0);
  stages.bring(1);
  // Element m and its neighbour of query g of tile t are at own_row + 16 t rows + 2 m.
  const uint32_t own_row =
      queries + static_cast<uint32_t>((warp * 16 * Size::kTiles + lane / 4) * Size::kPitch);
  int stage = 0;
  if (squares > 0) {
#pragma unroll
    for (int block = 0; block < Size::kBlocks; ++block) {
      for (int part = 0; part < 2 * (block + 1); ++part, ++stage) {
        wait_for_copies<1>();
        __syncthreads();
        const uint32_t from = stages.at(stage);
#pragma unroll 1
        for (int i = 0; i < kStageTiles; i += 2) {
          uint32_t upper[Size::kTiles], lower[Size::kTiles];
#pragma unroll
          for (int t = 0; t < Size::kTiles; ++t) {
            const uint32_t at =
                own_row + static_cast<uint32_t>(16 * t * Size::kPitch + 2 * (part * kStageTiles + i));
            upper[t] = load_word(at);
            lower[t] = load_word(at + 8 * Size::kPitch);
          }
#pragma unroll
          for (int odd = 0; odd < 2; ++odd) {
            uint32_t a[Size::kTiles][4];
#pragma unroll
            for (int t = 0; t < Size::kTiles; ++t) {
              const uint32_t both = odd == 0 ? 0x1010 : 0x3232;
              const uint32_t high = __byte_perm(upper[t], 0, both), low = __byte_perm(lower[t], 0, both);
              a[t][0] = times(sums.query[t][block][0], high);
              a[t][1] = times(sums.query[t][block][1], low);
              a[t][2] = times(sums.query[t][block][2], high);
              a[t][3] = times(sums.query[t][block][3], low);
            }
            multiply_state(sums, a, from + static_cast<uint32_t>(2 * (i + odd) * Size::kTileElements), lane);
          }
        }
        __syncthreads();  // before the stage is filled anew
        stages.bring(stage + 2);
      }
    }
    sums.scale(factor);
  }
  wait_for_copies<0>();
  __syncthreads();
  const uint32_t from = stages.at(stage);
#pragma unroll
  for (int block = 0; block < Size::kBlocks; ++block) {
    uint32_t a[Size::kTiles][4];
#pragma unroll
    for (int t = 0; t < Size::kTiles; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) a[t][i] = sums.query[t][block][i];
    multiply_state(sums, a, from + static_cast<uint32_t>(2 * block * Size::kTileElements), lane);
  }
  sums.scale(factor);
#pragma unroll
  for (int n = 0; n < Size::kAcross; ++n) {
    const float2 one = *reinterpret_cast<const float2*>(ones + 8 * n + 2 * (lane % 4));
#pragma unroll
    for (int t = 0; t < Size::kTiles; ++t) {
      sums.total[t][n][0] += one.x;
      sums.total[t][n][1] += one.y;
      sums.total[t][n][2] += one.x;
      sums.total[t][n][3] += one.y;
    }
  }
  __syncthreads();  // before the buffer is filled with keys
}

constexpr float kLargestWeight = 0x1p14F;  // of f16

/// The polynomial of products of rows as they are stored, times `shrunk`.
struct Polynomial {
  float a0, a1, a2, shrunk;
};

/// The polynomials of a thread's queries. Weights of f16 are those of a query times a power of two that keeps
/// the largest that its length allows below kLargestWeight; the quotient does not have it.
template <DType kType, int kDim>
struct Polynomials {
  static constexpr bool kOwn = kType == DType::f16;
  static constexpr int kTiles = kOwn ? Sizes<kDim>::kTiles : 1, kHalves = kOwn ? 2 : 1;
  Polynomial of[kTiles][kHalves];

  __device__ Polynomials(const Fastmax::Args& args, float factor, const Accumulators<kDim>& sums,
                         double longest_key) {
    const float a1 = args.a1 * factor, a2 = args.problem.p == 2 ? args.a2 * factor * factor : 0.0F;
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
        float shrunk = 1.0F;
        if constexpr (kOwn) {
          float squares = 0.0F;
#pragma unroll
          for (int block = 0; block < Sizes<kDim>::kBlocks; ++block)
#pragma unroll
            for (int i = half; i < 4; i += 2) {
              const float2 two = two_of<kType>(sums.query[t][block][i]);
              squares = fmaf(two.x, two.x, fmaf(two.y, two.y, squares));
            }
          squares += __shfl_xor_sync(~0U, squares, 1);
          squares += __shfl_xor_sync(~0U, squares, 2);
          const float score = sqrtf(squares) * sqrtf(static_cast<float>(longest_key));
          const float largest = fabsf(args.a0) + score * (fabsf(a1) + score * fabsf(a2));
          if (largest > kLargestWeight && largest < INFINITY)
            shrunk = exp2f(-ceilf(log2f(largest / kLargestWeight)));
        }
        of[t][half] = {shrunk * args.a0, shrunk * a1, shrunk * a2, shrunk};
      }
  }
  __device__ const Polynomial& at(int t, int half) const { return of[kOwn ? t : 0][kOwn ? half : 0]; }
};

template <DType kType, int kDim>
__device__ void add_keys(Accumulators<kDim>& sums, const Fastmax::Args& args,
                         const Polynomials<kType, kDim>& polynomials, int64_t first_query, int64_t first_key,
                         bool bounded, uint32_t keys, uint32_t values, int lane) {
  using Size = Sizes<kDim>;
  constexpr int kKeys = Size::kKeys;
  float scores[Size::kTiles][kKeys / 8][4] = {};
#pragma unroll
  for (int block = 0; block < Size::kBlocks; ++block)
#pragma unroll
    for (int pair = 0; pair < kKeys / 16; ++pair) {
      uint32_t b[4];
      load_matrices(b, keys + static_cast<uint32_t>((16 * pair + lane / 16 * 8 + lane % 8) * Size::kPitch +
                                                    32 * block + lane / 8 % 2 * 16));
#pragma unroll
      for (int t = 0; t < Size::kTiles; ++t) {
        multiply<kType>(scores[t][2 * pair], sums.query[t][block], b[0], b[1]);
        multiply<kType>(scores[t][2 * pair + 1], sums.query[t][block], b[2], b[3]);
      }
    }
  const int g = lane / 4, c = lane % 4;
#pragma unroll
  for (int t = 0; t < Size::kTiles; ++t)
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& s = scores[t][n][i];
        const Polynomial& polynomial = polynomials.at(t, i / 2);
        s = fmaf(fmaf(polynomial.a2, s, polynomial.a1), s, polynomial.a0);
        if (!bounded) continue;
        const int64_t key = first_key + 8 * n + 2 * c + i % 2;
        const int64_t query = first_query + 16 * t + g + i / 2 * 8;
        if (key >= args.keys || (args.problem.causal && key > query + args.keys - args.queries)) s = 0.0F;
      }
#pragma unroll
  for (int step = 0; step < kKeys / 16; ++step) {
    uint32_t a[Size::kTiles][4];
#pragma unroll
    for (int t = 0; t < Size::kTiles; ++t)
      as_factor<kType>(a[t], scores[t][2 * step], scores[t][2 * step + 1]);
#pragma unroll
    for (int pair = 0; pair < kDim / 16; ++pair) {
      uint32_t b[4];
      load_turned(b, values + static_cast<uint32_t>((16 * step + lane % 16) * Size::kPitch + 32 * pair +
                                                    lane / 16 * 16));
#pragma unroll
      for (int t = 0; t < Size::kTiles; ++t) {
        multiply<kType>(sums.total[t][2 * pair], a[t], b[0], b[1]);
        multiply<kType>(sums.total[t][2 * pair + 1], a[t], b[2], b[3]);
      }
    }
    const uint32_t ones = ones_column<kType>(lane);
#pragma unroll
    for (int t = 0; t < Size::kTiles; ++t)
      multiply<kType>(sums.total[t][Size::kAcross - 1], a[t], ones, ones);
  }
}

}  // namespace orrery::kernels::cuda::fastmax
