// Pools (pooling.h): dst[p, at] = max, or sum / count, of src[p, at * stride - padding + k * dilation].
//   cuda.windows  a thread owns an element of dst and walks its window. Neighbouring threads own neighbouring
//                 places, so a warp reads a run of src for each tap, and windows that overlap find theirs in
//                 L1.
// Sums are float32 in the order of the taps.
// Preconditions: none but indices of 31 bits.
// Bytes moved: src once from memory, once a tap from L1; dst once.
#include <limits>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/pooling.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
using Function = Pooling::Function;

/// A problem in 32 bits.
struct Windows {
  int kernel[kSpatial], stride[kSpatial], padding[kSpatial], dilation[kSpatial];
  int src[kSpatial], dst[kSpatial], end[kSpatial];  // end: of src with its padding
  bool counts_padding;
  DType dtype;
  const void* from;
  void* to;

  explicit Windows(const Pooling::Args& args)
      : counts_padding(args.problem.counts_padding), dtype(args.problem.dtype), from(args.src), to(args.dst) {
    const Pooling::Problem& p = args.problem;
    for (int d = 0; d < kSpatial; ++d) {
      kernel[d] = static_cast<int>(p.window.kernel[d]);
      stride[d] = static_cast<int>(p.window.stride[d]);
      padding[d] = static_cast<int>(p.window.padding[d]);
      dilation[d] = static_cast<int>(p.window.dilation[d]);
      src[d] = static_cast<int>(p.src_size[d]);
      dst[d] = static_cast<int>(p.dst_size[d]);
      end[d] = static_cast<int>(p.src_size[d] + p.after[d]);
    }
  }
};

/// The taps of one dim of a window that read an element, and how many count.
struct Range {
  int start, begin, end, inside;  // start: where tap 0 lies

  __device__ Range(const Windows& w, int dim, int place) : start(place * w.stride[dim] - w.padding[dim]) {
    const int apart = w.dilation[dim];
    begin = start < 0 ? (-start + apart - 1) / apart : 0;
    end = min(w.kernel[dim], start < w.src[dim] ? (w.src[dim] - 1 - start) / apart + 1 : 0);
    inside = min(w.kernel[dim], start < w.end[dim] ? (w.end[dim] - 1 - start) / apart + 1 : 0);
  }
  __device__ int count() const { return max(end - begin, 0); }
};

template <Function function>
__global__ void __launch_bounds__(kThreads) windows_kernel(const Windows w, int elements) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < elements;
       item += apart) {
    const int at = static_cast<int>(item), row = at / w.dst[2], slice = row / w.dst[1];
    const Range x(w, 2, at % w.dst[2]), y(w, 1, row % w.dst[1]), z(w, 0, slice % w.dst[0]);
    const int plane = slice / w.dst[0] * w.src[0];
    float value = function == Function::max ? -INFINITY : 0.0F;
    for (int kz = z.begin; kz < z.end; ++kz)
      for (int ky = y.begin; ky < y.end; ++ky) {
        const int first =
            ((plane + z.start + kz * w.dilation[0]) * w.src[1] + y.start + ky * w.dilation[1]) * w.src[2] +
            x.start;
        for (int kx = x.begin; kx < x.end; ++kx) {
          const float element = load_element<float>(w.dtype, w.from, first + kx * w.dilation[2]);
          if constexpr (function == Function::max)
            value = element > value || isnan(element) ? element : value;
          else
            value += element;
        }
      }
    if constexpr (function == Function::average)
      value /= static_cast<float>(w.counts_padding ? x.inside * y.inside * z.inside
                                                   : x.count() * y.count() * z.count());
    store_element(w.dtype, value, w.to, at);
  }
}

void run(const Pooling::Args& args, const Launch& launch) {
  const int64_t elements = args.problem.planes * volume(args.problem.dst_size);
  if (elements <= 0) return;
  const dim3 grid = pointwise_grid(elements, kThreads);
  launch_kernel(launch,
                args.problem.function == Function::max ? windows_kernel<Function::max>
                                                       : windows_kernel<Function::average>,
                grid, dim3(kThreads), 0, Windows(args), static_cast<int>(elements));
}

std::string supports(const Pooling::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const int64_t elements :
       {problem.planes * volume(problem.src_size), problem.planes * volume(problem.dst_size)})
    if (elements > kMost) return std::to_string(elements) + " elements; indices have 31 bits";
  for (int d = 0; d < kSpatial; ++d) {
    const int64_t reach = problem.window.padding[d] + problem.window.extent(d) + problem.src_size[d] +
                          problem.after[d] + problem.dst_size[d] * problem.window.stride[d];
    if (reach > kMost) return std::to_string(reach) + " places with their padding; they have 31 bits";
  }
  return {};
}

}  // namespace

std::span<const Row<Pooling>> pooling_rows() {
  static const Row<Pooling> rows[] = {
      {.name = "cuda.windows", .device = DeviceKind::cuda, .supports = supports, .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
