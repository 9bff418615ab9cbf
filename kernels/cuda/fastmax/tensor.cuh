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

/// Where the segments of a text lie: slot s holds the sums over producers [begin(s), end(s)), and after they
/// are added up those of all producers before end(s), or (backwards) from begin(s) on. Producers are keys,
/// which queries gather from, or (backwards) queries, which keys do.
struct Slots {
  int64_t count, tokens;     // tokens of consumers in each (causal), of producers (else)
  int64_t ahead, producers;  // query i sees keys up to i + ahead
  bool causal, backwards;

  __host__ __device__ int64_t held(int64_t place) const {
    return place < 0 ? 0 : place > producers ? producers : place;
  }
  __host__ __device__ int64_t begin(int64_t slot) const {
    if (!causal) return held(slot * tokens);
    if (backwards) return held((slot + 1) * tokens - ahead);
    return slot == 0 ? 0 : end(slot - 1);
  }
  __host__ __device__ int64_t end(int64_t slot) const {
    if (!causal) return held((slot + 1) * tokens);
    if (backwards) return slot + 1 == count ? producers : begin(slot + 1);
    return held(slot * tokens + ahead);
  }
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

/// 8 bytes from global to shared memory; zeros where there is nothing.
__device__ inline void copy_8(uint32_t to, const void* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(there ? 8 : 0)
               : "memory");
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
  // Without gaps; null where it is not needed.
  uint16_t* noisy = nullptr;    // d, rounded
  uint16_t* brought = nullptr;  // inverse d
};

/// What states are made of: rows x and the head_dim numbers that they bring, and one more: 1, or what query
/// sums give.
struct Producers {
  const void* rows = nullptr;
  const void* brought = nullptr;
  HeadStrides row_strides, brought_strides;
  const QuerySums* sums = nullptr;  // the number is -inverse product; null: 1
  int64_t heads = 1;                // of a batch
  const Scale* scales = nullptr;    // of each head
  float divisor = 1.0F;             // of rows
};

constexpr int kStageTiles = 8;                       // of a state, in shared memory at a time
constexpr int64_t kStateBytes = int64_t{256} << 20;  // of the states of a round of heads

/// What consumers read of a state: squares and elements in bf16, times their weights, ones in float32.
struct Moments {
  const __nv_bfloat16* weighed = nullptr;  // (units, slots, tiles - 1, 16, columns)
  const float* ones = nullptr;             // (units, slots, columns)
};

/// Copies a state's tiles to shared memory, by all threads of a block: the squares stage by stage, then one
/// stage of elements. There is room for two stages at a time.
template <int kDim>
struct StateStages {
  using Size = Sizes<kDim>;
  static constexpr int kBytes = 2 * kStageTiles * Size::kTileElements;
  const __nv_bfloat16* state;
  uint32_t buffer;
  int squares;  // stages

  __device__ uint32_t at(int stage) const { return buffer + static_cast<uint32_t>(stage % 2 * kBytes); }
  /// Starts the copies of a stage as one group; past the last stage the group is empty.
  __device__ void bring(int stage) const {
    if (stage <= squares) {
      const int bytes = stage < squares ? kBytes : 2 * Size::kBlocks * Size::kTileElements;
      const auto* from = reinterpret_cast<const std::byte*>(state) + static_cast<int64_t>(stage) * kBytes;
      for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += Size::kThreads * 16)
        copy_16(at(stage) + static_cast<uint32_t>(i), from + i, true);
    }
    end_of_copies();
  }
};

/// How producers fall into slots: of the problem's sizes, so that the workspace has room for it. A unit is a
/// head of keys with the heads of queries that read it.
struct States {
  int64_t slots, tokens, tiles, columns, heads, at_once;  // heads of producers of a unit

  States(const Fastmax::Problem& problem, bool of_queries);
  int64_t cost() const { return tiles * 16 * columns; }  // products for each token that is taken in, or asks
};

struct StateRoom {
  float* sums;
  __nv_bfloat16* weighed;
  float* ones;

  StateRoom(const States& states, Room& room);
};

/// Moments of the units of a round.
Moments make_moments(const Fastmax::Args& args, const Producers& producers, const Slots& slots,
                     int64_t first_unit, int64_t units, const StateRoom& room, const Launch& launch);

/// How consumers find their producers.
struct Plan {
  Slots slots;
  Moments moments;
  int64_t first_unit = 0, units = 0;
};

Producers keys_of(const Fastmax::Args& args, const Scales& scales);
Slots slots_of_keys(const Fastmax::Args& args, const States& states);

/// The forward call of the gradients, in the form that costs less, and room for it; returns what rows were
/// multiplied by, which lies there.
size_t forward_workspace(const Fastmax::Problem& problem);
Scales attend_for_gradients(const Fastmax::Args& args, const ForGradients& gradients, const Launch& launch);
/// Of the units of a round whose moments are made, of bf16.
void attend_by_moments(const Fastmax::Args& args, const Scales& scales, const Plan& plan,
                       const ForGradients* gradients, const Launch& launch);

/// Empty where operands are what rows of tensor cores multiply.
std::string without_tensor(const Fastmax::Problem& problem);
bool lies_in_chunks(const void* base, const HeadStrides& strides);

/// kDim: the least that the kernels are made for.
int64_t padded_head(int64_t dim);

}  // namespace orrery::kernels::cuda::fastmax
