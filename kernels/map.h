// Elementwise functions of one operand of any type: dst = f(src), named in map_functions.inc.
//   round   to the nearest whole number, halves to the even one        sigmoid  1 / (1 + e^-x)
//   rsqrt   1 / sqrt(x)                                                gelu_quick  x / (1 + e^(-1.702 x))
//   relu, silu, gelu_erf, gelu_tanh: those of activation.h             the others are those of C's <math.h>
// Floats are computed in float32 and rounded once, whole numbers in 64 bits, of which dst keeps the low ones.
//   operands lie without gaps; dst may be src where their types have one size
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/activation.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Map {
  static constexpr std::string_view kName = "map";
  enum class Function : uint8_t {
#define ORRERY_MAP(name, kind, flops) name,
#include "kernels/map_functions.inc"
#undef ORRERY_MAP
  };
  enum class Kind : uint8_t { real, number, test, bits, logical };
  struct Problem {
    Function function = Function::abs;
    DType src = DType::f32, dst = DType::f32;
  };
  struct Args {
    Problem problem;
    int64_t count = 0;
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

struct MapInfo {
  std::string_view name;
  Map::Function function;
  Map::Kind kind;
  int flops;
};
inline constexpr MapInfo kMapFunctions[] = {
#define ORRERY_MAP(name, kind, flops) {#name, Map::Function::name, Map::Kind::kind, flops},
#include "kernels/map_functions.inc"
#undef ORRERY_MAP
};
constexpr const MapInfo& info_of(Map::Function function) {
  return kMapFunctions[static_cast<size_t>(function)];
}

/// The arithmetic of activation.h in T, float or double.
template <class T>
struct MapMath {
  using Number = T;
  ORRERY_HOST_DEVICE_INLINE static T number(double x) { return static_cast<T>(x); }
  ORRERY_HOST_DEVICE_INLINE static T exp(T x) {
    using std::exp;
    return exp(x);
  }
  ORRERY_HOST_DEVICE_INLINE static T tanh(T x) {
    using std::tanh;
    return tanh(x);
  }
  ORRERY_HOST_DEVICE_INLINE static T abs(T x) {
    using std::fabs;
    return fabs(x);
  }
  ORRERY_HOST_DEVICE_INLINE static T fma(T a, T b, T c) { return a * b + c; }
  ORRERY_HOST_DEVICE_INLINE static T fnma(T a, T b, T c) { return c - a * b; }
  ORRERY_HOST_DEVICE_INLINE static T where_negative(T x, T a, T b) { return x < 0 ? a : b; }
  ORRERY_HOST_DEVICE_INLINE static T normal_tail(T x) {
    using std::erfc;
    return static_cast<T>(0.5) * erfc(x * static_cast<T>(0.7071067811865476));
  }
};

/// T: float, or double for the reference; int64_t of whole numbers and bools. A test gives 0 or 1.
template <Map::Function kFunction, class T>
ORRERY_HOST_DEVICE_INLINE T mapped(T x) {
  using F = Map::Function;
  if constexpr (kFunction == F::negate && std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  } else if constexpr (kFunction == F::abs && std::is_integral_v<T>) {
    return x < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
  } else if constexpr (kFunction == F::bitwise_not && std::is_integral_v<T>) {
    return ~x;
  } else if constexpr (kFunction == F::logical_not && std::is_integral_v<T>) {
    return x == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return x;  // of floats only
  } else {
    using std::acos, std::atanh, std::cos, std::erf, std::exp, std::fabs, std::floor, std::log, std::log1p,
        std::rint, std::sin, std::sqrt, std::trunc;
    constexpr T kOne = 1;
    if constexpr (kFunction == F::abs) return fabs(x);
    if constexpr (kFunction == F::negate) return -x;
    if constexpr (kFunction == F::exp) return exp(x);
    if constexpr (kFunction == F::log) return log(x);
    if constexpr (kFunction == F::log1p) return log1p(x);
    if constexpr (kFunction == F::sqrt) return sqrt(x);
    if constexpr (kFunction == F::rsqrt) return kOne / sqrt(x);
    if constexpr (kFunction == F::sigmoid) {  // e^-x of a large negative x would be infinite
      const T small = exp(-fabs(x));
      return (x < 0 ? small : kOne) / (kOne + small);
    }
    if constexpr (kFunction == F::sin) return sin(x);
    if constexpr (kFunction == F::cos) return cos(x);
    if constexpr (kFunction == F::acos) return acos(x);
    if constexpr (kFunction == F::atanh) return atanh(x);
    if constexpr (kFunction == F::erf) return erf(x);
    if constexpr (kFunction == F::tanh) return activated<Activation::tanh, MapMath<T>>(x);
    if constexpr (kFunction == F::relu) return activated<Activation::relu, MapMath<T>>(x);
    if constexpr (kFunction == F::silu) return activated<Activation::silu, MapMath<T>>(x);
    if constexpr (kFunction == F::gelu_erf) return activated<Activation::gelu_erf, MapMath<T>>(x);
    if constexpr (kFunction == F::gelu_tanh) return activated<Activation::gelu_tanh, MapMath<T>>(x);
    if constexpr (kFunction == F::gelu_quick) return x / (kOne + exp(static_cast<T>(-1.702) * x));
    if constexpr (kFunction == F::floor) return floor(x);
    if constexpr (kFunction == F::round) return rint(x);
    if constexpr (kFunction == F::trunc) return trunc(x);
    if constexpr (kFunction == F::is_nan) return x != x;
    if constexpr (kFunction == F::is_inf) return x == x && x - x != 0;
    return x;  // of whole numbers only
  }
}

/// Calls visit(constant) with the function as a constant.
template <class Visit>
void with_map_function(Map::Function function, Visit&& visit) {
  switch (function) {
#define ORRERY_MAP(name, kind, flops) \
  case Map::Function::name:           \
    return visit(std::integral_constant<Map::Function, Map::Function::name>{});
#include "kernels/map_functions.inc"
#undef ORRERY_MAP
  }
}

std::span<const Row<Map>> map_rows();
namespace cuda {
std::span<const Row<Map>> map_rows();
}
namespace ref {
void map(const Map::Args& args, const Launch& launch);
std::string legal(const Map::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
