// Gradients of the largest of windows, reference: float64 sums over a plane, window by window. One thread.
#include <cmath>
#include <vector>

#include "kernels/pooling.h"
#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

/// The element of the plane that a window finds the largest, -1 where it reads none.
int64_t largest_of(const PoolingBackward::Args& args, int64_t plane, const int64_t (&place)[kSpatial]) {
  const Pooling::Problem& p = args.problem;
  const int64_t(&kernel)[kSpatial] = p.window.kernel;
  int64_t found = -1;
  double largest = 0;
  for (int64_t k = 0; k < p.window.taps(); ++k) {
    const int64_t from[kSpatial] = {p.window.reads(0, place[0], k / (kernel[1] * kernel[2]), p.src_size[0]),
                                    p.window.reads(1, place[1], k / kernel[2] % kernel[1], p.src_size[1]),
                                    p.window.reads(2, place[2], k % kernel[2], p.src_size[2])};
    if (from[0] < 0 || from[1] < 0 || from[2] < 0) continue;
    const int64_t element = (from[0] * p.src_size[1] + from[1]) * p.src_size[2] + from[2];
    const double value = real_at(p.dtype, args.src, plane * volume(p.src_size) + element);
    if (found >= 0 && !std::isnan(value) && !(value > largest)) continue;
    found = element;
    largest = value;
  }
  return found;
}

}  // namespace

std::string legal_backward(const PoolingBackward::Problem& problem) {
  if (problem.function != Pooling::Function::max)
    return "the gradients of a mean are a transposed convolution; it takes those of the largest";
  return legal(problem);
}

void pooling_backward(const PoolingBackward::Args& args, const Launch&) {
  const Pooling::Problem& p = args.problem;
  const int64_t elements = volume(p.src_size);
  int64_t window = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane) {
    std::vector<double> sums(static_cast<size_t>(elements));
    for (int64_t z = 0; z < p.dst_size[0]; ++z)
      for (int64_t y = 0; y < p.dst_size[1]; ++y)
        for (int64_t x = 0; x < p.dst_size[2]; ++x, ++window)
          if (const int64_t found = largest_of(args, plane, {z, y, x}); found >= 0)
            sums[static_cast<size_t>(found)] += real_at(p.dtype, args.grad_dst, window);
    for (int64_t i = 0; i < elements; ++i)
      put_real(p.dtype, sums[static_cast<size_t>(i)], args.grad_src, plane * elements + i);
  }
}

}  // namespace orrery::kernels::ref
