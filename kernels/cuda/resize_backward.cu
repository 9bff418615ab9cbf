// Gradients of resizes (resize.h): grad_src[p, e] = sum of the weights of e's places * grad_dst[p, place].
//   cuda.readers  a thread owns an element of src, finds the places that have a tap at it by halving in each
//                 dim, and adds up their products in their order: no atomics, so the same bits each time.
//                 Neighbouring threads own neighbouring elements, whose places are neighbours too.
// Sums are float32. Preconditions: those of ref::legal.
// Bytes moved: grad_dst once from memory, once a tap from L1; grad_src once.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/resize.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    readers_kernel(const ResizeBackward::Args args, int64_t elements) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Resize::Problem& p = args.problem;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < elements;
       item += apart) {
    const int64_t row = item / p.src_size[2], slice = row / p.src_size[1], plane = slice / p.src_size[0];
    const ResizeReaders wide(p, 2, item % p.src_size[2]), high(p, 1, row % p.src_size[1]),
        deep(p, 0, slice % p.src_size[0]);
    float sum = 0;
    for (int64_t z = deep.begin; z < deep.end; ++z) {
      const float of_depth = deep.weight(ResizeTaps<float>(p, 0, z));
      for (int64_t y = high.begin; y < high.end; ++y) {
        const float of_row = of_depth * high.weight(ResizeTaps<float>(p, 1, y));
        if (of_row == 0) continue;
        const int64_t from = ((plane * p.dst_size[0] + z) * p.dst_size[1] + y) * p.dst_size[2];
        float mixed = 0;
        for (int64_t x = wide.begin; x < wide.end; ++x) {
          const float weight = wide.weight(ResizeTaps<float>(p, 2, x));
          if (weight != 0) mixed += weight * load_element<float>(p.dtype, args.grad_dst, from + x);
        }
        sum += of_row * mixed;
      }
    }
    store_element(p.dtype, sum, args.grad_src, item);
  }
}

void run(const ResizeBackward::Args& args, const Launch& launch) {
  const int64_t elements = args.problem.planes * volume(args.problem.src_size);
  if (elements <= 0) return;
  const dim3 grid = pointwise_grid(elements, kThreads);
  launch_kernel(launch, readers_kernel, grid, dim3(kThreads), 0, args, elements);
}

}  // namespace

std::span<const Row<ResizeBackward>> resize_backward_rows() {
  static const Row<ResizeBackward> rows[] = {
      {.name = "cuda.readers",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<ResizeBackward, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
