// Hann's window (hann.h): dst[i] = sin^2(pi i / m).
//   cuda.sines  a thread owns an element; float64, as windows are short
// Preconditions: none. Bytes moved: dst once.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/hann.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) sines_kernel(const Hann::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const auto period = static_cast<double>(args.periodic ? args.count : args.count - 1);
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < args.count; i += apart) {
    const double sine = sinpi(static_cast<double>(i) / period);
    store_element(args.dtype, args.count == 1 ? 1.0F : static_cast<float>(sine * sine), args.dst, i);
  }
}

void run(const Hann::Args& args, const Launch& launch) {
  if (args.count <= 0) return;
  const dim3 grid = pointwise_grid(args.count, kThreads);
  launch_kernel(launch, sines_kernel, grid, dim3(kThreads), 0, args);
}

}  // namespace

std::span<const Row<Hann>> hann_rows() {
  static const Row<Hann> rows[] = {
      {.name = "cuda.sines",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Hann, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
