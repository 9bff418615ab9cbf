#include "engine/api/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "engine/edit/verb.h"
#include "engine/graph/hash.h"
#include "engine/io/model_file.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFiles = 2000;  // of a folder
constexpr size_t kHead = 4096;    // bytes, in which a recipe says that it is one

uint64_t mixed(uint64_t hash, std::string_view text) {
  hash = graph::mix(hash, text.size());
  for (const char letter : text) hash = graph::mix(hash, static_cast<unsigned char>(letter));
  return hash;
}

/// Of the architecture and the tensors' names and shapes, in whatever order.
template <class Tensors>
std::string identity(std::string_view architecture, const Tensors& all) {
  std::vector<const typename Tensors::value_type*> tensors;
  for (const auto& tensor : all) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, [](const auto* tensor) -> const std::string& { return tensor->name; });
  uint64_t hash = mixed(0, architecture);
  for (const auto* tensor : tensors) {
    hash = mixed(hash, tensor->name);
    hash = graph::mix(hash, tensor->shape.size());
    for (const int64_t size : tensor->shape) hash = graph::mix(hash, static_cast<uint64_t>(size));
  }
  return fmt::format("{:016x}", hash);
}

/// Without reading what is large: tokenizers and configurations lie in the same folders.
bool says_recipe(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > edit::kLargestRecipe || error) return false;
  std::string head(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head.find("\"orrery_recipe\"") != std::string::npos;
}

}  // namespace

std::string identity_of(const ModelInfo& info) { return identity(info.architecture, info.tensors); }
std::string identity_of(const io::ModelFile& file) { return identity(file.architecture, file.tensors); }

std::string recipe_name(const edit::Recipe& recipe, const std::string& path) {
  if (!recipe.name.empty()) return recipe.name;
  fs::path name = fs::path(path).stem();
  if (name.extension() == ".recipe") name = name.stem();
  return name.string();
}

std::vector<ListedRecipe> recipes_beside(const std::string& model, const std::string& identity) {
  std::error_code error;
  const fs::path folder = fs::is_directory(model, error) ? fs::path(model) : fs::path(model).parent_path();
  std::vector<ListedRecipe> recipes;
  int looked = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && looked < kMostFiles;
       it.increment(error), ++looked) {
    const fs::path& path = it->path();
    std::error_code unseen;
    if (path.extension() != ".json" || !it->is_regular_file(unseen) || !says_recipe(path)) continue;
    auto recipe = edit::read_recipe(path);
    if (!recipe.ok() || (!recipe->model.empty() && recipe->model != identity)) continue;
    recipes.push_back({recipe_name(*recipe, path.string()), path.string(), std::move(recipe->edits)});
  }
  std::ranges::sort(recipes, {},
                    [](const ListedRecipe& recipe) { return std::tie(recipe.name, recipe.path); });
  return recipes;
}

std::string edit_names() { return edit::verb_names(); }

edit::Recipe recipe_of(const Session& session, std::string name) {
  return {session.recipe(), std::move(name), {}, identity_of(session.info())};
}

Error refusal_of(const edit::Recipe& recipe, const ModelInfo& model, Error error) {
  if (!recipe.model.empty() && recipe.model != identity_of(model))
    error.what = "The recipe was made on another model, and this one does not take it: " + error.what;
  return error;
}

}  // namespace orrery::api
