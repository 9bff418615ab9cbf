// From the sums of Fastmax's gradients in float32 to the gradients (fastmax.h): through what rows were
// multiplied by, which the longest row decided, and those of rpe, which all heads read. Bytes moved: the sums
// and the operands twice, the gradients once.
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/fastmax/parts.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::fastmax {
namespace {

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
__global__ void rpe_kernel(const Fastmax::Args args, const float* of_key, int64_t rows, void* to) {
  pdl_wait();
  const int64_t dim = args.problem.head_dim, i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= rows * dim) return;
  const int64_t row = i / dim, used = 2 * args.keys - 1;
  float sum = 0;
  if (row < used) {
    const int64_t t = (row + used - args.keys) % used;  // key t reads row (t + keys) mod used
    if (t < args.keys)
      for (int64_t head = 0; head < args.batch * args.problem.kv_heads; ++head)
        sum += of_key[(head * args.keys + t) * dim + i % dim];
  }
  store_element(args.problem.dtype, sum, to, i);
}

}  // namespace

void store_gradients(const FastmaxBackward::Args& args, const Scales& scales, const float* of_query,
                     const float* of_key, const Launch& launch) {
  const Fastmax::Args& forward = args.forward;
  const Fastmax::Problem& problem = forward.problem;
  const auto through = [&](int64_t heads, const ThroughScale& rows) {
    if (rows.to != nullptr)
      launch_kernel(launch, through_scale_kernel, dim3(static_cast<unsigned>(forward.batch * heads)),
                    dim3(kThroughThreads), 0, rows);
  };
  through(problem.heads, {problem.dtype, forward.query, forward.query_strides, problem.heads, forward.queries,
                          problem.head_dim, scales.of_query, of_query, 1.0F, args.grad_query});
  through(problem.kv_heads, {problem.dtype, forward.key, forward.key_strides, problem.kv_heads, forward.keys,
                             problem.head_dim, scales.of_key, of_key, forward.temperature, args.grad_key});
  if (args.grad_rpe != nullptr)
    launch_kernel(launch, rpe_kernel,
                  dim3(static_cast<unsigned>((args.rpe_rows * problem.head_dim + 255) / 256)), dim3(256), 0,
                  forward, of_key, args.rpe_rows, args.grad_rpe);
}

}  // namespace orrery::kernels::cuda::fastmax
