// Fastmax and its gradients in float32, score by score (fastmax.h): any type, any head up to 256, rpe.
//   Consumers gather what producers bring them (float_tiles.cuh), as on the CPU (cpu/fastmax_head.h): queries
//   from keys, and backward keys from queries. Scores pass through shared memory.
//     values   sum over y of f(x . y) u            slopes   sum over y of f'(x . y) (u . w) y
//   Sums run over producers in their order, in float32: the same bits each time, without atomics.
// Bytes moved: producers once for each kTile consumers.
#include "kernels/cuda/fastmax/float_tiles.cuh"

namespace orrery::kernels::cuda::fastmax {
namespace {

template <int kDim>
constexpr size_t shared_bytes() {
  return sizeof(float) * (4 * kTile<kDim> * (kDim + 1) + kTile<kDim> * (kTile<kDim> + 1));
}

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
    multiply_rows<kDim + 1, kDim>(shared.x, shared.y, scores);
    if constexpr (kSlopes) multiply_rows<kDim + 1, kDim + 1>(shared.w, shared.u, slopes);
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
    add_rows<kTile<kDim> + 1, 1>(shared.weights, kSlopes ? shared.y : shared.u, sums);
  }
}

template <int kDim, bool kBackward>
__global__ void __launch_bounds__(kSide* kSide) queries_kernel(const Call call) {
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
    const QueryResults<kDim> results(queries, first, sums);
    if constexpr (!kBackward) {
      results.store();
    } else {
      __syncthreads();  // all are done with u
      results.store_brought(shared.w);
      Sums<kDim> slopes;
      gather<kDim, false, true>(call, keys, first, shared, slopes);
      each_result<kDim>(first, args.queries, dim, [&](int64_t x, int r, int64_t d, int c) {
        call.of_query[(head * args.queries + x) * dim + d] = slopes.values[r][c];
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

struct GeneralRoom {
  Room room;
  ScaleRoom scales;

  GeneralRoom(const Fastmax::Problem& problem, std::byte* memory) : room(memory), scales(problem, room) {}
};

struct GeneralGradientRoom : GeneralRoom {
  GradientSums sums;

  GeneralGradientRoom(const Fastmax::Problem& problem, std::byte* memory)
      : GeneralRoom(problem, memory), sums(problem, room) {}
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
  return GeneralRoom(problem, nullptr).room.bytes();
}

void run_general(const Fastmax::Args& args, const Launch& launch) {
  const GeneralRoom room(args.problem, launch.workspace);
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
  return GeneralGradientRoom(problem.forward, nullptr).room.bytes();
}

void run_general_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  const Fastmax::Args& forward = args.forward;
  const Fastmax::Problem& problem = forward.problem;
  const int64_t queries = forward.batch * problem.heads, keys = forward.batch * problem.kv_heads;
  const GeneralGradientRoom room(problem, launch.workspace);
  find_scales(forward, room.scales, false, launch);
  const Call call = gradient_call(args, room.scales.scales, room.sums);
  with_dim(problem.head_dim, [&]<int kDim>() {
    launch_kernel(launch, queries_kernel<kDim, true>, grid_of<kDim>(forward.queries, queries),
                  dim3(kSide, kSide), shared_bytes<kDim>(), call);
    launch_kernel(launch, keys_kernel<kDim>, grid_of<kDim>(forward.keys, keys), dim3(kSide, kSide),
                  shared_bytes<kDim>(), call);
  });
  store_gradients(args, room.scales.scales, room.sums.of_query, room.sums.of_key, launch);
}

}  // namespace orrery::kernels::cuda::fastmax
