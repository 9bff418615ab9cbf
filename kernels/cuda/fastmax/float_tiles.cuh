// What the kernels of Fastmax in float32 are made of: the tokens of a head as the formula has them, rows of
// them in shared memory, products of such rows, and what becomes of a query's sums.
//   A block of 16 x 16 threads owns kTile consumers x of one head. Producers y come kTile at a time, with
//   what they bring, u: (value, 1) of a key, (g, -g . o) of a query. A thread makes kEach x kEach products of
//   consumers ty + 16 r and producers tx + 16 c, and adds up columns tx + 16 c of the results of its
//   consumers; threads of tx 0 have their last column too.
//   Rows in shared memory are kDim + 1 long, so that 16 threads at one column of 16 rows find 16 banks.
#pragma once

#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/fastmax/noise.cuh"
#include "kernels/cuda/fastmax/parts.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::fastmax {

constexpr int kSide = 16;

template <int kDim>
constexpr int kTile = kDim > 64 ? 32 : 64;

/// One call.
struct Call {
  Fastmax::Args args;
  Scales scales;
  // Backward, all float32 without gaps.
  const void* grad_out = nullptr;
  HeadStrides grad_out_strides;
  float* g = nullptr;         // (batch, heads, queries, head_dim + 1): g and -g . o
  float* of_query = nullptr;  // e
  float* of_key = nullptr;    // h
  void* grad_value = nullptr;

  __device__ float a2() const { return args.problem.p == 2 ? args.a2 : 0.0F; }
};

/// The tokens of one head.
template <bool kKeys>
struct Tokens {
  const Call& call;
  int64_t batch, head, count;

  __device__ Tokens(const Call& of, int64_t batch_of, int64_t head_of)
      : call(of), batch(batch_of), head(head_of), count(kKeys ? of.args.keys : of.args.queries) {}
  __device__ int64_t number() const {
    return batch * (kKeys ? call.args.problem.kv_heads : call.args.problem.heads) + head;
  }
  /// Element d of a token as the formula has it.
  __device__ float element(int64_t t, int64_t d) const {
    const Fastmax::Args& args = call.args;
    const DType dtype = args.problem.dtype;
    const HeadStrides& strides = kKeys ? args.key_strides : args.query_strides;
    const float x = load_element<float>(dtype, kKeys ? args.key : args.query,
                                        batch * strides.batch + head * strides.head + t * strides.token + d);
    if (!kKeys) return x * call.scales.of_query[number()].factor;
    const float scaled = x * (call.scales.of_key[number()].factor / args.temperature);
    if (args.rpe == nullptr) return scaled;
    const int64_t row = (t + args.keys) % (2 * args.keys - 1);
    return scaled + load_element<float>(dtype, args.rpe, row * args.problem.head_dim + d);
  }
  /// Of u; column head_dim is its last.
  __device__ float brought(int64_t t, int64_t d) const {
    const Fastmax::Args& args = call.args;
    const int64_t dim = args.problem.head_dim;
    if (!kKeys) return call.g[(number() * count + t) * (dim + 1) + d];
    const HeadStrides& strides = args.value_strides;
    return d == dim
               ? 1.0F
               : load_element<float>(args.problem.dtype, args.value,
                                     batch * strides.batch + head * strides.head + t * strides.token + d);
  }
};

__device__ inline int thread_number() {
  return static_cast<int>(threadIdx.y) * kSide + static_cast<int>(threadIdx.x);
}

/// kTile tokens from `first` on, zeros after the last; column kDim is one.
template <int kDim, bool kKeys>
__device__ void load_rows(const Tokens<kKeys>& tokens, int64_t first, float* to) {
  const auto dim = static_cast<int>(tokens.call.args.problem.head_dim);
  for (int i = thread_number(); i < kTile<kDim> * (kDim + 1); i += kSide * kSide) {
    const int row = i / (kDim + 1), d = i % (kDim + 1);
    const bool there = first + row < tokens.count && d < dim;
    to[i] = d == kDim ? 1.0F : there ? tokens.element(first + row, d) : 0.0F;
  }
}
/// What they bring; their last number goes to column kDim.
template <int kDim, bool kKeys>
__device__ void load_brought(const Tokens<kKeys>& tokens, int64_t first, float* to) {
  const auto dim = static_cast<int>(tokens.call.args.problem.head_dim);
  for (int i = thread_number(); i < kTile<kDim> * (kDim + 1); i += kSide * kSide) {
    const int row = i / (kDim + 1), d = i % (kDim + 1);
    const int from = d == kDim ? dim : d;
    const bool there = first + row < tokens.count && (d == kDim || d < dim);
    to[i] = there ? tokens.brought(first + row, from) : 0.0F;
  }
}

