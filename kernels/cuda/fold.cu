// Sums of windows that overlap (fold.h): dst[n, c, q] = sum over k of src[n, c, k, p(q, k)].
//   cuda.taps  a thread owns an element of dst and walks the taps of the windows that cover it: no atomics,
//   so
//              sums have one order. Neighbouring threads read neighbouring places where the stride is 1.
// Preconditions: those of ref::legal. Bytes moved: src once, dst once.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/fold.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) fold_kernel(const Fold::Args args, int64_t elements) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Fold::Problem& p = args.problem;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads, places = volume(p.places);
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < elements;
       item += apart) {
    const int64_t row = item / p.size[2], slice = row / p.size[1], plane = slice / p.size[0];
    int64_t from = plane * p.window.taps() * places;
    float sum = 0;
    for (int64_t kz = 0; kz < p.window.kernel[0]; ++kz) {
      const int64_t z = p.window.read_by(0, slice % p.size[0], kz, p.places[0]);
      for (int64_t ky = 0; ky < p.window.kernel[1]; ++ky) {
        const int64_t y = p.window.read_by(1, row % p.size[1], ky, p.places[1]);
        for (int64_t kx = 0; kx < p.window.kernel[2]; ++kx, from += places) {
          const int64_t x = p.window.read_by(2, item % p.size[2], kx, p.places[2]);
          if (z < 0 || y < 0 || x < 0) continue;
          sum += load_element<float>(p.dtype, args.src, from + (z * p.places[1] + y) * p.places[2] + x);
        }
      }
    }
    store_element(p.dtype, sum, args.dst, item);
  }
}

void run(const Fold::Args& args, const Launch& launch) {
  const int64_t elements = args.problem.planes * volume(args.problem.size);
  if (elements <= 0) return;
  const dim3 grid = pointwise_grid(elements, kThreads);
  launch_kernel(launch, fold_kernel, grid, dim3(kThreads), 0, args, elements);
}

}  // namespace

std::span<const Row<Fold>> fold_rows() {
  static const Row<Fold> rows[] = {
      {.name = "cuda.taps",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Fold, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
