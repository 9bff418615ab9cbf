// Fastmax and its gradients in float32, score by score (fastmax.h): any type, any head up to 256, rpe.
//   Consumers gather what producers bring them, as on the CPU (cpu/fastmax_head.h): queries from keys, and
//   backward keys from queries.
//   A block of 16 x 16 threads owns kTile consumers x of one head. Producers y come kTile at a time, with
//   what they bring, u: (value, 1) of a key, (g, -g . o) of a query. A thread makes kEach x kEach scores, of
//   consumers ty + 16 r and producers tx + 16 c; they pass through shared memory, and each thread adds up
//   columns tx + 16 c of the results of its consumers.
//     values   sum over y of f(x . y) u            slopes   sum over y of f'(x . y) (u . w) y
//   Rows in shared memory are kDim + 1 long, so that 16 threads at one column of 16 rows find 16 banks.
//   Sums run over producers in their order, in float32: the same bits each time, without atomics.
// Bytes moved: producers once for each kTile consumers.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/fastmax/noise.cuh"
#include "kernels/cuda/fastmax/parts.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::fastmax {
namespace {

constexpr int kSide = 16;

template <int kDim>
constexpr int kTile = kDim > 64 ? 32 : 64;

template <int kDim>
constexpr size_t shared_bytes() {
  return sizeof(float) * (4 * kTile<kDim> * (kDim + 1) + kTile<kDim> * (kTile<kDim> + 1));
}

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

/// The buffers of a block: rows of kDim + 1.
template <int kDim>
struct Shared {
  static constexpr int kPitch = kDim + 1;
  float *x, *w, *y, *u, *weights;

