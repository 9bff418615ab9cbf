// Recipes of a session's edits, and whether a recipe is for this model.
#pragma once

#include <string>
#include <vector>

#include "engine/api/session.h"

namespace orrery::api {

/// The same for every file of a model: a hash of the architecture and of its tensors' names and shapes, which
/// quantisation leaves as they are.
std::string identity_of(const ModelInfo& info);

/// What was done to the session's model, to be saved.
edit::Recipe recipe_of(const Session& session, std::string name = {});

/// What edits have beside others, those that are there twice counted twice.
struct RecipeDiff {
  std::vector<edit::Edit> removed, added;  // in their order
  bool reordered = false;                  // the same edits in another order
  bool same() const { return removed.empty() && added.empty() && !reordered; }
};
RecipeDiff diff_recipes(const std::vector<edit::Edit>& a, const std::vector<edit::Edit>& b);

/// The edits that a recipe may name, with commas between them.
std::string edit_names();

/// A refusal of one of its edits, which says so when the recipe was made on another model.
Error refusal_of(const edit::Recipe& recipe, const ModelInfo& model, Error error);

}  // namespace orrery::api