/// Which producers a chunk of consumers sees: [begin, end), and which of them each consumer does.
template <bool kOfKeys>
struct Seen {
  bool causal;
  int64_t ahead, producers;  // a query sees keys up to its place + ahead

  __device__ explicit Seen(const Fastmax::Args& args)
      : causal(args.problem.causal),
        ahead(args.keys - args.queries),
        producers(kOfKeys ? args.queries : args.keys) {}
  __device__ int64_t begin(int64_t first, int tile) const {
    return kOfKeys && causal ? max(int64_t{0}, first - ahead) / tile * tile : 0;
  }
  __device__ int64_t end(int64_t first, int tile) const {
    return !kOfKeys && causal ? min(producers, first + tile + ahead) : producers;
  }
  __device__ bool operator()(int64_t consumer, int64_t producer) const {
    if (producer >= producers) return false;
    return !causal || (kOfKeys ? consumer <= producer + ahead : producer <= consumer + ahead);
  }
};

/// What a block's threads have added up.
template <int kDim>
struct Sums {
  static constexpr int kEach = kTile<kDim> / kSide, kColumns = kDim / kSide;
  float values[kEach][kColumns] = {};
  float totals[kEach] = {};  // of threads of tx 0
};

/// Products of rows ty + 16 r of one buffer and tx + 16 c of another over columns [0, kDepth); kPitch from
/// row to row in both.
template <int kPitch, int kDepth, int kEach>
__device__ void multiply_rows(const float* a, const float* b, float (&sums)[kEach][kEach]) {
#pragma unroll 4
  for (int d = 0; d < kDepth; ++d) {
    float left[kEach], right[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) left[r] = a[(threadIdx.y + kSide * r) * kPitch + d];
#pragma unroll
    for (int c = 0; c < kEach; ++c) right[c] = b[(threadIdx.x + kSide * c) * kPitch + d];
#pragma unroll
    for (int r = 0; r < kEach; ++r)
#pragma unroll
      for (int c = 0; c < kEach; ++c) sums[r][c] = fmaf(left[r], right[c], sums[r][c]);
  }
}

/// sums.values[r][c] += weight of ty + 16 r and i, times column tx + 16 c of row i, over kTile rows; totals
/// of column kDim. A weight lies at its own row times kOwn plus i times kOther.
template <int kOwn, int kOther, int kDim>
__device__ void add_rows(const float* weights, const float* rows, Sums<kDim>& sums) {
  constexpr int kEach = Sums<kDim>::kEach, kColumns = Sums<kDim>::kColumns;
  for (int i = 0; i < kTile<kDim>; ++i) {
    float weight[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) weight[r] = weights[(threadIdx.y + kSide * r) * kOwn + i * kOther];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float x = rows[i * (kDim + 1) + threadIdx.x + kSide * c];
#pragma unroll
      for (int r = 0; r < kEach; ++r) sums.values[r][c] = fmaf(weight[r], x, sums.values[r][c]);
    }
    if (threadIdx.x == 0) {
      const float x = rows[i * (kDim + 1) + kDim];
#pragma unroll
      for (int r = 0; r < kEach; ++r) sums.totals[r] = fmaf(weight[r], x, sums.totals[r]);
    }
  }
}

/// visit(consumer, r, column, c) of the results of this thread that are there.
template <int kDim, class Visit>
__device__ void each_result(int64_t first, int64_t count, int64_t dim, const Visit& visit) {
  constexpr int kEach = Sums<kDim>::kEach, kColumns = Sums<kDim>::kColumns;
#pragma unroll
  for (int r = 0; r < kEach; ++r)
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int64_t x = first + threadIdx.y + kSide * r, d = threadIdx.x + kSide * c;
      if (x < count && d < dim) visit(x, r, d, c);
    }
}

/// kDim elements of each of some rows added up by the 16 threads of a row, in the order of their butterflies.
__device__ inline float sum_of_row(float x) {
#pragma unroll
  for (int step = kSide / 2; step > 0; step /= 2) x += __shfl_xor_sync(kWholeWarp, x, step, kSide);
  return x;
}

