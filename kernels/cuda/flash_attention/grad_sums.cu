// Before the gradients of attention over tensors: g_i = sum_d grad_out_id out_id, (batch, heads, queries)
// f32.
//   A warp a query; a lane elements lane + 32 k, then by butterflies. Bytes moved: grad_out and out once.
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/flash_attention/backward.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::flash {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    grad_sums_kernel(const FlashAttentionBackward::Args args, int64_t rows, float* sums) {
  pdl_wait();
  const int64_t row = blockIdx.x * static_cast<int64_t>(kThreads / kWarp) + threadIdx.x / kWarp;
  if (row >= rows) return;
  const FlashAttention::Args& forward = args.forward;
  const int64_t query = row % forward.queries, head = row / forward.queries % forward.problem.heads,
                batch = row / forward.queries / forward.problem.heads;
  const auto at = [&](const HeadStrides& strides) {
    return batch * strides.batch + head * strides.head + query * strides.token;
  };
  const DType dtype = forward.problem.dtype;
  const int64_t out = at(forward.out_strides), grad = at(args.grad_out_strides);
  float sum = 0;
  const auto head_dim = static_cast<int>(forward.problem.head_dim);
  for (int d = static_cast<int>(threadIdx.x) % kWarp; d < head_dim; d += kWarp)
    sum = fmaf(load_element<float>(dtype, args.grad_out, grad + d),
               load_element<float>(dtype, forward.out, out + d), sum);
  sum = warp_reduce(sum, Plus{});
  if (threadIdx.x % kWarp == 0) sums[row] = sum;
}

}  // namespace

size_t grad_sums_bytes(const FlashAttentionBackward::Problem& problem, const Machine&, int) {
  const FlashAttention::Problem& forward = problem.forward;
  return sizeof(float) * static_cast<size_t>(forward.batch * forward.heads * forward.queries);
}

void begin_backward(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const FlashAttention::Args& forward = args.forward;
  const int64_t rows = forward.batch * forward.problem.heads * forward.queries;
  if (args.grad_bias != nullptr)
    check(cudaMemsetAsync(args.grad_bias, 0, sizeof(float) * static_cast<size_t>(rows * forward.keys),
                          stream_of(launch)),
          "clearing gradients");
  constexpr int kRows = kThreads / kWarp;
  launch_kernel(launch, grad_sums_kernel, dim3(static_cast<unsigned>((rows + kRows - 1) / kRows)),
                dim3(kThreads), 0, args, rows, reinterpret_cast<float*>(launch.workspace));
}

}  // namespace orrery::kernels::cuda::flash
