// Recipes as files: where they are kept, and which of them are for a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/edit/edit.h"

namespace orrery::api {

/// A recipe where it lies.
struct RecipeFile {
  std::string path;
  edit::Recipe recipe = {};           // files that its edits name have their whole path
  std::optional<Error> problem = {};  // why it cannot be read
};

/// Where the program keeps recipes: ${XDG_DATA_HOME:-~/.local/share}/orrery/recipes
std::string recipes_folder();

/// The recipes of a model, by their names: beside its file, in its folder, and in recipes_folder(). A recipe
/// is a model's by the identity that it was saved with; by its name, which begins with the model's
/// ("model.fast.json"); or, where it says no model and is named after
/// no other, by lying there. Reads the model's headers where it must.
std::vector<RecipeFile> list_recipes(const std::string& model, const std::string& adapter);

/// The edits that the model does not take, made in order on its graph as it is opened. Reads headers only.
Result<std::vector<edit::Misfit>> recipe_misfits(const std::string& model, const std::string& adapter,
                                                 const std::vector<edit::Edit>& edits);

}  // namespace orrery::api
