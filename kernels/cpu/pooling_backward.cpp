// Rows of PoolingBackward (pooling.h). An item is a plane: its elements are converted into the thread's
// memory, where the sums are too; window by window the largest is found again, and what comes back to it is
// added there.
//   workspace  per thread: two planes of float32
//   traffic    src once from memory and once a tap from cache; grad_dst and grad_src once
#include <algorithm>

#include "kernels/cpu/element_runs.h"
#include "kernels/pooling.h"

namespace orrery::kernels {
namespace {

/// The element that a window finds the largest, -1 where it reads none.
int64_t largest_in(const Pooling::Problem& p, const float* plane, const PoolTaps& z, const PoolTaps& y,
                   const PoolTaps& x) {
  const int64_t(&apart)[kSpatial] = p.window.dilation;
  int64_t found = -1;
  float largest = 0;
  for (int64_t kz = z.begin; kz < z.end; ++kz)
    for (int64_t ky = y.begin; ky < y.end; ++ky) {
      const int64_t row =
          ((z.start + kz * apart[0]) * p.src_size[1] + y.start + ky * apart[1]) * p.src_size[2] + x.start;
      for (int64_t kx = x.begin; kx < x.end; ++kx) {
        const int64_t element = row + kx * apart[2];
        const float value = plane[element];
        if (found >= 0 && value == value && !(value > largest)) continue;
        found = element;
        largest = value;
      }
    }
  return found;
}

void one_plane(const PoolingBackward::Args& args, int64_t plane, float* elements, float* sums) {
  const Pooling::Problem& p = args.problem;
  const int64_t count = volume(p.src_size), width = p.dst_size[2];
  load_run(p.dtype, at(p.dtype, args.src, plane * count), 1, count, elements);
  std::fill_n(sums, count, 0.0F);
  int64_t window = plane * volume(p.dst_size);
  for (int64_t z = 0; z < p.dst_size[0]; ++z)
    for (int64_t y = 0; y < p.dst_size[1]; ++y) {
      const PoolTaps deep(p.window, 0, z, p.src_size[0]), high(p.window, 1, y, p.src_size[1]);
      for (int64_t first = 0; first < width; first += kRun) {
        const int64_t n = std::min(kRun, width - first);
        float grad[kRun];
        load_run(p.dtype, at(p.dtype, args.grad_dst, window), 1, n, grad);
        window += n;
        for (int64_t i = 0; i < n; ++i) {
          const PoolTaps wide(p.window, 2, first + i, p.src_size[2]);
          if (const int64_t found = largest_in(p, elements, deep, high, wide); found >= 0)
            sums[found] += grad[i];
        }
      }
    }
  store_run(p.dtype, sums, count, at(p.dtype, args.grad_src, plane * count), 1);
}

void run_planes(const PoolingBackward::Args& args, const Launch& launch) {
  const Pooling::Problem& p = args.problem;
  const int64_t count = volume(p.src_size);
  auto* rooms = reinterpret_cast<float*>(launch.workspace);
  split(launch, p.planes, volume(p.dst_size) * p.window.taps(), [&](int64_t begin, int64_t end, int thread) {
    float* elements = rooms + thread * 2 * count;
    for (int64_t plane = begin; plane < end; ++plane) one_plane(args, plane, elements, elements + count);
  });
}

size_t workspace_of_planes(const PoolingBackward::Problem& problem, const Machine&, int threads) {
  return static_cast<size_t>(std::max(threads, 1) * 2 * volume(problem.src_size)) * sizeof(float);
}

}  // namespace

std::span<const Row<PoolingBackward>> pooling_backward_rows() {
  static const Row<PoolingBackward> rows[] = {
      {.name = "cpu.planes",
       .supports = on_any_machine<PoolingBackward, ref::legal_backward>,
       .run = run_planes,
       .workspace = workspace_of_planes},
      {.name = "cpu.reference",
       .supports = on_any_machine<PoolingBackward, ref::legal_backward>,
       .run = ref::pooling_backward},
  };
  return rows;
}

}  // namespace orrery::kernels
