// Arrays of any element type and rank: what graphs of one's own are given and what they make. Files of NumPy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/op_schema.h"

namespace orrery::api {

/// Elements one after another, the last dim fastest; copies share them.
struct Array {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;       // outermost first; none: one element
  std::shared_ptr<std::byte> data;  // where steps take what they are given: 64-byte aligned
  size_t bytes = 0;

  std::span<const std::byte> view() const { return {data.get(), bytes}; }
  graph::ValueType type() const;
};

/// With elements of no particular value. Refused: what is no element type, and more than there is memory for.
Result<Array> make_array(DType dtype, std::vector<int64_t> shape);

/// A .npy file. bf16 is what ml_dtypes saves: two bytes of any kind (<V2).
Result<Array> read_array(const std::string& path);
/// A .npy file that appears whole or not at all.
Result<void> write_array(const std::string& path, const Array& array);

/// Of the elements; those that are not finite count for their number alone.
struct Statistics {
  int64_t elements = 0, nan = 0, infinite = 0, zeros = 0;
  double least = 0, most = 0, mean = 0, deviation = 0;  // 0 where no element is finite
};
Statistics statistics_of(const Array& array);

}  // namespace orrery::api
