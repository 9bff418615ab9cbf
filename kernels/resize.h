// Other sizes of the last dims of a tensor, up to three:
//   dst[p, at] = sum over the taps of each dim of their weights * src[p, tap]
// Place `at` of a dim of `to` elements lies at a coordinate among those of src, of which there are `from`:
//   half_pixel    (at + 1/2) * from / to - 1/2           (centres of elements that have a size)
//   half_pixel_1d as half_pixel, but 0 where to is 1
//   align_corners at * (from - 1) / (to - 1)             (0 where to is 1)
//   asymmetric    at * from / to
// and its taps are
//   nearest       the element that the coordinate is rounded to (Rounding)
//   linear        the elements on either side, 1 - f and f, where f is the coordinate's fraction
//   cubic         two on either side: w(1 + f), w(f), w(1 - f), w(2 - f) of Keys' kernel with a,
//                   w(x) = (a + 2) x^3 - (a + 3) x^2 + 1 to 1, a x^3 - 5 a x^2 + 8 a x - 4 a to 2
// What lies before the first element or after the last counts as that one. A tap of weight 0 is not read.
//   layout: src (planes, src_size), dst (planes, dst_size), without gaps; floats of one type
// What comes back to an element of src is the transposed sum:
//   grad_src[p, e] = sum over the places that have taps at e of their weights' sum * grad_dst[p, place]
// where a sum of 0 is not read either.
// Coordinates are exact fractions, so that every device finds the same taps; sums are float32. Definitions
// are those of ONNX's Resize; Keys, "Cubic convolution interpolation for digital image processing" (1981).
#pragma once

#include "kernels/row.h"
#include "kernels/window.h"

namespace orrery::kernels {

struct Resize {
  static constexpr std::string_view kName = "resize";
  enum class Function : uint8_t { nearest, linear, cubic };
  enum class Coordinates : uint8_t { half_pixel, half_pixel_1d, align_corners, asymmetric };
  enum class Rounded : uint8_t { half_down, half_up, floor, ceil };  // of nearest
  struct Problem {
    Function function = Function::nearest;
    Coordinates coordinates = Coordinates::half_pixel;
    Rounded rounded = Rounded::half_down;
    float cubic = -0.75F;  // a
    DType dtype = DType::f32;
    int64_t planes = 1;  // at most, in a call
    int64_t src_size[kSpatial] = {1, 1, 1}, dst_size[kSpatial] = {1, 1, 1};
  };
  struct Args {
    Problem problem;  // with the planes of the call
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

constexpr int taps_of(Resize::Function function) {
  return function == Resize::Function::nearest ? 1 : function == Resize::Function::linear ? 2 : 4;
}

/// The quotient towards -infinity.
ORRERY_HOST_DEVICE constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Where a place of a dim lies among the elements of src: over / under, as a fraction.
struct ResizeCoordinate {
  int64_t over, under;

  ORRERY_HOST_DEVICE ResizeCoordinate(Resize::Coordinates coordinates, int64_t at, int64_t from, int64_t to) {
    using Coordinates = Resize::Coordinates;
    if (to == 1 && (coordinates == Coordinates::half_pixel_1d || coordinates == Coordinates::align_corners)) {
      over = 0;
      under = 1;
    } else if (coordinates == Coordinates::align_corners) {
      over = at * (from - 1);
      under = to - 1;
    } else if (coordinates == Coordinates::asymmetric) {
      over = at * from;
      under = to;
    } else {
      over = (2 * at + 1) * from - to;
      under = 2 * to;
    }
  }
  ORRERY_HOST_DEVICE int64_t floor() const { return floor_div(over, under); }
  template <class Real>
  ORRERY_HOST_DEVICE Real fraction() const {
    return static_cast<Real>(over - floor() * under) / static_cast<Real>(under);
  }
  ORRERY_HOST_DEVICE int64_t rounded(Resize::Rounded how) const {
    using Rounded = Resize::Rounded;
    if (how == Rounded::floor) return floor();
    if (how == Rounded::ceil) return -floor_div(-over, under);
    if (how == Rounded::half_up) return floor_div(2 * over + under, 2 * under);
    return -floor_div(under - 2 * over, 2 * under);
  }
};

/// The taps of a place of one dim, with weights of Real.
template <class Real>
struct ResizeTaps {
  int64_t first = 0;  // the others follow it; to be held to the dim
  int count = 1;
  Real weight[4] = {1, 0, 0, 0};

