// Elementwise functions of operands that are broadcast against each other (stride 0), of any types:
//   add sub mul div              dst = a + b, ...                 comparisons  dst = a < b, ..., bool
//   where                        dst = condition ? a : b
// Operands are converted to `common` first, as Copy converts. Floats are computed in float32 and rounded
// once; integers in 64 bits, of which dst keeps the low ones. NaN is equal to nothing, itself included.
//   dst lies without gaps and may be no source
#pragma once

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
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
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

/// T: float or int64_t. A comparison gives 0 or 1.
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
