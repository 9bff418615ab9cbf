// Operands of any float type, and results that a call writes, as cases put and read them.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/lab/agreement.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/place.h"
#include "kernels/quantise.h"

namespace orrery::kernels::lab {

/// Of an element.
inline double bytes_of(DType dtype) { return dtype_info(dtype).block_bytes; }

/// Elements of the type, rounded.
inline std::vector<std::byte> stored(DType dtype, const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<std::byte> elements(row_bytes(dtype, count).value_or(0));
  quantise_row(dtype, values.data(), count, elements.data());
  return elements;
}

/// Null where there is nothing.
template <class T>
T* put_or_null(const std::vector<T>& values, Place& place) {
  return values.empty() ? nullptr : place.put(values);
}
inline std::byte* put_or_null(const std::vector<std::byte>& bytes, DType dtype, Place& place) {
  return bytes.empty() ? nullptr : place.put(bytes, dtype);
}

/// Memory that a call writes.
inline std::byte* put_result(DType dtype, int64_t count, Place& place) {
  return place.put(std::vector<std::byte>(row_bytes(dtype, count).value_or(0), std::byte{1}), dtype);
}

inline Output read_result(std::string_view name, DType dtype, const void* memory, int64_t count, int64_t cols,
                          Place& from) {
  const size_t bytes = row_bytes(dtype, count).value_or(0);
  return {.name = name,
          .values = as_floats(dtype, from.get(static_cast<const std::byte*>(memory), bytes)),
          .cols = cols};
}

}  // namespace orrery::kernels::lab
