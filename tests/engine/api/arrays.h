// Arrays from C++ values and back.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "engine/api/own_graph.h"

namespace orrery::api {

template <class T>
Array array(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  Array made = make_array(dtype, std::move(shape)).value();
  EXPECT_EQ(made.bytes, values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(made.data.get(), values.data(), made.bytes);
  return made;
}

inline Array floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return array(DType::f32, std::move(shape), values);
}

template <class T = float>
std::vector<T> values(const Array& array) {
  std::vector<T> read(array.bytes / sizeof(T));
  std::memcpy(read.data(), array.data.get(), array.bytes);
  return read;
}

}  // namespace orrery::api
