// Which scopes a person means: "layers.3", "layers.*", "layers.4-7", "layers.*.mlp", "layers.0-3,lm_head".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::edit {

/// The scopes and node paths that the patterns between commas name, each once: pattern after pattern, of one
/// in the order of the graph. `*` is any one part between dots, `a-b` a number from a to b, both included.
/// Refused: a pattern that names nothing, and a range whose ends are not there; with the nearest names.
Result<std::vector<std::string>> match_scopes(const graph::Graph& graph, std::string_view patterns);

/// What a pattern has between two dots.
struct PatternPart {
  enum class Kind : uint8_t { text, any, range } kind = Kind::text;
  std::string_view text;
  int64_t first = 0, last = 0;  // of a range

  bool matches(std::string_view part) const;
};
/// They look into the text of the pattern.
std::vector<PatternPart> parse_pattern(std::string_view pattern);

}  // namespace orrery::edit
