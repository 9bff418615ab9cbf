// Reductions over one dim of (outer, count, inner): dst (outer, inner) = f over the elements of src along
// count.
//   sum prod    floats in float64, rounded once; whole numbers in 64 bits, of which dst keeps the low ones
//   mean        of floats: sum / count
//   max min     NaN where there is one                argmax argmin   the first place of it; the first NaN's
// Of no element: 0, 1, NaN, the type's lowest or highest, place 0.
//   layout: src and dst without gaps
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/row.h"

namespace orrery::kernels {

struct Reduce {
  static constexpr std::string_view kName = "reduce";
  enum class Function : uint8_t { sum, mean, prod, max, min, argmax, argmin };
  struct Problem {
    Function function = Function::sum;
    DType src = DType::f32, dst = DType::f32;
  };
  struct Args {
    Problem problem;
    int64_t outer = 0, count = 0, inner = 0;
    const void* src = nullptr;
    void* dst = nullptr;
  };
};
inline constexpr std::string_view kReduceNames[] = {"sum", "mean", "prod", "max", "min", "argmax", "argmin"};

ORRERY_HOST_DEVICE constexpr bool gives_place(Reduce::Function function) {
  return function == Reduce::Function::argmax || function == Reduce::Function::argmin;
}

/// What some elements come to. T: float, or double for the reference; int64_t of whole numbers and bools.
template <Reduce::Function kFunction, class T>
struct Reduced {
  using F = Reduce::Function;
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;  // overflow wraps
  static constexpr bool kAdds = kFunction == F::sum || kFunction == F::mean;
  static constexpr bool kChooses = !kAdds && kFunction != F::prod;
  static constexpr bool kLargest = kFunction == F::max || kFunction == F::argmax;

  Wide total = kAdds ? 0 : 1;
  T best = 0;
  int64_t place = -1;  // of best; -1: there is none

  ORRERY_HOST_DEVICE_INLINE void take(T x, int64_t at) {
    if constexpr (kAdds) {
      total += static_cast<Wide>(x);
    } else if constexpr (kFunction == F::prod) {
      total *= static_cast<Wide>(x);
    } else if (place < 0 || beats(x, at, best, place)) {
      best = x;
      place = at;
    }
  }
  ORRERY_HOST_DEVICE_INLINE void join(const Reduced& other) {
    if constexpr (kAdds) {
      total += other.total;
    } else if constexpr (kFunction == F::prod) {
      total *= other.total;
    } else if (other.place >= 0) {
      take(other.best, other.place);
    }
  }
  /// A number, or the place of one.
  ORRERY_HOST_DEVICE_INLINE auto result([[maybe_unused]] int64_t count) const {
    if constexpr (gives_place(kFunction))
      return place < 0 ? int64_t{0} : place;
    else if constexpr (kFunction == F::mean)
      return static_cast<T>(static_cast<double>(total) / static_cast<double>(count));
    else if constexpr (kChooses)
      return place < 0 ? nothing() : best;
    else
      return static_cast<T>(total);
  }

 private:
  ORRERY_HOST_DEVICE_INLINE static bool beats(T x, int64_t at, T y, int64_t there) {
    const bool x_is_nan = x != x, y_is_nan = y != y;
    if (x_is_nan || y_is_nan) return x_is_nan && (!y_is_nan || at < there);
    if (x == y) return at < there;
    return kLargest ? x > y : x < y;
  }
  ORRERY_HOST_DEVICE_INLINE static T nothing() {
    if constexpr (std::is_integral_v<T>)
      return kLargest ? INT64_MIN : INT64_MAX;
    else
      return kLargest ? -HUGE_VALF : HUGE_VALF;
  }
};

/// Calls visit(constant) with the function as a constant.
template <class Visit>
void with_reduce_function(Reduce::Function function, Visit&& visit) {
  using F = Reduce::Function;
  switch (function) {
    case F::sum:
      return visit(std::integral_constant<F, F::sum>{});
    case F::mean:
      return visit(std::integral_constant<F, F::mean>{});
    case F::prod:
      return visit(std::integral_constant<F, F::prod>{});
    case F::max:
      return visit(std::integral_constant<F, F::max>{});
    case F::min:
      return visit(std::integral_constant<F, F::min>{});
    case F::argmax:
      return visit(std::integral_constant<F, F::argmax>{});
    case F::argmin:
      return visit(std::integral_constant<F, F::argmin>{});
  }
}

std::span<const Row<Reduce>> reduce_rows();
namespace cuda {
std::span<const Row<Reduce>> reduce_rows();
}
namespace ref {
void reduce(const Reduce::Args& args, const Launch& launch);
std::string legal(const Reduce::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
