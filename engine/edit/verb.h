// A verb of a person's edits with the fields that it takes: the one schema from which the command line's
// help, the checks of edits and recipes, and the window's forms and completion are made.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/transaction.h"

namespace orrery::edit {

struct Edit;

enum class FieldKind : uint8_t {
  scopes,     // scopes and node paths by a pattern (scope_pattern.h)
  node,       // the path of one node: "sampler.sample"
  value,      // an output of a node: "layers.0.attention.q_proj:dst"
  input,      // a place that a node reads: "layers.0.mlp.mul.1", or by its name, "layers.0.mlp.mul.b"
  attribute,  // the name of an attribute of what `node` names
  op,         // the name of an op of the registry
  name,       // of something new: letters, digits, _ and dots between scopes
  text,
  integer,
  real,
  flag,        // true or false
  choice,      // one of Field::choices
  device,      // "cpu", "cuda:N", or "home", the model's own
  ranges,      // whole numbers from 0, "2-3,7"
  attributes,  // a JSON object of attributes: {"eps": 1e-5}
  inputs,      // a JSON object of values by the names of inputs: {"b": "embed.tokens:dst"}
  file,
  folder
};
std::string_view name_of(FieldKind kind);  // "a whole number in range"
/// Of a device: the model's own.
inline constexpr std::string_view kHome = "home";

/// To what an edit of several scopes is done, so that it can be taken back for some of them.
enum class Spread : uint8_t {
  whole,   // to all of them as one
  scopes,  // to each of them
  nodes    // to each node in them
};

struct Field {
  std::string_view name = {};
  FieldKind kind = FieldKind::text;
  std::string_view doc = {};
  bool required = true;
  std::string_view fallback = {};  // what holds where it is left out, as text; empty: nothing
  std::span<const std::string_view> choices = {};
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  Spread spread = Spread::whole;  // of scopes
};

struct Verb {
  std::string_view name;
  std::string_view doc;
  std::span<const Field> fields;
  /// Fields are checked (check.h) and complete: what was left out has its fallback.
  Result<graph::Journal> (*apply)(graph::Graph& graph, const Edit& edit);

  const Field* field(std::string_view name) const;  // null: it has none
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);  // null: there is none

/// Whether a text can be the field's: of its kind, of its choices, in its range. What only a graph can tell
/// (whether a scope is there) is left to the verb.
Result<void> check_field(const Field& field, std::string_view text);

}  // namespace orrery::edit
