// One element of any type as a number and back, converted as copy.h says. A 64-bit integer is no float64, so
// integers have functions of their own.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/dtype.h"
#include "kernels/half.h"

namespace orrery::kernels::ref {

/// A float, or an integer rounded to f32.
inline double real_at(DType dtype, const void* base, int64_t index) {
  double value = 0;
  with_element(dtype, [&](auto type) {
    const auto element = static_cast<const Element<decltype(type)::value>*>(base)[index];
    if constexpr (decltype(type)::value == DType::f16)
      value = float_from_f16(element);
    else if constexpr (decltype(type)::value == DType::bf16)
      value = float_from_bf16(element);
    else
      value = static_cast<float>(element);
  });
  return value;
}

inline int64_t integer_at(DType dtype, const void* base, int64_t index) {
  int64_t value = 0;
  with_element(dtype, [&](auto type) {
    if constexpr (!is_float(decltype(type)::value))
      value = static_cast<const Element<decltype(type)::value>*>(base)[index];
  });
  return value;
}

inline void put_real(DType dtype, double value, void* base, int64_t index) {
  with_element(dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    using T = Element<kType>;
    T& element = static_cast<T*>(base)[index];
    if constexpr (kType == DType::f32) {
      element = static_cast<float>(value);
    } else if constexpr (kType == DType::f16) {
      element = f16_from_float(static_cast<float>(value));
    } else if constexpr (kType == DType::bf16) {
      element = bf16_from_float(static_cast<float>(value));
    } else if constexpr (kType == DType::boolean) {
      element = static_cast<T>(value != 0);
    } else if (std::isnan(value)) {
      element = 0;
    } else {
      constexpr auto low = static_cast<double>(std::numeric_limits<T>::min());
      constexpr auto high = static_cast<double>(std::numeric_limits<T>::max());
      element = value <= low    ? std::numeric_limits<T>::min()
                : value >= high ? std::numeric_limits<T>::max()
                                : static_cast<T>(value);
    }
  });
}

inline void put_integer(DType dtype, int64_t value, void* base, int64_t index) {
  with_element(dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    if constexpr (is_float(kType))
      put_real(kType, static_cast<float>(value), base, index);
    else
      static_cast<Element<kType>*>(base)[index] =
          kType == DType::boolean ? Element<kType>{value != 0} : static_cast<Element<kType>>(value);
  });
}

}  // namespace orrery::kernels::ref
