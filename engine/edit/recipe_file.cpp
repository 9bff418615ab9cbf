#include "engine/edit/recipe_file.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "engine/io/new_file.h"

namespace orrery::edit {
namespace {

Result<std::string> text_of(const std::filesystem::path& path) {
  std::string text(kLargestRecipe + 1, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::io, "The recipe cannot be read", path.string(), "check the path"};
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error{ErrorCode::io, "The recipe cannot be read", path.string(), "check the file"};
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

/// The edits that one has and the other lacks; those that are there twice count twice.
std::vector<Edit> lacking(const std::vector<Edit>& edits, std::vector<Edit> other) {
  std::vector<Edit> lacking;
  for (const Edit& edit : edits) {
    const auto found = std::ranges::find(other, edit);
    found == other.end() ? lacking.push_back(edit) : static_cast<void>(other.erase(found));
  }
  return lacking;
}

}  // namespace

Result<Recipe> read_recipe(const std::filesystem::path& path) {
  ORRERY_ASSIGN(const std::string text, text_of(path));
  ORRERY_ASSIGN(Recipe recipe, parse_recipe(text));
  resolve_files(recipe.edits, std::filesystem::absolute(path).parent_path());
  return recipe;
}

Result<void> save_recipe(const Recipe& recipe, const std::filesystem::path& path) {
  const std::string text = write_recipe(recipe);
  ORRERY_ASSIGN(io::NewFile file, io::NewFile::create(path, text.size()));
  ORRERY_TRY(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

Result<void> rename_recipe(const std::filesystem::path& path, std::string name) {
  ORRERY_ASSIGN(const std::string text, text_of(path));
  ORRERY_ASSIGN(Recipe recipe, parse_recipe(text));  // its files stay as they are named
  recipe.name = std::move(name);
  return save_recipe(recipe, path);
}

RecipeDifference difference(const std::vector<Edit>& a, const std::vector<Edit>& b) {
  RecipeDifference told{lacking(b, a), lacking(a, b)};
  told.reordered = told.added.empty() && told.removed.empty() && a != b;
  return told;
}

}  // namespace orrery::edit
