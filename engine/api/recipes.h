// Recipes of a session's edits, and whether a recipe is for this model.
#pragma once

#include <string>

#include "engine/api/session.h"
#include "engine/edit/recipe_file.h"

namespace orrery::io {
struct ModelFile;
}

namespace orrery::api {

/// The same for every file of a model: a hash of the architecture and of its tensors' names and shapes, which
/// quantisation leaves as they are.
std::string identity_of(const ModelInfo& info);

/// The same of a file whose headers alone were read.
std::string identity_of(const io::ModelFile& file);

/// What the person calls a recipe: the name that it has, else that of its file without ".recipe.json".
std::string recipe_name(const edit::Recipe& recipe, const std::string& path);
/// The recipes that lie in the folder of a model, by their names: those that were made on it, and those that
/// do not say on which. What is no recipe is left out.
std::vector<ListedRecipe> recipes_beside(const std::string& model, const std::string& identity);

/// What was done to the session's model, to be saved.
edit::Recipe recipe_of(const Session& session, std::string name = {});

/// The edits that a recipe may name, with commas between them.
std::string edit_names();

/// A refusal of one of its edits, which says so when the recipe was made on another model.
Error refusal_of(const edit::Recipe& recipe, const ModelInfo& model, Error error);

}  // namespace orrery::api
