// Resizes (resize.h): dst[p, at] = sum of the weights of the taps * src[p, tap].
//   cuda.taps  a thread owns an element of dst, finds its taps in each dim from exact fractions of whole
//              numbers, and adds up to 64 products. Neighbouring threads own neighbouring places, whose taps
//              are neighbours too.
// Sums are float32, rows first, then depths.
// Preconditions: those of ref::legal. Bytes moved: src once from memory, once a tap from L1; dst once.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/resize.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) taps_kernel(const Resize::Args args, int64_t elements) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Resize::Problem& p = args.problem;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < elements;
       item += apart) {
    const int64_t row = item / p.dst_size[2], slice = row / p.dst_size[1], plane = slice / p.dst_size[0];
    const ResizeTaps<float> wide(p, 2, item % p.dst_size[2]), high(p, 1, row % p.dst_size[1]),
        deep(p, 0, slice % p.dst_size[0]);
    float sum = 0;
    for (int x = 0; x < wide.count; ++x) {
      if (wide.weight[x] == 0) continue;
      const int64_t column = wide.element(x, p.src_size[2]);
      float mixed = 0;
      for (int z = 0; z < deep.count; ++z)
        for (int y = 0; y < high.count; ++y) {
          const float weight = deep.weight[z] * high.weight[y];
          if (weight == 0) continue;
          const int64_t from = (plane * p.src_size[0] + deep.element(z, p.src_size[0])) * p.src_size[1] +
                               high.element(y, p.src_size[1]);
          mixed += weight * load_element<float>(p.dtype, args.src, from * p.src_size[2] + column);
        }
      sum += wide.weight[x] * mixed;
    }
    store_element(p.dtype, sum, args.dst, item);
  }
}

void run(const Resize::Args& args, const Launch& launch) {
  const int64_t elements = args.problem.planes * volume(args.problem.dst_size);
  if (elements <= 0) return;
  const dim3 grid = pointwise_grid(elements, kThreads);
  launch_kernel(launch, taps_kernel, grid, dim3(kThreads), 0, args, elements);
}

}  // namespace

std::span<const Row<Resize>> resize_rows() {
  static const Row<Resize> rows[] = {
      {.name = "cuda.taps",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Resize, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
