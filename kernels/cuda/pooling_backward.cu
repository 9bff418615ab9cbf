// Gradients of the largest of windows (pooling.h):
//   cuda.places  a thread owns a window and writes down where its largest element lies: (planes, dst_size)
//   i32
//                in the workspace, -1 for none. Then a thread owns an element of src and adds up, in the
//                order of the windows, what comes back to those that read it and found it: no atomics, so the
//                same bits each time. Neighbouring threads own neighbouring places, whose windows overlap in
//                L1.
// Preconditions: those of ref::legal_backward, and planes whose places fit into 31 bits.
// Bytes moved: src, grad_dst and grad_src once from memory, the places twice; from L1 once a tap.
#include <limits>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/pooling.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    find_largest_kernel(const PoolingBackward::Args args, int32_t* places, int64_t windows) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Pooling::Problem& p = args.problem;
  const int64_t(&apart)[kSpatial] = p.window.dilation;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < windows;
       item += threads) {
    const int64_t row = item / p.dst_size[2], slice = row / p.dst_size[1];
    const PoolTaps x(p.window, 2, item % p.dst_size[2], p.src_size[2]),
        y(p.window, 1, row % p.dst_size[1], p.src_size[1]),
        z(p.window, 0, slice % p.dst_size[0], p.src_size[0]);
    const int64_t plane = slice / p.dst_size[0] * volume(p.src_size);
    int64_t found = -1;
    float largest = 0;
    for (int64_t kz = z.begin; kz < z.end; ++kz)
      for (int64_t ky = y.begin; ky < y.end; ++ky) {
        const int64_t first =
            ((z.start + kz * apart[0]) * p.src_size[1] + y.start + ky * apart[1]) * p.src_size[2] + x.start;
        for (int64_t kx = x.begin; kx < x.end; ++kx) {
          const int64_t element = first + kx * apart[2];
          const float value = load_element<float>(p.dtype, args.src, plane + element);
          if (found >= 0 && !isnan(value) && !(value > largest)) continue;
          found = element;
          largest = value;
        }
      }
    places[item] = static_cast<int32_t>(found);
  }
}

/// Taps from the last to the first are windows from the first to the last.
__global__ void __launch_bounds__(kThreads)
    add_found_kernel(const PoolingBackward::Args args, const int32_t* places, int64_t elements) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Pooling::Problem& p = args.problem;
  const Window& window = p.window;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < elements;
       item += threads) {
    const int64_t row = item / p.src_size[2], slice = row / p.src_size[1], plane = slice / p.src_size[0];
    const int64_t x = item % p.src_size[2], y = row % p.src_size[1], z = slice % p.src_size[0];
    const int64_t own = item - plane * volume(p.src_size);
    float sum = 0;
    for (int64_t kz = window.kernel[0] - 1; kz >= 0; --kz) {
      const int64_t deep = window.read_by(0, z, kz, p.dst_size[0]);
      if (deep < 0) continue;
      for (int64_t ky = window.kernel[1] - 1; ky >= 0; --ky) {
        const int64_t high = window.read_by(1, y, ky, p.dst_size[1]);
        if (high < 0) continue;
        const int64_t first = ((plane * p.dst_size[0] + deep) * p.dst_size[1] + high) * p.dst_size[2];
        for (int64_t kx = window.kernel[2] - 1; kx >= 0; --kx) {
          const int64_t wide = window.read_by(2, x, kx, p.dst_size[2]);
          if (wide >= 0 && places[first + wide] == own)
            sum += load_element<float>(p.dtype, args.grad_dst, first + wide);
        }
      }
    }
    store_element(p.dtype, sum, args.grad_src, item);
  }
}

size_t workspace(const PoolingBackward::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(problem.planes * volume(problem.dst_size)) * sizeof(int32_t);
}

void run(const PoolingBackward::Args& args, const Launch& launch) {
  const int64_t windows = args.problem.planes * volume(args.problem.dst_size),
                elements = args.problem.planes * volume(args.problem.src_size);
  if (elements <= 0) return;
  const auto grid = [](int64_t items) { return pointwise_grid(items, kThreads); };
  auto* places = reinterpret_cast<int32_t*>(launch.workspace);
  launch_kernel(launch, find_largest_kernel, grid(windows), dim3(kThreads), 0, args, places, windows);
  launch_kernel(launch, add_found_kernel, grid(elements), dim3(kThreads), 0, args,
                static_cast<const int32_t*>(places), elements);
}

std::string supports(const PoolingBackward::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal_backward(problem); !reason.empty()) return reason;
  if (volume(problem.src_size) > std::numeric_limits<int32_t>::max())
    return std::to_string(volume(problem.src_size)) + " elements of a plane; their places have 31 bits";
  return {};
}

}  // namespace

std::span<const Row<PoolingBackward>> pooling_backward_rows() {
  static const Row<PoolingBackward> rows[] = {
      {.name = "cuda.places",
       .device = DeviceKind::cuda,
       .supports = supports,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
