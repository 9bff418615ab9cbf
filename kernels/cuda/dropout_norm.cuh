// What the kernels of dropout, residual add and norm and those of their gradients share.
//   src, residual, x, out and their gradients (rows, cols) f32, f16 or bf16; weight, bias, colscale (cols)
//   and rowscale (rows) f32
// Eight neighbouring columns are a unit, which one thread owns in every pass over its row: two groups of the
// mask, and a vector of 16 bytes or two where all rows are whole units at such addresses (Whole, compiled for
// each pair of types). Other calls take elements one by one (Ragged).
// Deviations are taken from the rounded mean, and their own mean corrects it, as in norm.cu.
// The mask is computed, never moved: some 13 instructions an element.
// A second source and norm make kernels of their own (Parallel), whose blocks have half the threads and so
// room for twice the registers; the others know nothing of them.
#pragma once

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_config.h"
#include "kernels/dropout_norm.h"

namespace orrery::kernels::cuda {

constexpr int kUnit = 8;
constexpr int kWarps = 4, kWarpThreads = kWarps * kWarp;
constexpr int kMostThreads = 1024;

struct Unit {
  float v[kUnit];
};

// ---- operands ----

template <DType kSrcType, DType kXType>
struct Whole {
  static constexpr bool kWhole = true, kParallel = false, kStreams = false;
  static constexpr DType kSrc = kSrcType, kX = kXType;
};
struct Ragged {
  static constexpr bool kWhole = false, kParallel = false, kStreams = false;
  static constexpr DType kSrc = DType::f32, kX = DType::f32;  // not used: the problem says
};

/// The same with a second source and a second norm.
template <class Form>
struct Parallel : Form {
  static constexpr bool kParallel = true;
};

/// The same, of rows that caches are not to keep: nothing of them is met again.
template <class Form>
struct Streamed : Form {
  static constexpr bool kStreams = Form::kWhole;
};

template <class Form>
constexpr int most_threads() {
  return Form::kParallel ? kMostThreads / 2 : kMostThreads;
}

__device__ inline float rounded(DType dtype, float value) {
  if (dtype == DType::bf16) return __bfloat162float(__float2bfloat16_rn(value));
  if (dtype == DType::f16) return __half2float(__float2half_rn(value));
  return value;
}

template <DType kType>
__device__ inline float2 two_floats(uint32_t bits) {
  if constexpr (kType == DType::bf16)
    return {__uint_as_float(bits << 16), __uint_as_float(bits & 0xFFFF0000U)};
  return __half22float2(*reinterpret_cast<const __half2*>(&bits));
}

template <DType kType>
__device__ inline uint32_t two_halves(float low, float high) {
  if constexpr (kType == DType::bf16) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  }
}

template <bool kStreams, class T>
__device__ inline T read(const T* from) {
  if constexpr (kStreams) return __ldcs(from);
  return *from;
}
template <bool kStreams, class T>
__device__ inline void write(T* to, const T& value) {
  if constexpr (kStreams)
    __stcs(to, value);
  else
    *to = value;
}

/// A unit as memory has it: who loads it waits for nothing until it is unpacked.
template <bool kWhole, DType kType>
struct Packed {
  std::conditional_t<kWhole && kType != DType::f32, uint4, Unit> bits;
};

template <bool kWhole, DType kType>
__device__ inline Unit unpacked(const Packed<kWhole, kType>& unit) {
  if constexpr (!kWhole || kType == DType::f32) {
    return unit.bits;
  } else {
    const auto& bits = unit.bits;
    const float2 a = two_floats<kType>(bits.x), b = two_floats<kType>(bits.y), c = two_floats<kType>(bits.z),
                 d = two_floats<kType>(bits.w);
    return {{a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y}};
  }
}

/// Rounded to its type, which of a whole unit is kType.
template <bool kWhole, DType kType>
__device__ inline Packed<kWhole, kType> packed(DType dtype, const Unit& unit) {
  const auto& v = unit.v;
  if constexpr (!kWhole) {
    Unit of;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) of.v[i] = rounded(dtype, v[i]);
    return {of};
  } else if constexpr (kType == DType::f32) {
    return {unit};
  } else {
    return {uint4{two_halves<kType>(v[0], v[1]), two_halves<kType>(v[2], v[3]), two_halves<kType>(v[4], v[5]),
                  two_halves<kType>(v[6], v[7])}};
  }
}

