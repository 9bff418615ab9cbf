// Gradients of resizes, reference: what each place of dst adds to its taps, in float64. One thread.
#include <vector>

#include "kernels/ref/element.h"
#include "kernels/resize.h"

namespace orrery::kernels::ref {
namespace {

using Taps = ResizeTaps<double>;

/// The taps of a place, those of one element as one.
struct Joined {
  int64_t element[4] = {};
  double weight[4] = {};
  int count = 0;

  Joined(const Taps& taps, int64_t size) {
    for (int t = 0; t < taps.count; ++t) {
      const int64_t of = taps.element(t, size);
      if (count == 0 || element[count - 1] != of) element[count++] = of;
      weight[count - 1] += taps.weight[t];
    }
  }
};

/// A place of a plane gives `grad` to its taps.
void give(const Resize::Problem& p, const Joined& deep, const Joined& high, const Joined& wide, double grad,
          std::vector<double>& sums) {
  for (int z = 0; z < deep.count; ++z)
    for (int y = 0; y < high.count; ++y)
      for (int x = 0; x < wide.count; ++x) {
        const double weight = deep.weight[z] * high.weight[y] * wide.weight[x];
        if (weight == 0) continue;
        const int64_t row = deep.element[z] * p.src_size[1] + high.element[y];
        sums[static_cast<size_t>(row * p.src_size[2] + wide.element[x])] += weight * grad;
      }
}

}  // namespace

void resize_backward(const ResizeBackward::Args& args, const Launch&) {
  const Resize::Problem& p = args.problem;
  const int64_t elements = volume(p.src_size);
  int64_t from = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane) {
    std::vector<double> sums(static_cast<size_t>(elements));
    for (int64_t z = 0; z < p.dst_size[0]; ++z)
      for (int64_t y = 0; y < p.dst_size[1]; ++y)
        for (int64_t x = 0; x < p.dst_size[2]; ++x)
          give(p, Joined(Taps(p, 0, z), p.src_size[0]), Joined(Taps(p, 1, y), p.src_size[1]),
               Joined(Taps(p, 2, x), p.src_size[2]), real_at(p.dtype, args.grad_dst, from++), sums);
    for (int64_t i = 0; i < elements; ++i)
      put_real(p.dtype, sums[static_cast<size_t>(i)], args.grad_src, plane * elements + i);
  }
}

}  // namespace orrery::kernels::ref
