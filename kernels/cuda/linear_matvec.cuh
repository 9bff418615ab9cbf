// The kernel of row cuda.matvec: few tokens; every weight is read once for up to 8 of them, in one launch for
// all segments.
//   dst_s = epilogue(src * w_s^T + bias_s) by mma.m16n8k16: 16 rows of a matrix times up to 8 tokens.
//
// Numbers: quants become f16 integers exactly. src becomes hi + lo, two f16, after each 128 columns of a
// token were scaled by a power of two (their largest magnitude becomes 2^13 to 2^14), so 22 bits of src
// count. Both products go into float32 sums, which are multiplied with the blocks' scales; mins are added by
// float32 sums of src. With bf16 weights src is three bf16 (24 bits), not scaled. So this is the exact path
// too.
//
// Who does what: a tile is 16 rows of one segment, or 8 of gate and 8 of up, both then in one lane. A block
// of 4 to 8 warps brings src into shared memory, then walks tiles blockIdx, + gridDim, ...; its warps split K
// by groups of 128, and their sums are added in the order of the warps. A warp has the next group's weights
// on the way, across tiles, the first before the predecessor's end is awaited: 1 to 2 KB of quants a warp.
// Lane (g, t) = (lane / 4, lane % 4) holds rows g and g + 8, and of the result tokens 2t and 2t + 1.
//
// Preconditions: weights 16-byte aligned ; dense cols a multiple of 8; gate and
// up of one type; src of one token fits into shared memory.
//
// Bytes: weights once a launch (of as many tokens as fit into shared memory); src once a block, from L2.
#pragma once

#include <type_traits>

#include "kernels/cuda/device/linear_group.cuh"
#include "kernels/cuda/device/linear_products.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::matvec {

constexpr int kMostWarps = 8;
constexpr int kMostTokens = 8;  // of a launch
constexpr int kBlocksPerSm = 2;
constexpr int kGroupCols = static_cast<int>(kGroup);
constexpr DType kMixed = DType::f32;  // of packed matrices: their types differ

enum class Family : uint8_t { packed, f16, bf16 };

ORRERY_HOST_DEVICE constexpr int planes_of(Family family) { return family == Family::bf16 ? 3 : 2; }

/// What src is split into.
template <Family family>
using Half = std::conditional_t<family == Family::bf16, __nv_bfloat16, __half>;

/// The code for all types needs more registers.
ORRERY_HOST_DEVICE constexpr int blocks_per_sm(Family family, DType only) {
  return family == Family::packed && only == kMixed ? 1 : kBlocksPerSm;
}

struct Part {  // a segment; gated: both
  const uint8_t* weight[2];
  const float* bias[2];
  float* dst;
  int64_t dst_stride, stride;
  PackedRow at;
  int rows, first_tile;
  DType dtype;
};

struct Matvec {
  Part parts[Linear::kMaxSegments];
  int part_count, tiles, tokens, cols, groups;
  const float* src;
  int64_t src_stride;
  Epilogue epilogue;
  bool gated, src_aligned;
};

/// Shared memory: src by token and group, `planes` runs of 128 halves each; the power of two to undo a
/// group's scale, and the sums of its blocks' scaled src / kSumScale (4 f16 hi, 4 lo), by token; partial
/// results of the warps, twice.
struct Shared {
  int token_pitch;  // bytes; 64 more than a multiple of 128, so that lanes of 8 tokens meet no bank twice
  int unscale, sums, partial, total;

  ORRERY_HOST_DEVICE Shared(int groups, int tokens, int planes, int warps) {
    token_pitch = groups * planes * 256 + 64;
    unscale = (tokens * token_pitch + 127) / 128 * 128;
    sums = unscale + groups * kMostTokens * 4;
    partial = sums + groups * kMostTokens * 16;
    total = partial + 2 * warps * 512;
  }
};

// ---- src ----

/// Scales a group of a token, of which each lane has four columns, and leaves its sums and the way back.
__device__ inline void scale_group(const Shared& at, uint8_t* shared, int token, int group, float (&x)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float most = fmaxf(fmaxf(fabsf(x[0]), fabsf(x[1])), fmaxf(fabsf(x[2]), fabsf(x[3])));
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, offset));
  const int exponent = scale_exponent(most);
  const float scale = power_of_two(exponent);
#pragma unroll
  for (float& value : x) value *= scale;
  float sum = (x[0] + x[1]) + (x[2] + x[3]);
#pragma unroll
  for (int offset = 1; offset < 8; offset *= 2) sum += __shfl_xor_sync(~0U, sum, offset);
  if (lane % 8 == 0)
    store_block_sum(reinterpret_cast<__half*>(shared + at.sums + (group * kMostTokens + token) * 16),
                    lane / 8, sum);
  if (lane == 0)
    reinterpret_cast<float*>(shared + at.unscale)[group * kMostTokens + token] = power_of_two(-exponent);
}