/// From the values that queries gathered to their results.
template <int kDim>
class QueryResults {
 public:
  static constexpr int kEach = Sums<kDim>::kEach, kColumns = Sums<kDim>::kColumns;

  __device__ QueryResults(const Tokens<false>& queries, int64_t first, Sums<kDim>& sums)
      : queries_(queries), args_(queries.call.args), first_(first), sums_(sums) {
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int64_t x = first + threadIdx.y + kSide * r;
      totals_[r] = __shfl_sync(kWholeWarp, sums.totals[r], 0, kSide);
      sees_[r] = args_.keys > 0 && (!args_.problem.causal || x + args_.keys - args_.queries >= 0);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums.values[r][c] = sees_[r] ? sums.values[r][c] / totals_[r] : 0.0F;
    }
  }
  __device__ void store() const {
    const HeadStrides& to = args_.out_strides;
    each_result<kDim>(first_, args_.queries, args_.problem.head_dim, [&](int64_t x, int r, int64_t d, int c) {
      store_element(args_.problem.dtype, sums_.values[r][c] * noise_of(args_, row_of(x), d), args_.out,
                    queries_.batch * to.batch + queries_.head * to.head + x * to.token + d);
    });
  }
  /// g and -g . o: to memory, and as rows to `w`, which all threads are done with.
  __device__ void store_brought(float* w) const {
    const Call& call = queries_.call;
    const int64_t dim = args_.problem.head_dim;
    float products[kEach] = {};
    for (int i = thread_number(); i < kTile<kDim> * (kDim + 1); i += kSide * kSide) w[i] = 0.0F;
    __syncthreads();
    const HeadStrides& from = call.grad_out_strides;
    each_result<kDim>(first_, args_.queries, dim, [&](int64_t x, int r, int64_t d, int c) {
      const float grad =
          load_element<float>(args_.problem.dtype, call.grad_out,
                              queries_.batch * from.batch + queries_.head * from.head + x * from.token + d);
      const float g = sees_[r] ? grad * noise_of(args_, row_of(x), d) / totals_[r] : 0.0F;
      products[r] += g * sums_.values[r][c];
      w[(x - first_) * (kDim + 1) + d] = g;
      call.g[row_of(x) * (dim + 1) + d] = g;
    });
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const float product = sum_of_row(products[r]);
      const int x = static_cast<int>(threadIdx.y) + kSide * r;
      if (threadIdx.x != 0) continue;
      w[x * (kDim + 1) + kDim] = -product;
      if (first_ + x < args_.queries) call.g[row_of(first_ + x) * (dim + 1) + dim] = -product;
    }
  }

 private:
  __device__ int64_t row_of(int64_t x) const { return queries_.number() * args_.queries + x; }

  const Tokens<false>& queries_;
  const Fastmax::Args& args_;
  int64_t first_;
  Sums<kDim>& sums_;
  float totals_[kEach];
  bool sees_[kEach];
};

// ---- launches ----

template <class Function>
void with_dim(int64_t dim, Function&& function) {
  if (dim <= 32) return function.template operator()<32>();
  if (dim <= 64) return function.template operator()<64>();
  if (dim <= 128) return function.template operator()<128>();
  function.template operator()<256>();
}

template <int kDim>
dim3 grid_of(int64_t tokens, int64_t heads) {
  return dim3(static_cast<unsigned>((tokens + kTile<kDim> - 1) / kTile<kDim>),
              static_cast<unsigned>(std::min<int64_t>(heads, 65535)));
}

/// Of a workspace: what gradients in float32 go through.
struct GradientSums {
  float *g, *of_query, *of_key;

  GradientSums(const Fastmax::Problem& problem, Room& room) {
    const int64_t queries = problem.batch * problem.heads * problem.queries;
    g = room.take<float>(queries * (problem.head_dim + 1));
    of_query = room.take<float>(queries * problem.head_dim);
    of_key = room.take<float>(problem.batch * problem.kv_heads * problem.keys * problem.head_dim);
  }
};

inline Call gradient_call(const FastmaxBackward::Args& args, const Scales& scales, const GradientSums& sums) {
  Call call;
  call.args = args.forward;
  call.scales = scales;
  call.grad_out = args.grad_out;
  call.grad_out_strides = args.grad_out_strides;
  call.g = sums.g;
  call.of_query = sums.of_query;
  call.of_key = sums.of_key;
  call.grad_value = args.grad_value;
  return call;
}

}  // namespace orrery::kernels::cuda::fastmax