/// From element `at` on, which of a whole unit lies at a multiple of 16 bytes; zeros after `count` elements.
template <bool kWhole, DType kType, bool kStreams = false>
__device__ inline Packed<kWhole, kType> load_packed(DType dtype, const void* base, int64_t at, int count) {
  if constexpr (!kWhole) {
    Unit unit = {};
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      if (i < count) unit.v[i] = load_element<float>(dtype, base, at + i);
    return {unit};
  } else if constexpr (kType == DType::f32) {
    const auto* from = reinterpret_cast<const float4*>(static_cast<const float*>(base) + at);
    const float4 low = read<kStreams>(from), high = read<kStreams>(from + 1);
    return {{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}}};
  } else {
    return {read<kStreams>(reinterpret_cast<const uint4*>(static_cast<const uint16_t*>(base) + at))};
  }
}

template <bool kWhole, DType kType, bool kStreams = false>
__device__ inline void store_packed(DType dtype, const Packed<kWhole, kType>& unit, void* base, int64_t at,
                                    int count) {
  if constexpr (!kWhole) {
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      if (i < count) store_element(dtype, unit.bits.v[i], base, at + i);
  } else if constexpr (kType == DType::f32) {
    const auto& v = unit.bits.v;
    auto* to = reinterpret_cast<float4*>(static_cast<float*>(base) + at);
    write<kStreams>(to, float4{v[0], v[1], v[2], v[3]});
    write<kStreams>(to + 1, float4{v[4], v[5], v[6], v[7]});
  } else {
    write<kStreams>(reinterpret_cast<uint4*>(static_cast<uint16_t*>(base) + at), unit.bits);
  }
}

template <bool kWhole, DType kType, bool kStreams = false>
__device__ inline Unit load_unit(DType dtype, const void* base, int64_t at, int count) {
  return unpacked(load_packed<kWhole, kType, kStreams>(dtype, base, at, count));
}

template <bool kWhole, DType kType, bool kStreams = false>
__device__ inline void store_unit(DType dtype, const Unit& unit, void* base, int64_t at, int count) {
  if constexpr (kWhole)
    store_packed<true, kType, kStreams>(dtype, packed<true, kType>(dtype, unit), base, at, count);
  else
    store_packed<false, kType, kStreams>(dtype, {unit}, base, at, count);
}

/// Where a row and its units lie.
template <class Form>
struct RowPlace {
  int64_t row, cols;

  __device__ int64_t units() const { return (cols + kUnit - 1) / kUnit; }
  __device__ int count(int64_t unit) const {
    return Form::kWhole ? kUnit : static_cast<int>(min(int64_t{kUnit}, cols - unit * kUnit));
  }
  /// Whether there is such a row.
  __device__ bool is_there() const { return row >= 0; }
  __device__ int64_t at(int64_t unit) const { return row * cols + unit * kUnit; }
  /// Of src's type, of x's type, and of vectors over the columns.
  __device__ auto packed_src(DType dtype, const void* base, int64_t unit) const {
    return load_packed<Form::kWhole, Form::kSrc, Form::kStreams>(dtype, base, at(unit), count(unit));
  }
  __device__ auto packed_x(DType dtype, const void* base, int64_t unit) const {
    return load_packed<Form::kWhole, Form::kX, Form::kStreams>(dtype, base, at(unit), count(unit));
  }
  __device__ Unit src(DType dtype, const void* base, int64_t unit) const {
    return unpacked(packed_src(dtype, base, unit));
  }
  __device__ Unit x(DType dtype, const void* base, int64_t unit) const {
    return unpacked(packed_x(dtype, base, unit));
  }
  __device__ Unit columns(const float* base, int64_t unit) const {
    return load_unit<Form::kWhole, DType::f32>(DType::f32, base, unit * kUnit, count(unit));
  }
  __device__ void put_src(DType dtype, const Unit& values, void* base, int64_t unit) const {
    store_unit<Form::kWhole, Form::kSrc, Form::kStreams>(dtype, values, base, at(unit), count(unit));
  }
  __device__ void put_x(DType dtype, const Unit& values, void* base, int64_t unit) const {
    store_unit<Form::kWhole, Form::kX, Form::kStreams>(dtype, values, base, at(unit), count(unit));
  }
};

/// The words that decide which of a unit's columns stay; where nothing is dropped, words that keep them all.
__device__ inline void words_of_unit(const Dropout& dropout, int64_t row, int64_t unit,
                                     uint32_t (&words)[kUnit]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint32_t four[4] = {};
    if (dropout.drops()) dropout.words(row, 2 * unit + half, four);
#pragma unroll
    for (int k = 0; k < 4; ++k) words[4 * half + k] = four[k];
  }
}

template <class Args>
__device__ inline float kept_factor(const Args& args, int64_t row) {
  const float all = args.dropout.scale * args.subset.row_factor;
  return args.rowscale != nullptr ? args.rowscale[row] * all : all;
}

// ---- who takes a row ----

/// Of numbers that are not below 0: NaN where one of them is.
struct LargerOrNan {
  __device__ float operator()(float a, float b) const { return isnan(a) ? a : isnan(b) ? b : fmaxf(a, b); }
};

