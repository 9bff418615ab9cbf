// Recipes as files, and what two of them have otherwise.
#pragma once

#include <filesystem>

#include "engine/edit/edit.h"

namespace orrery::edit {

inline constexpr size_t kLargestRecipe = size_t{1} << 20;  // bytes

/// Files that its edits name relative to the recipe are made absolute. Refused as parse_recipe() does, and a
/// file that cannot be read.
Result<Recipe> read_recipe(const std::filesystem::path& path);
/// Whole, or not at all; replaces what has the name.
Result<void> save_recipe(const Recipe& recipe, const std::filesystem::path& path);
/// What the person calls it; the file keeps its own name.
Result<void> rename_recipe(const std::filesystem::path& path, std::string name);

struct RecipeDifference {
  std::vector<Edit> added, removed;  // b alone has them; a alone; in their order
  bool reordered = false;            // the same edits in another order
};
RecipeDifference difference(const std::vector<Edit>& a, const std::vector<Edit>& b);

}  // namespace orrery::edit
