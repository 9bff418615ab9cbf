// Other names that ops and their attributes are known by, accepted wherever a person writes them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/graph/op_registry.h"

namespace orrery::ops {

/// The op that a person means: of this name, or of the one that it is another name of. `inputs` are the names
/// that are given operands, `attributes` those of attributes: `max` of a and b is `maximum`, `split` with
/// sizes `split_into`. Null when there is none.
graph::OpPtr find_op(const graph::OpRegistry& registry, std::string_view name,
                     std::span<const std::string> inputs = {}, std::span<const std::string> attributes = {});

/// The attribute of the op that a person means; the same name where it is no other one's.
std::string attribute_name(const graph::OpSchema& op, std::string_view name);

}  // namespace orrery::ops
