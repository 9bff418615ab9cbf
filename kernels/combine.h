// Elementwise functions of operands that are broadcast against each other (stride 0), of any types:
//   add sub mul div              dst = a + b, ...                 comparisons  dst = a < b, ..., bool
//   floor_div mod                the quotient rounded down, and what is left: it has the sign of b; of whole
//                                numbers 0 where b is 0
//   pow                          a^b; of whole numbers with b < 0 the quotient 1 / a^-b rounded towards zero
//   maximum minimum              NaN where either is NaN
//   bitwise_and .._or .._xor     of whole numbers                 logical_and .._or .._xor  of bools
//   where                        dst = condition ? a : b
// Operands are converted to `common` first, as Copy converts. Floats are computed in float32 and rounded
// once; integers in 64 bits, of which dst keeps the low ones. NaN is equal to nothing, itself included.
//   dst lies without gaps and may be no source
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/row.h"
#include "kernels/strided.h"

namespace orrery::kernels {

struct Combine {
  static constexpr std::string_view kName = "combine";
  enum class Function : uint8_t {
    add,
    sub,
    mul,
    div,
    floor_div,
    mod,
    pow,
    maximum,
    minimum,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    logical_and,
    logical_or,
    logical_xor,
    where
  };
  struct Problem {
    Function function = Function::add;
    DType a = DType::f32, b = DType::f32;
    DType common = DType::f32;  // what the function is computed in
    DType dst = DType::f32;     // common, or bool of comparisons
    int rank = 0;
  };
  struct Args {
    Problem problem;
    Walk<4> walk;  // strides of a, b, condition, dst
    const void* a = nullptr;
    const void* b = nullptr;
    const uint8_t* condition = nullptr;  // bool, of where
    void* dst = nullptr;
  };
};
ORRERY_HOST_DEVICE constexpr bool compares(Combine::Function function) {
  return function >= Combine::Function::equal && function <= Combine::Function::greater_equal;
}

ORRERY_HOST_DEVICE constexpr bool is_bitwise(Combine::Function function) {
  return function >= Combine::Function::bitwise_and && function <= Combine::Function::bitwise_xor;
}
ORRERY_HOST_DEVICE constexpr bool is_logical(Combine::Function function) {
  return function >= Combine::Function::logical_and && function <= Combine::Function::logical_xor;
}

/// What is left of a / b, with the sign of b.
template <class T>
ORRERY_HOST_DEVICE_INLINE T remainder_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;  // INT64_MIN % -1 is no number
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    using std::copysign, std::fmod;
    const T rest = fmod(a, b);
    if (rest == 0) return copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

/// a / b rounded down. Floats by way of the remainder: a quotient that is rounded first may reach the next
/// whole number.
template <class T>
ORRERY_HOST_DEVICE_INLINE T floored_quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
    const T quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  } else {
    using std::rint;
    return b == 0 ? a / b : rint((a - remainder_of(a, b)) / b);
  }
}

template <class T>
ORRERY_HOST_DEVICE_INLINE T power_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b < 0) return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
    uint64_t power = 1, factor = static_cast<uint64_t>(a);
    for (auto rest = static_cast<uint64_t>(b); rest != 0; rest >>= 1, factor *= factor)
      if ((rest & 1) != 0) power *= factor;
    return static_cast<T>(power);
  } else {
    using std::pow;
    return pow(a, b);
  }
}

/// T: float or int64_t; double for the reference. A comparison gives 0 or 1.
template <class T>
ORRERY_HOST_DEVICE_INLINE T combined(Combine::Function function, T a, T b) {
  using Function = Combine::Function;
  using Wrapped = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;  // overflow wraps
  const auto x = static_cast<Wrapped>(a);
  const auto y = static_cast<Wrapped>(b);
  switch (function) {
    case Function::add:
      return static_cast<T>(x + y);
    case Function::sub:
      return static_cast<T>(x - y);
    case Function::mul:
      return static_cast<T>(x * y);
    case Function::div:
      if constexpr (std::is_integral_v<T>) return 0;  // of floats only
      return a / b;
    case Function::floor_div:
      return floored_quotient(a, b);
    case Function::mod:
      return remainder_of(a, b);
    case Function::pow:
      return power_of(a, b);
    case Function::maximum:
      return a != a || a > b ? a : b;
    case Function::minimum:
      return a != a || a < b ? a : b;
    case Function::bitwise_and:
    case Function::logical_and:
      if constexpr (std::is_integral_v<T>) return a & b;
      return 0;  // of whole numbers only, as the next
    case Function::bitwise_or:
    case Function::logical_or:
      if constexpr (std::is_integral_v<T>) return a | b;
      return 0;
    case Function::bitwise_xor:
    case Function::logical_xor:
      if constexpr (std::is_integral_v<T>) return a ^ b;
      return 0;
    case Function::equal:
      return static_cast<T>(a == b);
    case Function::not_equal:
      return static_cast<T>(a != b);
    case Function::less:
      return static_cast<T>(a < b);
    case Function::less_equal:
      return static_cast<T>(a <= b);
    case Function::greater:
      return static_cast<T>(a > b);
    case Function::greater_equal:
      return static_cast<T>(a >= b);
    case Function::where:
      return a;  // by the condition
  }
  return a;
}

std::span<const Row<Combine>> combine_rows();
namespace cuda {
std::span<const Row<Combine>> combine_rows();
}
namespace ref {
void combine(const Combine::Args& args, const Launch& launch);
std::string legal(const Combine::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
