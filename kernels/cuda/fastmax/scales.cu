// What query and key of each batch and head are multiplied by: limit / the length of their longest row.
//   A block takes kScaleTokens tokens of one head, a warp a token; squares are added up in float64, lanes by
//   butterflies. Of equal lengths the first token decides, and NaN is longer than any number, so the order in
//   which blocks and warps end does not matter. A second kernel joins the parts of each head in their order.
// Bytes moved: query and key once.
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/fastmax/parts.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::fastmax {
namespace {

constexpr int kScaleThreads = 256;

/// Whether b takes the place of a, which stands before it or is the same.
__device__ inline bool is_longer(const Scale& b, const Scale& a) {
  if (b.longest < 0) return false;
  if (a.longest < 0 || b.squares > a.squares) return true;
  return isnan(b.squares) && !isnan(a.squares);
}

/// Heads of query, then those of key.
struct HeadRows {
  const void* base;
  int64_t first, stride, tokens;

  __device__ HeadRows(const Fastmax::Args& args, int64_t number) {
    const Fastmax::Problem& problem = args.problem;
    const int64_t queries = args.batch * problem.heads;
    const bool keys = number >= queries;
    const int64_t heads = keys ? problem.kv_heads : problem.heads;
    const HeadStrides& strides = keys ? args.key_strides : args.query_strides;
    if (keys) number -= queries;
    base = keys ? args.key : args.query;
    first = number / heads * strides.batch + number % heads * strides.head;
    stride = strides.token;
    tokens = keys ? args.keys : args.queries;
  }
};

__global__ void __launch_bounds__(kScaleThreads)
    longest_kernel(const Fastmax::Args args, Scale* parts, int64_t count) {
  __shared__ Scale of_warp[kScaleThreads / kWarp];
  pdl_wait();
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const HeadRows rows(args, blockIdx.x);
  const int64_t begin = blockIdx.y * kScaleTokens, end = min(begin + kScaleTokens, rows.tokens);
  Scale best{0, -1, 0};
  for (int64_t t = begin + warp; t < end; t += kScaleThreads / kWarp) {
    double squares = 0;
    for (int64_t d = lane; d < args.problem.head_dim; d += kWarp) {
      const double x = load_element<float>(args.problem.dtype, rows.base, rows.first + t * rows.stride + d);
      squares += x * x;
    }
    const Scale found{warp_reduce(squares, Plus{}), t, 0};
    if (is_longer(found, best)) best = found;
  }
  if (lane == 0) of_warp[warp] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const Scale& other : of_warp) {
    // A warp's tokens do not follow those of the one before it: of equals the first token counts.
    const bool equal =
        other.longest >= 0 && best.longest >= 0 && !is_longer(best, other) && !is_longer(other, best);
    if (is_longer(other, best) || (equal && other.longest < best.longest)) best = other;
  }
  parts[blockIdx.x * count + blockIdx.y] = best;
}

__global__ void join_kernel(const Fastmax::Args args, const Scale* parts, int64_t count, bool measured,
                            Scales scales) {
  pdl_wait();
  const int64_t number = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  const int64_t queries = args.batch * args.problem.heads, keys = args.batch * args.problem.kv_heads;
  if (number >= queries + keys) return;
  Scale best{0, -1, 1.0F};
  if (measured)
    for (int64_t part = 0; part < count; ++part)
      if (is_longer(parts[number * count + part], best)) best = parts[number * count + part];
  if (args.problem.normalise)
    best.factor = best.squares == 0 ? 0.0F : static_cast<float>(args.limit / sqrt(best.squares));
  else
    best.longest = -1, best.factor = 1.0F;
  (number < queries ? scales.of_query[number] : scales.of_key[number - queries]) = best;
}

}  // namespace

void find_scales(const Fastmax::Args& args, const ScaleRoom& room, bool lengths, const Launch& launch) {
  const bool measured = args.problem.normalise || lengths;
  const int64_t heads = args.batch * (args.problem.heads + args.problem.kv_heads);
  const int64_t most = args.queries > args.keys ? args.queries : args.keys;
  const int64_t count = (most + kScaleTokens - 1) / kScaleTokens;
  if (measured)
    launch_kernel(launch, longest_kernel, dim3(static_cast<unsigned>(heads), static_cast<unsigned>(count)),
                  dim3(kScaleThreads), 0, args, room.parts, count);
  launch_kernel(launch, join_kernel, dim3(static_cast<unsigned>((heads + 127) / 128)), dim3(128), 0, args,
                room.parts, count, measured, room.scales);
}

}  // namespace orrery::kernels::cuda::fastmax