  ORRERY_HOST_DEVICE ResizeTaps(const Resize::Problem& problem, int dim, int64_t at) {
    using Function = Resize::Function;
    const ResizeCoordinate where(problem.coordinates, at, problem.src_size[dim], problem.dst_size[dim]);
    if (problem.function == Function::nearest) {
      first = where.rounded(problem.rounded);
      return;
    }
    if (problem.src_size[dim] == problem.dst_size[dim]) {  // of every kind: the element itself
      first = at;
      return;
    }
    const Real f = where.fraction<Real>();
    first = where.floor();
    count = 2;
    weight[0] = 1 - f;
    weight[1] = f;
    if (problem.function == Function::linear) return;
    const auto a = static_cast<Real>(problem.cubic);
    --first;
    count = 4;
    weight[0] = outer(a, 1 + f);
    weight[1] = inner(a, f);
    weight[2] = inner(a, 1 - f);
    weight[3] = outer(a, 2 - f);
    if (f == 0) weight[0] = weight[2] = weight[3] = 0;  // as they are but for rounding
  }
  ORRERY_HOST_DEVICE int64_t element(int tap, int64_t size) const {
    const int64_t at = first + tap;
    return at < 0 ? 0 : at < size ? at : size - 1;
  }

 private:
  ORRERY_HOST_DEVICE static Real inner(Real a, Real x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
  ORRERY_HOST_DEVICE static Real outer(Real a, Real x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }
};

/// The places of a dim of dst that have a tap at an element of src: [begin, end), as no place's taps lie
/// before those of the place before it.
struct ResizeReaders {
  int64_t element, size;  // of src
  int64_t begin, end;

  ORRERY_HOST_DEVICE ResizeReaders(const Resize::Problem& problem, int dim, int64_t of)
      : element(of), size(problem.src_size[dim]), begin(0), end(problem.dst_size[dim]) {
    if (element > 0) begin = places_before(problem, dim, element, true);
    if (element + 1 < size) end = places_before(problem, dim, element + 1, false);
  }
  /// Of all taps of a place that come to be this element.
  template <class Real>
  ORRERY_HOST_DEVICE Real weight(const ResizeTaps<Real>& taps) const {
    Real sum = 0;
    for (int t = 0; t < taps.count; ++t)
      if (taps.element(t, size) == element) sum += taps.weight[t];
    return sum;
  }

 private:
  /// How many places have their last, or their first, tap before `limit`.
  ORRERY_HOST_DEVICE static int64_t places_before(const Resize::Problem& problem, int dim, int64_t limit,
                                                  bool last) {
    int64_t low = 0, high = problem.dst_size[dim];
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const ResizeTaps<float> taps(problem, dim, middle);
      if (taps.first + (last ? taps.count - 1 : 0) < limit)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

struct ResizeBackward {
  static constexpr std::string_view kName = "resize_backward";
  using Problem = Resize::Problem;
  struct Args {
    Problem problem;  // with the planes of the call
    const void* grad_dst = nullptr;
    void* grad_src = nullptr;
  };
};

std::span<const Row<Resize>> resize_rows();
std::span<const Row<ResizeBackward>> resize_backward_rows();
namespace cuda {
std::span<const Row<Resize>> resize_rows();
std::span<const Row<ResizeBackward>> resize_backward_rows();
}  // namespace cuda
namespace ref {
void resize_backward(const ResizeBackward::Args& args, const Launch& launch);
void resize(const Resize::Args& args, const Launch& launch);
std::string legal(const Resize::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
