// What a state keeps of a text, by the attribute `kind` of its source node.
#pragma once

#include "engine/graph/op_schema.h"

namespace orrery::ops {

inline constexpr std::string_view kKeysAndValues = "kv";  // of each token
inline constexpr std::string_view kRecord = "record";     // of the text as a whole

/// Of a state node. What says nothing keeps keys and values.
bool keeps_record(const graph::Attributes& attributes);

}  // namespace orrery::ops
