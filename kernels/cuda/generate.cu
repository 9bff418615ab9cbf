// Elements that follow from their place (generate.h).
// A thread owns four neighbouring elements, for which it draws four words at once; groups of four threadIdx.x
// + k gridDim.x blockDim.x. Bytes moved: an element of dst each.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/generate.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__device__ inline void four_of(const Generate::Args& args, int64_t group, float (&four)[4]) {
  if (args.problem.function != Generate::Function::range) return generated_floats(args, group, four);
#pragma unroll
  for (int j = 0; j < 4; ++j) four[j] = in_range<float>(args, group * 4 + j);
}
__device__ inline void four_of(const Generate::Args& args, int64_t group, int64_t (&four)[4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) four[j] = in_range<int64_t>(args, group * 4 + j);
}

template <class T>
__global__ void __launch_bounds__(kThreads) generate_kernel(const Generate::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t groups = (args.count + 3) / 4, step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t group = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; group < groups;
       group += step) {
    T four[4];
    four_of(args, group, four);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (group * 4 + j < args.count) store_element(args.problem.dtype, four[j], args.dst, group * 4 + j);
  }
}

void run(const Generate::Args& args, const Launch& launch) {
  if (args.count <= 0) return;
  const dim3 grid = pointwise_grid(args.count, 4 * kThreads);
  launch_kernel(launch, is_float(args.problem.dtype) ? generate_kernel<float> : generate_kernel<int64_t>,
                grid, dim3(kThreads), 0, args);
}

}  // namespace

std::span<const Row<Generate>> generate_rows() {
  static const Row<Generate> rows[] = {
      {.name = "cuda.generate",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Generate, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