/// Brings src into shared memory, a warp a group of a token; several are on the way at once.
template <Family family>
__device__ inline void stage(const Matvec& p, const Shared& at, uint8_t* shared) {
  constexpr int kAhead = family == Family::bf16 ? 2 : 4;
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int place = 4 * lane;
  if constexpr (family == Family::packed) place = 32 * (lane / 8) + 8 * (lane % 4) + 4 * (lane % 8 / 4);
  const int items = p.tokens * p.groups;
  for (int first = warp; first < items; first += kAhead * warps) {
    float x[kAhead][4];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      const int item = first + n * warps;
      const int token = item / p.groups, column = item % p.groups * kGroupCols + 4 * lane;
      if (item < items)
        load_four(p.src + token * p.src_stride + column, p.cols - column, p.src_aligned, x[n]);
    }
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      const int item = first + n * warps, token = item / p.groups, group = item % p.groups;
      if (item >= items) break;
      if constexpr (family != Family::bf16) scale_group(at, shared, token, group, x[n]);
      uint8_t* to = shared + token * at.token_pitch + group * planes_of(family) * 256 + place * 2;
#pragma unroll
      for (int plane = 0; plane < planes_of(family); ++plane) split_off<Half<family>>(x[n], to + plane * 256);
    }
  }
}

// ---- products ----

template <Family family>
__device__ inline void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (family == Family::bf16)
    mma_bf16(c, a, b0, b1);
  else
    mma_f16(c, a, b0, b1);
}

__device__ inline void add_to(float (&total)[4], const float (&c)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) total[i] += c[i];
}

/// sum += the group's part of the tile: rows g, g + 8 by tokens 2t, 2t + 1.
template <Family family, class L>
__device__ inline void add_group(const L& weights, const Shared& at, const uint8_t* shared, int tokens,
                                 int group, float (&sum)[4]) {
  constexpr bool kOnce = family != Family::packed || L::kFolded;  // the group's products are scaled together
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const uint8_t* src = shared + g * at.token_pitch + group * planes_of(family) * 256 + 16 * t;
  float total[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  float c[2][4] = {{0.0F, 0.0F, 0.0F, 0.0F}, {0.0F, 0.0F, 0.0F, 0.0F}};
  float mins[4] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    uint32_t low[4], high[4];
    weights.pairs(0, j, group, low);
    weights.pairs(1, j, group, high);
    const uint32_t a[2][4] = {{low[0], high[0], low[1], high[1]}, {low[2], high[2], low[3], high[3]}};
    if constexpr (!kOnce) {
#pragma unroll
      for (int i = 0; i < 4; ++i) c[0][i] = c[1][i] = 0.0F;
    }
    uint32_t half_mins[2][4];
    if constexpr (L::kHalfMins) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        half_mins[i][0] = half_mins[i][2] = weights.half_min(0, j, i);  // row g, in all columns
        half_mins[i][1] = half_mins[i][3] = weights.half_min(1, j, i);
      }
    }
#pragma unroll
    for (int plane = 0; plane < planes_of(family); ++plane) {
      uint4 b{};
      if (g < tokens) b = *reinterpret_cast<const uint4*>(src + plane * 256 + j * 64);
      mma<family>(c[0], a[0], b.x, b.y);
      mma<family>(c[1], a[1], b.z, b.w);
      if constexpr (L::kHalfMins) {
        mma<family>(mins, half_mins[0], b.x, b.y);
        mma<family>(mins, half_mins[1], b.z, b.w);
      }
    }
    if constexpr (kOnce) {
      continue;
    } else if constexpr (L::kHalves) {
#pragma unroll
      for (int i = 0; i < 2; ++i) add_scaled(total, weights.scale(0, j, i), weights.scale(1, j, i), c[i]);
    } else {
      add_to(c[0], c[1]);
      add_scaled(total, weights.scale(0, j, 0), weights.scale(1, j, 0), c[0]);
    }
  }
  if constexpr (kOnce) add_to(c[0], c[1]);
  if constexpr (family != Family::packed)
    add_to(total, c[0]);
  else if constexpr (L::kFolded)
    add_scaled(total, weights.factor(0), weights.factor(1), c[0]);
  if constexpr (L::kHalfMins) add_scaled(total, weights.min_factor(0), weights.min_factor(1), mins);
  if constexpr (L::kMins) {
    uint32_t sums = 0;
    if (g < tokens)
      sums = *reinterpret_cast<const uint32_t*>(shared + at.sums + (group * kMostTokens + g) * 16 + 4 * t);
    add_mins(weights, group, sums, total);
  }
  float2 unscale = make_float2(1.0F, 1.0F);
  if constexpr (family != Family::bf16)
    unscale = *reinterpret_cast<const float2*>(shared + at.unscale + (group * kMostTokens + 2 * t) * 4);
  sum[0] = fmaf(total[0], unscale.x, sum[0]);
  sum[1] = fmaf(total[1], unscale.y, sum[1]);
  sum[2] = fmaf(total[2], unscale.x, sum[2]);
  sum[3] = fmaf(total[3], unscale.y, sum[3]);
}

