// The verbs of a person's edits, as transactions on the model graph. A recipe is a list of them in JSON.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/edit/verb.h"

namespace orrery::edit {

/// {"op": "bypass", "scope": "layers.3"}
struct Edit {
  std::string op;
  std::map<std::string, std::string> fields;
  std::string to_string() const;  // "bypass scope=layers.3"
  friend bool operator==(const Edit&, const Edit&) = default;
};

/// Applies to the graph or leaves it as it was and says why.
Result<graph::Journal> apply(graph::Graph& graph, const Edit& edit);

/// "bypass scope=layers.3" (the words after --edit).
Result<Edit> parse_edit(std::string_view words);

/// Edits that are made one after another, as a file keeps them.
struct Recipe {
  std::vector<Edit> edits;
  std::string name = {}, notes = {};  // for the person; may be empty
  std::string model = {};             // the identity of the model that it was made on; empty: not said
};
/// A recipe file: {"orrery_recipe": 1, "edits": [{"op": ...}]}.
Result<Recipe> parse_recipe(std::string_view json);
std::string write_recipe(const Recipe& recipe);

/// The recipe of a file, with what its edits name relative to it made absolute. Refused as parse_recipe()
/// does, and a file that cannot be read.
Result<Recipe> read_recipe(const std::filesystem::path& path);

/// Makes the files and folders that edits name relative to the recipe's folder absolute.
void resolve_files(std::vector<Edit>& edits, const std::filesystem::path& folder);

/// Each edit with an op of one's own says which source that is made of, so that a recipe of them names it.
void name_contents(const graph::OpRegistry& ops, std::vector<Edit>& edits);

/// An edit of a recipe that a graph does not take, and why.
struct Misfit {
  size_t index = 0;
  Error error;
};
/// Makes the edits on a copy, in order; those after a misfit see the graph without it.
std::vector<Misfit> misfits(const graph::Graph& graph, const std::vector<Edit>& edits);

/// Why the graph does not take the edit; nothing where it does. A graph of 5,000 nodes answers in
/// milliseconds.
std::optional<Error> refusal(const graph::Graph& graph, const Edit& edit);
/// Whether a value can come to an input of a node: by its kind and type, and without a cycle. What follows
/// from another type of what the node makes is not looked at. Microseconds.
Result<void> can_connect(const graph::Graph& graph, NodeId node, int input, ValueId value);

/// Whether bypass can take the scopes and nodes that the pattern names: one residual stream in and one out of
/// each. Else why not.
Result<void> can_bypass(const graph::Graph& graph, std::string_view pattern);

}  // namespace orrery::edit