/// A warp: its lanes own units lane, lane + 32, ... join: every thread gets what all of them combine to, for
/// combinations of which 0 changes nothing.
struct WarpTeam {
  __device__ int64_t first() const { return threadIdx.x % kWarp; }
  __device__ int64_t step() const { return kWarp; }
  template <int kCount, class Combine = Plus>
  __device__ void join(float (&values)[kCount], Combine combine = {}) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = warp_reduce(values[i], combine);
  }
};

/// The block: thread i of n owns units i, i + n, ... All threads call join.
struct BlockTeam {
  static constexpr int kMostSums = 4;
  float* shared;  // kMostSums of every warp

  __device__ int64_t first() const { return threadIdx.x; }
  __device__ int64_t step() const { return blockDim.x; }
  template <int kCount, class Combine = Plus>
  __device__ void join(float (&values)[kCount], Combine combine = {}) const {
    static_assert(kCount <= kMostSums);
    const int warps = static_cast<int>(blockDim.x) / kWarp;
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = warp_reduce(values[i], combine);
      if (lane == 0) shared[i * kWarp + threadIdx.x / kWarp] = values[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      values[i] = warp_reduce(lane < warps ? shared[i * kWarp + lane] : 0.0F, combine);
    __syncthreads();
  }
};

/// A cluster of blocks: thread i of the n of all of them owns units i, i + n, ... All threads call join, and
/// finish once at the end. Numbers are joined in the order of a butterfly over the blocks, in every warp
/// alike.
struct ClusterTeam {
  using Slots = float[2][BlockTeam::kMostSums];  // taken in turn: who writes one has seen all read it

  BlockTeam block;
  Slots& slots;
  mutable int turn = 0;

  __device__ int64_t first() const { return int64_t{cluster_rank()} * blockDim.x + threadIdx.x; }
  __device__ int64_t step() const { return int64_t{cluster_blocks()} * blockDim.x; }
  template <int kCount, class Combine = Plus>
  __device__ void join(float (&values)[kCount], Combine combine = {}) const {
    block.join(values, combine);
    float* own = slots[turn];
    turn = 1 - turn;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      if (threadIdx.x == 0) own[i] = values[i];
    cluster_sync();
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      values[i] = warp_reduce(lane < cluster_blocks() ? *in_block(own + i, lane) : 0.0F, combine);
  }
  /// No block goes while another reads its shared memory.
  __device__ void finish() const { cluster_sync(); }
};

constexpr int64_t kClusterColumns = 6144;  // of a block of a cluster, where it may have fewer blocks
constexpr int64_t kMostBlocks = 8;

/// Blocks of a row of so many columns, more than a block by itself takes; 0: no clusters.
inline int64_t cluster_of(int64_t cols, const CardMachine& card,
                          int64_t by_itself = int64_t{kMostThreads} * kUnit, int64_t each = kClusterColumns) {
  if (cols <= by_itself || !without_clusters(card).empty()) return 0;
  int64_t blocks = 2;
  while (blocks < kMostBlocks && cols > blocks * each) blocks *= 2;
  return blocks;
}

// ---- which kernel ----

template <bool kParallel, class Visit>
void with_form(bool whole, DType src, DType x, Visit&& visit) {
  constexpr DType f32 = DType::f32, f16 = DType::f16, bf16 = DType::bf16;
  const auto as = [&](auto form) {
    if constexpr (kParallel)
      visit(Parallel<decltype(form)>{});
    else
      visit(form);
  };
  if (!whole) return as(Ragged{});
  if (src == f32) return as(Whole<f32, f32>{});
  if (src == f16) return x == f16 ? as(Whole<f16, f16>{}) : as(Whole<f16, f32>{});
  return x == bf16 ? as(Whole<bf16, bf16>{}) : as(Whole<bf16, f32>{});
}

/// Calls with a second source or norm: dropout_norm_parallel.cu.
void run_parallel(const DropoutNorm::Args& args, const Launch& launch);
void run_parallel(const DropoutNormBackward::Args& args, const Launch& launch);

template <class... Pointers>
bool are_aligned(Pointers... pointers) {
  return (is_aligned(pointers) && ...);
}

/// Before the kernels that write some of them.
inline void zero_rows(const Launch& launch, DType dtype, int64_t rows, int64_t cols, void* base) {
  const auto bytes = static_cast<size_t>(rows * cols) * static_cast<size_t>(dtype_info(dtype).block_bytes);
  if (bytes > 0) check(cudaMemsetAsync(base, 0, bytes, stream_of(launch)), "zeroing rows");
}

inline dim3 in_x(int64_t count) { return dim3(static_cast<unsigned>(count)); }
inline int64_t whole_warps(int64_t threads) { return (threads + kWarp - 1) / kWarp * kWarp; }

}  // namespace orrery::kernels::cuda
