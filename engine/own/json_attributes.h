// Attributes of nodes in JSON. Numbers that are not finite, which JSON has not, are the texts "inf", "-inf"
// and "nan".
#pragma once

#include <optional>

#include "engine/graph/op_schema.h"
#include "engine/own/json_tree.h"

namespace orrery::own {

/// As an attribute of the type; of `any` as what it looks like. Nothing for what no attribute can be.
std::optional<graph::Attribute> attribute_in(const Json& json, graph::AttributeType wanted);
/// Of what a person writes: a text as it is, lists with brackets or without.
std::optional<graph::Attribute> attribute_in(std::string_view text, graph::AttributeType wanted);
nlohmann::ordered_json to_json(const graph::Attribute& attribute);

/// The type that values of the attribute have.
graph::AttributeType type_of(const graph::AttributeSpec& spec);

}  // namespace orrery::own
