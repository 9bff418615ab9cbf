// Products of f16 or bf16 on tensor cores for Fastmax: sizes, fragments, tiles in shared memory.
// Fragments are those of device/tensor_core.cuh, in arrays.
#pragma once

#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/device/tensor_core.cuh"
#include "kernels/cuda/fastmax/parts.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::fastmax {

/// Sizes of heads of up to kDim. Features x_m x_n are made in tiles of one m and 16 neighbouring n, in this
/// order: for each block of 16 n all m up to its end; so a pair of different blocks is made once, and one of
/// the same block twice, once as (m, n) and once as (n, m), each of half the weight. Then the x_n themselves,
/// and 1.
template <int kDim>
struct Sizes {
  static constexpr int kBlocks = kDim / 16;
  static constexpr int kSquares = 8 * kBlocks * (kBlocks + 1);  // tiles of x_m x_n
  static constexpr int kColumns = kDim + 8;                     // of a state: those of value, 1, zeros
  static constexpr int kAcross = kDim / 8 + 1;                  // tiles of 8 of them
  static constexpr int kTileElements = 16 * kColumns;
  static constexpr int kPitch = 2 * kDim + 16;       // bytes of a row in shared memory: an odd number of 16
  static constexpr int kTiles = kDim <= 64 ? 2 : 1;  // of 16 queries that a warp owns
  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kQueries = kWarps * 16 * kTiles;
  static constexpr int kKeys = 64;  // that are multiplied at a time
};

/// Tiles of a state of heads of up to kDim: squares (p = 2), elements, 1.
template <int kDim>
__host__ __device__ constexpr int64_t state_tiles_of(int p) {
  return (p == 2 ? Sizes<kDim>::kSquares : 0) + Sizes<kDim>::kBlocks + 1;
}

/// Where the segments of a text lie (fastmax.h of the CPU's rows has the same): slot s holds the sums over
/// keys [begin(s), end(s)), and after they are added up those of all keys before end(s).
struct Slots {
  int64_t count, tokens;  // tokens of queries in each (causal), of keys (else)
  int64_t ahead, keys;
  bool causal;

  __host__ __device__ int64_t held(int64_t place) const {
    return place < 0 ? 0 : place > keys ? keys : place;
  }
  __host__ __device__ int64_t end(int64_t slot) const {
    return causal ? held(slot * tokens + ahead) : held((slot + 1) * tokens);
  }
  __host__ __device__ int64_t begin(int64_t slot) const { return slot == 0 ? 0 : end(slot - 1); }
};

template <DType kType>
__device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  multiply_halves<kType>(c, {a[0], a[1], a[2], a[3]}, b0, b1);
}

__device__ inline void load_matrices(uint32_t (&to)[4], uint32_t from) {
  const uint4 x = cuda::load_matrices(from);
  to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}
__device__ inline void load_turned(uint32_t (&to)[4], uint32_t from) {
  const uint4 x = cuda::load_transposed(from);
  to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}
/// Two matrices, turned, of the addresses of lanes 0 to 15.
__device__ inline void load_two_turned(uint32_t (&to)[2], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from)
               : "memory");
}
__device__ inline uint32_t load_word(uint32_t from) {
  uint32_t word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}
__device__ inline uint32_t load_half(uint32_t from) {
  uint16_t half;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(from) : "memory");
  return half;
}

/// Two products of bf16.
__device__ inline uint32_t times(uint32_t a, uint32_t b) {
  const __nv_bfloat162 product =
      __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&a), *reinterpret_cast<const __nv_bfloat162*>(&b));
  return *reinterpret_cast<const uint32_t*>(&product);
}
/// The two numbers of a word.
template <DType kType>
__device__ inline float2 two_of(uint32_t word) {
  if constexpr (kType == DType::f16) return __half22float2(*reinterpret_cast<const __half2*>(&word));
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&word));
}

/// Operand B whose first column is 1 and whose others are 0.
template <DType kType>
__device__ inline uint32_t ones_column(int lane) {
  return lane / 4 != 0 ? 0U : kType == DType::f16 ? 0x3C003C00U : 0x3F803F80U;
}

/// A = weights of 16 rows and 16 columns as two products left them, rounded.
template <DType kType>
__device__ inline void as_factor(uint32_t (&a)[4], const float (&left)[4], const float (&right)[4]) {
  a[0] = pack_halves<kType>(left[0], left[1]);
  a[1] = pack_halves<kType>(left[2], left[3]);
  a[2] = pack_halves<kType>(right[0], right[1]);
  a[3] = pack_halves<kType>(right[2], right[3]);
}

/// Rows of one head.
struct Rows {
  const uint16_t* base;
  int64_t stride;  // of tokens, in elements

  __device__ Rows(const void* tensor, const HeadStrides& strides, int64_t batch, int64_t head)
      : base(static_cast<const uint16_t*>(tensor) + batch * strides.batch + head * strides.head),
        stride(strides.token) {}
};

/// kCount rows from `first` on into shared memory, zeros from row `end` and from column dim on.
template <int kDim, int kCount, int kThreads>
__device__ void copy_rows(uint32_t to, const Rows& rows, int64_t first, int64_t end, int dim) {
  constexpr int kChunks = kDim / 8;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < kCount * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    const bool there = first + row < end && chunk * 8 < dim;
    const uint16_t* from = there ? rows.base + (first + row) * rows.stride + chunk * 8 : rows.base;
    copy_16(to + static_cast<uint32_t>(row * Sizes<kDim>::kPitch + chunk * 16), from, there);
  }
}

/// What the gradients need of the forward call, of each query in (batch, heads, queries).
struct QuerySums {
  float inverse;  // share / sum_j f(s_ij), 0 where it sees no key
  float product;  // d_i . o_i
};
struct ForGradients {
  const void* grad_out = nullptr;
  HeadStrides grad_out_strides;
  float share = 1.0F;
  QuerySums* sums = nullptr;
  uint16_t* noisy = nullptr;  // d, rounded, without gaps; null where it is grad_out itself
};

/// The forward call of the gradients, in the form that costs less, and room for it; returns what rows were
/// multiplied by, which lies there.
size_t forward_workspace(const Fastmax::Problem& problem);
Scales attend_for_gradients(const Fastmax::Args& args, const ForGradients& gradients, const Launch& launch);

/// Empty where operands are what rows of tensor cores multiply.
std::string without_tensor(const Fastmax::Problem& problem);
bool lies_in_chunks(const void* base, const HeadStrides& strides);

/// The state of each head of keys: sums over the keys of its slots. Grid: (warps of tiles, units x slots).
void make_states(const Fastmax::Args& args, const Slots& slots, int64_t first_unit, int64_t units,
                 float* sums, const Launch& launch);
int64_t state_tiles(const Fastmax::Problem& problem);
/// kDim: the least that the kernels are made for.
int64_t padded_head(int64_t dim);

}  // namespace orrery::kernels::cuda::fastmax
