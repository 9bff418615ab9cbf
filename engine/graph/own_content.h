// Ops of one's own (engine/custom) say by an attribute what they were made of, so that nodes, recipes and
// files of graphs name it, too. The ops of the engine have no such attribute.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/graph/op_schema.h"

namespace orrery::graph {

/// A hash of the op's source; its fallback is that of the op itself.
inline constexpr std::string_view kContentAttribute = "content";

/// Null: it is none of one's own.
inline const std::string* content_of(const OpSchema& op) {
  const auto spec = std::find_if(op.attributes.begin(), op.attributes.end(),
                                 [](const AttributeSpec& one) { return one.name == kContentAttribute; });
  return spec == op.attributes.end() || !spec->fallback ? nullptr
                                                        : std::get_if<std::string>(&*spec->fallback);
}

}  // namespace orrery::graph
