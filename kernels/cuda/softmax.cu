// Softmax over an axis (softmax.h): e^(x - max) / sum, or x - max - log(sum); 0 and its logarithm where all
// is -infinity; src is (outer, count, inner).
//   rows     inner is 1: one block an outer index, a thread owns elements threadIdx.x + k blockDim.x; the row
//            is read three times, from cache after the first
//   columns  else: a thread owns one (outer, inner) pair and walks the axis three times; neighbouring threads
//            read neighbouring elements
// Sums of rows always in one order; of columns in that of the axis. dst may be src: an element is written by
// the thread that read it last.
// Bytes moved: an element of src and of dst each.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/softmax.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__device__ inline float load(const Softmax::Args& args, int64_t at) {
  return load_element<float>(args.dtype, args.src, at);
}

__device__ inline float result(bool log, float x, float largest, float sum) {
  if (largest == -INFINITY) return log ? -INFINITY : 0.0F;
  return log ? x - largest - logf(sum) : expf(x - largest) / sum;
}

__global__ void __launch_bounds__(1024) rows_kernel(const Softmax::Args args) {
  __shared__ float shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t first = blockIdx.x * args.count;
  float largest = -INFINITY;
  for (int64_t c = threadIdx.x; c < args.count; c += blockDim.x)
    largest = fmaxf(largest, load(args, first + c));
  largest = block_reduce(largest, -INFINITY, Larger{}, shared);
  float sum = 0;
  for (int64_t c = threadIdx.x; c < args.count; c += blockDim.x) sum += expf(load(args, first + c) - largest);
  sum = block_reduce(sum, 0.0F, Plus{}, shared);
  for (int64_t c = threadIdx.x; c < args.count; c += blockDim.x)
    store_element(args.dtype, result(args.log, load(args, first + c), largest, sum), args.dst, first + c);
}

__global__ void __launch_bounds__(kThreads) columns_kernel(const Softmax::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < args.outer * args.inner;
       i += step) {
    const int64_t first = i / args.inner * args.count * args.inner + i % args.inner;
    float largest = -INFINITY;
    for (int64_t j = 0; j < args.count; ++j) largest = fmaxf(largest, load(args, first + j * args.inner));
    double sum = 0;
    for (int64_t j = 0; j < args.count; ++j) sum += expf(load(args, first + j * args.inner) - largest);
    for (int64_t j = 0; j < args.count; ++j) {
      const int64_t place = first + j * args.inner;
      store_element(args.dtype, result(args.log, load(args, place), largest, static_cast<float>(sum)),
                    args.dst, place);
    }
  }
}

void run(const Softmax::Args& args, const Launch& launch) {
  if (args.outer <= 0 || args.count <= 0 || args.inner <= 0) return;
  if (args.inner == 1) {
    const int64_t threads = std::clamp<int64_t>((args.count / 2 + kWarp - 1) / kWarp * kWarp, kWarp, 1024);
    return launch_kernel(launch, rows_kernel, dim3(static_cast<unsigned>(args.outer)),
                         dim3(static_cast<unsigned>(threads)), 0, args);
  }
  const dim3 grid = pointwise_grid(args.outer * args.inner, kThreads);
  launch_kernel(launch, columns_kernel, grid, dim3(kThreads), 0, args);
}

}  // namespace

std::span<const Row<Softmax>> softmax_rows() {
  static const Row<Softmax> rows[] = {
      {.name = "cuda.softmax",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Softmax, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
