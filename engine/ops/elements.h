// Elements of values as numbers, and back.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "kernels/dtype.h"
#include "kernels/half.h"

namespace orrery::ops {

template <DType dtype>
Element<dtype> element_of(double number) {
  if constexpr (dtype == DType::f16) return kernels::f16_from_float(static_cast<float>(number));
  if constexpr (dtype == DType::bf16) return kernels::bf16_from_float(static_cast<float>(number));
  return static_cast<Element<dtype>>(number);
}

template <DType dtype>
double number_of(Element<dtype> element) {
  if constexpr (dtype == DType::f16) return kernels::float_from_f16(element);
  if constexpr (dtype == DType::bf16) return kernels::float_from_bf16(element);
  return static_cast<double>(element);
}

/// function(number) for each of the elements, which lie at any address; nothing for no element type.
template <class Function>
void for_each_number(DType dtype, std::span<const std::byte> bytes, Function&& function) {
  with_element(dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    Element<kType> element;
    for (size_t at = 0; at + sizeof(element) <= bytes.size(); at += sizeof(element)) {
      std::memcpy(&element, bytes.data() + at, sizeof(element));
      function(number_of<kType>(element));
    }
  });
}

}  // namespace orrery::ops