  __device__ explicit Shared(float* memory)
      : x(memory),
        w(x + kTile<kDim> * kPitch),
        y(w + kTile<kDim> * kPitch),
        u(y + kTile<kDim> * kPitch),
        weights(u + kTile<kDim> * kPitch) {}
  __device__ float& weight(int consumer, int producer) const {
    return weights[consumer * (kTile<kDim> + 1) + producer];
  }
};

__device__ inline int thread_number() {
  return static_cast<int>(threadIdx.y) * kSide + static_cast<int>(threadIdx.x);
}

/// kTile tokens from `first` on, zeros behind the last.
template <int kDim, bool kKeys>
__device__ void load_rows(const Tokens<kKeys>& tokens, int64_t first, float* to) {
  const auto dim = static_cast<int>(tokens.call.args.problem.head_dim);
  for (int i = thread_number(); i < kTile<kDim> * kDim; i += kSide * kSide) {
    const int row = i / kDim, d = i % kDim;
    to[row * (kDim + 1) + d] = first + row < tokens.count && d < dim ? tokens.element(first + row, d) : 0.0F;
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

/// Products of rows of two buffers over columns [0, kDepth).
template <int kDim, int kDepth, int kEach>
__device__ void multiply_rows(const float* a, const float* b, float (&sums)[kEach][kEach]) {
#pragma unroll 4
  for (int d = 0; d < kDepth; ++d) {
    float left[kEach], right[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) left[r] = a[(threadIdx.y + kSide * r) * (kDim + 1) + d];
#pragma unroll
    for (int c = 0; c < kEach; ++c) right[c] = b[(threadIdx.x + kSide * c) * (kDim + 1) + d];
#pragma unroll
    for (int r = 0; r < kEach; ++r)
#pragma unroll
      for (int c = 0; c < kEach; ++c) sums[r][c] = fmaf(left[r], right[c], sums[r][c]);
  }
}

/// sums[r][c] += weights of consumer ty + 16 r times column tx + 16 c of the producers' rows; the sums of
/// column kDim, which threads of tx 0 keep.
template <int kDim, int kEach, int kColumns>
__device__ void add_rows(const Shared<kDim>& shared, const float* rows, float (&sums)[kEach][kColumns],
                         float (&last)[kEach]) {
  for (int y = 0; y < kTile<kDim>; ++y) {
    float weight[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) weight[r] = shared.weight(threadIdx.y + kSide * r, y);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float x = rows[y * (kDim + 1) + threadIdx.x + kSide * c];
#pragma unroll
      for (int r = 0; r < kEach; ++r) sums[r][c] = fmaf(weight[r], x, sums[r][c]);
    }
    if (threadIdx.x == 0) {
      const float x = rows[y * (kDim + 1) + kDim];
#pragma unroll
      for (int r = 0; r < kEach; ++r) last[r] = fmaf(weight[r], x, last[r]);
    }
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

/// Values, or slopes: into `sums`. Producers are those of one head.
template <int kDim, bool kOfKeys, bool kSlopes>
__device__ void gather(const Call& call, const Tokens<!kOfKeys>& producers, int64_t first,
                       const Shared<kDim>& shared, Sums<kDim>& sums) {
  constexpr int kEach = Sums<kDim>::kEach, kRows = kTile<kDim>;
  const Seen<kOfKeys> seen(call.args);
  const float a0 = call.args.a0, a1 = call.args.a1, a2 = call.a2();
  for (int64_t from = seen.begin(first, kRows); from < seen.end(first, kRows); from += kRows) {
    __syncthreads();  // all are done with what is overwritten
    load_rows<kDim>(producers, from, shared.y);
    load_brought<kDim>(producers, from, shared.u);
    __syncthreads();
    float scores[kEach][kEach] = {}, slopes[kEach][kEach] = {};
    multiply_rows<kDim, kDim>(shared.x, shared.y, scores);
    if constexpr (kSlopes) multiply_rows<kDim, kDim + 1>(shared.w, shared.u, slopes);
#pragma unroll
    for (int r = 0; r < kEach; ++r)
#pragma unroll
      for (int c = 0; c < kEach; ++c) {
        const int x = static_cast<int>(threadIdx.y) + kSide * r,
                  y = static_cast<int>(threadIdx.x) + kSide * c;
        const float s = scores[r][c];
        const float weight = kSlopes ? fmaf(2 * a2, s, a1) * slopes[r][c] : fmaf(fmaf(a2, s, a1), s, a0);
        shared.weight(x, y) = seen(first + x, from + y) ? weight : 0.0F;
      }
    __syncthreads();
    add_rows(shared, kSlopes ? shared.y : shared.u, sums.values, sums.totals);
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

template <int kDim, bool kBackward>
__global__ void __launch_bounds__(kSide* kSide) queries_kernel(const Call call) {
  constexpr int kEach = Sums<kDim>::kEach, kColumns = Sums<kDim>::kColumns;
  extern __shared__ float memory[];
  pdl_wait();
  const Fastmax::Args& args = call.args;
  const int64_t heads = args.problem.heads, dim = args.problem.head_dim;
  const int64_t first = static_cast<int64_t>(gridDim.x - 1 - blockIdx.x) * kTile<kDim>;  // long ones first
  const Shared<kDim> shared(memory);
  for (int64_t head = blockIdx.y; head < args.batch * heads; head += gridDim.y) {
    const Tokens<false> queries(call, head / heads, head % heads);
    const Tokens<true> keys(call, head / heads, head % heads / group_of(args.problem));
    __syncthreads();
    load_rows<kDim>(queries, first, shared.x);
    Sums<kDim> sums;
    gather<kDim, false, false>(call, keys, first, shared, sums);
    float totals[kEach];
    bool sees[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int64_t x = first + threadIdx.y + kSide * r;
      totals[r] = __shfl_sync(kWholeWarp, sums.totals[r], 0, kSide);
      sees[r] = args.keys > 0 && (!args.problem.causal || x + args.keys - args.queries >= 0);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums.values[r][c] = sees[r] ? sums.values[r][c] / totals[r] : 0.0F;
    }
    const auto row_of = [&](int64_t x) { return head * args.queries + x; };
    if constexpr (!kBackward) {
      const HeadStrides& to = args.out_strides;
      each_result<kDim>(first, args.queries, dim, [&](int64_t x, int r, int64_t d, int c) {
        store_element(args.problem.dtype, sums.values[r][c] * noise_of(args, row_of(x), d), args.out,
                      queries.batch * to.batch + queries.head * to.head + x * to.token + d);
      });
    } else {
      float products[kEach] = {};
      __syncthreads();  // all are done with u
      for (int i = thread_number(); i < kTile<kDim> * (kDim + 1); i += kSide * kSide) shared.w[i] = 0.0F;
      __syncthreads();
      const HeadStrides& from = call.grad_out_strides;
      each_result<kDim>(first, args.queries, dim, [&](int64_t x, int r, int64_t d, int c) {
        const float grad =
            load_element<float>(args.problem.dtype, call.grad_out,
                                queries.batch * from.batch + queries.head * from.head + x * from.token + d);
        const float g = sees[r] ? grad * noise_of(args, row_of(x), d) / totals[r] : 0.0F;
        products[r] += g * sums.values[r][c];
        shared.w[(x - first) * (kDim + 1) + d] = g;
        call.g[row_of(x) * (dim + 1) + d] = g;
      });
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        const float product = sum_of_row(products[r]);
        const int x = static_cast<int>(threadIdx.y) + kSide * r;
        if (threadIdx.x != 0) continue;
        shared.w[x * (kDim + 1) + kDim] = -product;
        if (first + x < args.queries) call.g[row_of(first + x) * (dim + 1) + dim] = -product;
      }
      Sums<kDim> slopes;
      gather<kDim, false, true>(call, keys, first, shared, slopes);
      each_result<kDim>(first, args.queries, dim, [&](int64_t x, int r, int64_t d, int c) {
        call.of_query[row_of(x) * dim + d] = slopes.values[r][c];
      });
    }
  }
}

template <int kDim>
__global__ void __launch_bounds__(kSide* kSide) keys_kernel(const Call call) {
  extern __shared__ float memory[];
  pdl_wait();
  const Fastmax::Args& args = call.args;
  const int64_t kv_heads = args.problem.kv_heads, group = group_of(args.problem), dim = args.problem.head_dim;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile<kDim>;
  const Shared<kDim> shared(memory);
  for (int64_t head = blockIdx.y; head < args.batch * kv_heads; head += gridDim.y) {
    const Tokens<true> keys(call, head / kv_heads, head % kv_heads);
    __syncthreads();
    load_rows<kDim>(keys, first, shared.x);
    load_brought<kDim>(keys, first, shared.w);
    Sums<kDim> values, slopes;
    for (int64_t member = 0; member < group; ++member) {
      const Tokens<false> queries(call, keys.batch, keys.head * group + member);
      gather<kDim, true, false>(call, queries, first, shared, values);
      gather<kDim, true, true>(call, queries, first, shared, slopes);
    }
    each_result<kDim>(first, args.keys, dim, [&](int64_t x, int r, int64_t d, int c) {
      const int64_t at = (head * args.keys + x) * dim + d;
      if (call.grad_value != nullptr)
        store_element(args.problem.dtype, values.values[r][c], call.grad_value, at);
      call.of_key[at] = slopes.values[r][c];
    });
  }
}

// ---- through what rows were multiplied by ----

/// The heads of query or of key.
struct ThroughScale {
  DType dtype;
  const void* rows;
  HeadStrides strides;
  int64_t heads, tokens, dim;
  const Scale* scales;
  const float* gradients;  // (batch, heads, tokens, dim)
  float divisor;
  void* to;
};

constexpr int kThroughThreads = 256;

/// A block a head: sum of gradient . row over all tokens in float64, each thread's own elements in order.
__global__ void __launch_bounds__(kThroughThreads) through_scale_kernel(const ThroughScale through) {
  __shared__ double sums[kWarp];
  pdl_wait();
  const int64_t head = blockIdx.x, elements = through.tokens * through.dim;
  const Scale scale = through.scales[head];
  const int64_t base =
      head / through.heads * through.strides.batch + head % through.heads * through.strides.head;
  const auto row_element = [&](int64_t t, int64_t d) {
    return load_element<float>(through.dtype, through.rows, base + t * through.strides.token + d);
  };
  double all = 0;
  if (scale.longest >= 0)
    for (int64_t i = threadIdx.x; i < elements; i += kThroughThreads)
      all += static_cast<double>(through.gradients[head * elements + i]) *
             row_element(i / through.dim, i % through.dim);
  all = block_reduce(all, 0.0, Plus{}, sums);
  for (int64_t i = threadIdx.x; i < elements; i += kThroughThreads) {
    const int64_t t = i / through.dim;
    float result = through.gradients[head * elements + i] * scale.factor / through.divisor;
    if (t == scale.longest && scale.squares != 0)
      result -= static_cast<float>(scale.factor / scale.squares * all * row_element(t, i % through.dim) /
                                   through.divisor);
    store_element(through.dtype, result, through.to, head * elements + i);
  }
}

/// A thread an element of grad_rpe: the heads in their order.
__global__ void rpe_kernel(const Call call, int64_t rows, void* to) {
  pdl_wait();
  const Fastmax::Args& args = call.args;
  const int64_t dim = args.problem.head_dim, i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= rows * dim) return;
  const int64_t row = i / dim, used = 2 * args.keys - 1;
  float sum = 0;
  if (row < used) {
    const int64_t t = (row + used - args.keys) % used;  // key t reads row (t + keys) mod used
    if (t < args.keys)
      for (int64_t head = 0; head < args.batch * args.problem.kv_heads; ++head)
        sum += call.of_key[(head * args.keys + t) * dim + i % dim];
  }
  store_element(args.problem.dtype, sum, to, i);
}

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

struct GeneralRoom {
  Room room;
  ScaleRoom scales;
  float *g = nullptr, *of_query = nullptr, *of_key = nullptr;

  GeneralRoom(const Fastmax::Problem& problem, bool backward, std::byte* memory)
      : room(memory), scales(problem, room) {
    if (!backward) return;
    const int64_t queries = problem.batch * problem.heads * problem.queries;
    g = room.take<float>(queries * (problem.head_dim + 1));
    of_query = room.take<float>(queries * problem.head_dim);
    of_key = room.take<float>(problem.batch * problem.kv_heads * problem.keys * problem.head_dim);
  }
};

}  // namespace

std::string supports_general(const Fastmax::Problem& problem, const Machine& machine) {
  std::string reason = ref::legal(problem);
  if (!reason.empty()) return reason;
  if (problem.dropping == Fastmax::Dropping::features) return "features are dropped, which it does not make";
  size_t needed = 0;
  with_dim(problem.head_dim, [&]<int kDim>() { needed = shared_bytes<kDim>(); });
  if (needed > machine.card.shared_per_block)
    return "a block needs " + std::to_string(needed / 1024) + " KB of shared memory; the card has " +
           std::to_string(machine.card.shared_per_block / 1024);
  return {};
}

size_t general_workspace(const Fastmax::Problem& problem, const Machine&, int) {
  return GeneralRoom(problem, false, nullptr).room.bytes();
}

void run_general(const Fastmax::Args& args, const Launch& launch) {
  const GeneralRoom room(args.problem, false, launch.workspace);
  find_scales(args, room.scales, false, launch);
  Call call;
  call.args = args;
  call.scales = room.scales.scales;
  with_dim(args.problem.head_dim, [&]<int kDim>() {
    launch_kernel(launch, queries_kernel<kDim, false>,
                  grid_of<kDim>(args.queries, args.batch * args.problem.heads), dim3(kSide, kSide),
                  shared_bytes<kDim>(), call);
  });
}

std::string supports_general_backward(const FastmaxBackward::Problem& problem, const Machine& machine) {
  return supports_general(problem.forward, machine);
}

size_t general_backward_workspace(const FastmaxBackward::Problem& problem, const Machine&, int) {
  return GeneralRoom(problem.forward, true, nullptr).room.bytes();
}

void run_general_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  const Fastmax::Args& forward = args.forward;
  const Fastmax::Problem& problem = forward.problem;
  const int64_t queries = forward.batch * problem.heads, keys = forward.batch * problem.kv_heads;
  const GeneralRoom room(problem, true, launch.workspace);
  find_scales(forward, room.scales, false, launch);
  Call call;
  call.args = forward;
  call.scales = room.scales.scales;
  call.grad_out = args.grad_out;
  call.grad_out_strides = args.grad_out_strides;
  call.g = room.g;
  call.of_query = room.of_query;
  call.of_key = room.of_key;
  call.grad_value = args.grad_value;
  with_dim(problem.head_dim, [&]<int kDim>() {
    launch_kernel(launch, queries_kernel<kDim, true>, grid_of<kDim>(forward.queries, queries),
                  dim3(kSide, kSide), shared_bytes<kDim>(), call);
    launch_kernel(launch, keys_kernel<kDim>, grid_of<kDim>(forward.keys, keys), dim3(kSide, kSide),
                  shared_bytes<kDim>(), call);
  });
  if (args.grad_query != nullptr)
    launch_kernel(
        launch, through_scale_kernel, dim3(static_cast<unsigned>(queries)), dim3(kThroughThreads), 0,
        ThroughScale{problem.dtype, forward.query, forward.query_strides, problem.heads, forward.queries,
                     problem.head_dim, call.scales.of_query, room.of_query, 1.0F, args.grad_query});
  if (args.grad_key != nullptr)
    launch_kernel(
        launch, through_scale_kernel, dim3(static_cast<unsigned>(keys)), dim3(kThroughThreads), 0,
        ThroughScale{problem.dtype, forward.key, forward.key_strides, problem.kv_heads, forward.keys,
                     problem.head_dim, call.scales.of_key, room.of_key, forward.temperature, args.grad_key});
  if (args.grad_rpe != nullptr)
    launch_kernel(launch, rpe_kernel,
                  dim3(static_cast<unsigned>((args.rpe_rows * problem.head_dim + 255) / 256)), dim3(256), 0,
                  call, args.rpe_rows, args.grad_rpe);
}

}  // namespace orrery::kernels::cuda::fastmax
