// What place and precision do alike: an attribute that every op but the sources may carry, set or taken away
// in scopes.
#pragma once

#include <optional>
#include <string>

#include "engine/graph/transaction.h"

namespace orrery::edit {

struct ScopeAttribute {
  std::string pattern;  // of scopes; a node's own path is one
  std::string_view attribute;
  std::optional<std::string> value;  // none: it is taken away
  std::string name;                  // of the journal
  std::string nothing;               // advice where the pattern names sources only
  std::string unchanged;             // what is refused where nothing changes
};

/// Bypassed nodes too, sources not.
Result<graph::Journal> set_in_scopes(graph::Graph& graph, const ScopeAttribute& wanted);

}  // namespace orrery::edit