/// Rows g and g + 8 of a tile; behind the last row the last is read, and its result dropped.
__device__ inline RowPair rows_of(const Matvec& p, const Part& part, int tile, int g) {
  const int in_part = tile - part.first_tile;
  if (p.gated) {
    const int64_t row = min(in_part * 8 + g, part.rows - 1);
    return {{part.weight[0] + row * part.stride, part.weight[1] + row * part.stride}};
  }
  const int64_t low = min(in_part * 16 + g, part.rows - 1), high = min(in_part * 16 + 8 + g, part.rows - 1);
  return {{part.weight[0] + low * part.stride, part.weight[0] + high * part.stride}};
}

template <Family family, class L>
__device__ inline void load_group(L& weights, const Matvec& p, const Part& part, int tile, int group) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const RowPair rows = rows_of(p, part, tile, lane / 4);
  if constexpr (family == Family::packed)
    weights.load(rows, part.at, group, lane % 4);
  else
    weights.load(rows, p.cols, group, lane % 4);
}

// ---- results ----

/// Adds the warps' sums of a tile and writes its outputs: thread i < 128 has value i % 4 of lane i / 4.
__device__ inline void finish_tile(const Matvec& p, const Part& part, int tile, const float* partial) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= 128) return;
  const int warps = static_cast<int>(blockDim.x) / 32;
  float value = 0.0F;
  for (int w = 0; w < warps; ++w) value += partial[w * 128 + i];
  const int g = i / 16, t = i / 4 % 4, upper = i % 4 / 2, token = 2 * t + i % 2;
  const int row = (tile - part.first_tile) * (p.gated ? 8 : 16) + g + (p.gated ? 0 : 8 * upper);
  const bool inside = row < part.rows && token < p.tokens;
  const float* bias = part.bias[p.gated ? upper : 0];
  if (inside && bias != nullptr) value += bias[row];
  if (p.gated) {
    const float up = __shfl_down_sync(~0U, value, 2);
    if (inside && upper == 0) part.dst[token * part.dst_stride + row] = activate(p.epilogue, value) * up;
  } else if (inside) {
    part.dst[token * part.dst_stride + row] = activate(p.epilogue, value);
  }
}

/// The block's tiles of one part. `begin` is called once, when the first weights are on the way.
template <Family family, class L, class Begin>
__device__ inline void run_part(const Matvec& p, const Part& part, int end_tile, const Shared& at,
                                uint8_t* shared, int& tile, int& buffer, Begin begin) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32, step = static_cast<int>(gridDim.x);
  L now, next;
  if (warp < p.groups) load_group<family>(now, p, part, tile, warp);
  begin();
  for (; tile < end_tile; tile += step) {
    float sum[4] = {0.0F, 0.0F, 0.0F, 0.0F};
    for (int group = warp; group < p.groups; group += warps) {
      const bool last = group + warps >= p.groups;
      const int next_tile = last ? tile + step : tile;
      if (next_tile < end_tile) load_group<family>(next, p, part, next_tile, last ? warp : group + warps);
      add_group<family>(now, at, shared, p.tokens, group, sum);
      now = next;
    }
    float* partial = reinterpret_cast<float*>(shared + at.partial) + buffer * warps * 128;
    *reinterpret_cast<float4*>(partial + warp * 128 + lane * 4) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    __syncthreads();  // the other buffer is free: who reads it has not come here
    finish_tile(p, part, tile, partial);
    buffer ^= 1;
  }
}

/// `only`: the type of all parts, known when compiled; kMixed: of this part.
template <Family family, DType only, class... Params>
__device__ inline void run_part_of(const Matvec& p, const Part& part, Params&&... params) {
  if constexpr (family != Family::packed) {
    run_part<family, StoredLanes>(p, part, params...);
  } else if constexpr (only != kMixed) {
    run_part<family, Lanes<only>>(p, part, params...);
  } else {
    with_dtype(part.dtype, [&](auto type) {
      constexpr DType kType = decltype(type)::value;
      if constexpr (kPacked<kType>) run_part<family, Lanes<kType>>(p, part, params...);
    });
  }
}

template <Family family, DType only>
__global__ void __launch_bounds__(kMostWarps * 32, blocks_per_sm(family, only))
    matvec_kernel(const __grid_constant__ Matvec p) {
  extern __shared__ __align__(128) uint8_t shared[];
  const Shared at(p.groups, p.tokens, planes_of(family), static_cast<int>(blockDim.x) / 32);
  bool staged = false;
  const auto begin = [&] {
    if (staged) return;
    staged = true;
    pdl_wait();
    stage<family>(p, at, shared);
    pdl_trigger();  // one wave of blocks: what follows may come onto the multiprocessors that are done
    __syncthreads();
  };
  int tile = static_cast<int>(blockIdx.x), buffer = 0;
  for (int s = 0; s < p.part_count; ++s) {
    const Part& part = p.parts[s];
    const int end_tile = s + 1 < p.part_count ? p.parts[s + 1].first_tile : p.tiles;
    if (tile >= end_tile) continue;
    run_part_of<family, only>(p, part, end_tile, at, shared, tile, buffer, begin);
  }
  begin();  // a block without tiles waits too
}

}  // namespace orrery::kernels::cuda::matvec
