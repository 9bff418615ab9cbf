// Before the gradients of attention over tensors: g_i = sum_d grad_out_id out_id, (batch, heads, queries)
// f32.
//   16-bit elements in whole vectors   8, 16 or 32 lanes a query, by its head; 8 elements a lane
//   others                             a warp a query; a lane elements lane + 32 k
//   then by butterflies.
//   Bytes moved: grad_out and out once.
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/flash_attention/backward.h"
#include "kernels/cuda/flash_attention/mma_tile.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda::flash {
namespace {

constexpr int kSumThreads = 256;

__global__ void __launch_bounds__(kSumThreads)
    grad_sums_kernel(const FlashAttentionBackward::Args args, int64_t rows, float* sums) {
  pdl_wait();
  const int64_t row = blockIdx.x * static_cast<int64_t>(kSumThreads / kWarp) + threadIdx.x / kWarp;
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

/// 8 elements each, as they lie.
template <DType kType>
__device__ inline float dot_halves(const uint4& a, const uint4& b, float sum) {
  using Pair = std::conditional_t<kType == DType::f16, __half2, __nv_bfloat162>;
  const uint32_t x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
  const auto two = [](uint32_t bits) {
    Pair pair;
    memcpy(&pair, &bits, sizeof pair);
    if constexpr (kType == DType::f16)
      return __half22float2(pair);
    else
      return __bfloat1622float2(pair);
  };
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 of_x = two(x[i]), of_y = two(y[i]);
    sum = fmaf(of_x.x, of_y.x, sum);
    sum = fmaf(of_x.y, of_y.y, sum);
  }
  return sum;
}

/// `tiles`: blocks for each head.
template <DType kType, int kLanes>
__global__ void __launch_bounds__(kSumThreads)
    vector_sums_kernel(const __grid_constant__ FlashAttentionBackward::Args args, int tiles, float* sums) {
  pdl_wait();
  const FlashAttention::Args& forward = args.forward;
  const Place at(blockIdx.x, tiles, static_cast<int>(forward.problem.heads));
  const auto queries = static_cast<int>(forward.queries);
  const int query = at.tile * (kSumThreads / kLanes) + static_cast<int>(threadIdx.x) / kLanes;
  const int element = static_cast<int>(threadIdx.x) % kLanes * 8;
  float sum = 0;
  if (query < queries && element < static_cast<int>(forward.problem.head_dim)) {
    const auto vector = [&](const void* data, const HeadStrides& strides) {
      const HalfRows rows(data, strides, at.batch, at.head);
      return *reinterpret_cast<const uint4*>(rows.from + query * rows.stride + element);
    };
    sum = dot_halves<kType>(vector(args.grad_out, args.grad_out_strides),
                            vector(forward.out, forward.out_strides), 0.0F);
  }
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  if (threadIdx.x % kLanes == 0 && query < queries)
    sums[(at.batch * forward.problem.heads + at.head) * forward.queries + query] = sum;
}

template <int kLanes>
void start_vector_sums(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const FlashAttention::Args& forward = args.forward;
  const int tiles = tiles_of(forward.queries, kSumThreads / kLanes);
  const auto blocks = static_cast<unsigned>(tiles * forward.problem.heads * forward.batch);
  with_half_type(forward.problem.dtype, [&]<DType kType>() {
    launch_kernel(launch, vector_sums_kernel<kType, kLanes>, dim3(blocks), dim3(kSumThreads), 0, args, tiles,
                  reinterpret_cast<float*>(launch.workspace));
  });
}

void start_sums(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const FlashAttention::Args& forward = args.forward;
  const int64_t head_dim = forward.problem.head_dim;
  if (forward.problem.dtype != DType::f32 && head_dim % 8 == 0 &&
      lies_in_chunks(args.grad_out, args.grad_out_strides) &&
      lies_in_chunks(forward.out, forward.out_strides))
    return head_dim <= 64    ? start_vector_sums<8>(args, launch)
           : head_dim <= 128 ? start_vector_sums<16>(args, launch)
                             : start_vector_sums<32>(args, launch);
  const int64_t rows = forward.batch * forward.problem.heads * forward.queries;
  constexpr int kRows = kSumThreads / kWarp;
  launch_kernel(launch, grad_sums_kernel, dim3(static_cast<unsigned>((rows + kRows - 1) / kRows)),
                dim3(kSumThreads), 0, args, rows, reinterpret_cast<float*>(launch.workspace));
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
  start_sums(args, launch);
}

}  // namespace orrery::kernels::cuda::flash
