// Arrays as a person types them, and their elements as numbers.
//
//   1, 2; 3, 4          rows after semicolons, planes after two of them; [[1, 2], [3, 4]] is the same
//   zeros  ones  fill 0.5  range  random  random 7
//                       every element, counted from 0, or drawn by a seed: from -1 to 1, integers from 0
//                       to 99. Sizes that the type leaves open follow in brackets: zeros [4, 64]
//   /data/x.npy         a file of NumPy
#pragma once

#include <optional>
#include <string_view>

#include "engine/api/array.h"

namespace orrery::api {

/// What was typed for an input of the type, whose outer dims may be left out where they are 1. Refused, with
/// both shapes, where it does not fit; symbols in the type take any size.
Result<Array> array_in(std::string_view text, const graph::ValueType& type);

/// The same where no type is asked for. Elements are float32, or of a type that is written first ("i64 3,
/// 1"); the text or the sizes in brackets decide how many dims there are. A .npy file keeps its own type.
Result<Array> array_in(std::string_view text);

/// What array_in() would make of it; of a fill no element is made for it.
Result<graph::ValueType> array_type_in(std::string_view text, const graph::ValueType& type);

/// "f32": of what an array can be; nothing for another word.
std::optional<DType> element_type_in(std::string_view name);

/// Counted through all dims, the last one fastest.
double number_at(const Array& array, int64_t element);

}  // namespace orrery::api
