// What a constant node holds, as attributes and as bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/ops/infer_support.h"

namespace orrery::ops {

/// More numbers than these belong into a file.
inline constexpr size_t kMostData = size_t{1} << 20;

/// Whether `data` has as many elements as the type, and each of data or `value` is one of its type: whole and
/// in range for integers (of i64 to 2^53, which a number of a list holds exactly), 0 or 1 for bool.
Result<void> check_constant(const Attributes& attributes, const ValueType& type);

/// The elements of a constant of a fixed shape, one after another; floats are rounded to their type.
Result<std::vector<std::byte>> constant_bytes(const graph::Node& node, const ValueType& type);

/// The attributes of a constant that holds these bytes; `value` alone where all elements are equal. Nothing
/// where an element cannot be written so.
std::optional<Attributes> constant_attributes(const ValueType& type, const std::byte* bytes);

}  // namespace orrery::ops
