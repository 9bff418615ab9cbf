#include "engine/api/recipe_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/library_scan.h"
#include "engine/api/recipes.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLooked = 2000;                  // entries of a folder
constexpr uint64_t kLargestFile = uint64_t{1} << 20;  // of a recipe
constexpr std::string_view kKey = "\"orrery_recipe\"";

/// Whether a file has the key of a recipe.
bool has_key(const fs::path& path) {
  std::error_code error;
  if (path.extension() != ".json" || !is_file(path) || fs::file_size(path, error) > kLargestFile)
    return false;
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return text.find(kKey) != std::string::npos;
}

std::vector<RecipeFile> recipes_in(const fs::path& folder) {
  std::vector<RecipeFile> found;
  std::error_code error;
  size_t looked = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++looked > kMostLooked) break;
    if (!has_key(it->path())) continue;
    RecipeFile file{it->path().string()};
    if (auto recipe = edit::read_recipe(it->path()); recipe.ok()) {
      file.recipe = std::move(*recipe);
    } else {
      file.problem = recipe.error();
    }
    found.push_back(std::move(file));
  }
  return found;
}

/// "model.fast.json" of "model.gguf" or of the folder "model".
bool is_named_after(const fs::path& recipe, const fs::path& model) {
  std::error_code error;
  const std::string name = recipe.filename().string(),
                    stem = fs::is_directory(model, error) ? model.filename().string() : model.stem().string();
  return !stem.empty() && name.starts_with(stem) && name.size() > stem.size() &&
         (name[stem.size()] == '.' || name[stem.size()] == '-');
}

/// Whether its name says that it is for something else in its folder.
bool is_named_after_neighbour(const fs::path& recipe) {
  std::error_code error;
  size_t looked = 0;
  for (fs::directory_iterator it(recipe.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    if (++looked > kMostLooked) break;
    if (it->path().extension() != ".json" && is_named_after(recipe, it->path())) return true;
  }
  return false;
}

/// What tells the recipes of one model from those of others.
class Owner {
 public:
  Owner(fs::path model, fs::path adapter) : model_(std::move(model)), adapter_(std::move(adapter)) {}

  bool has(const RecipeFile& file, bool beside) {
    if (is_named_after(file.path, model_)) return true;
    if (file.problem || file.recipe.model.empty()) return beside && !is_named_after_neighbour(file.path);
    return file.recipe.model == identity();
  }

 private:
  /// Read when it is first asked for: most folders have no recipe.
  const std::string& identity() {
    if (!identity_) {
      const auto source = open_source({model_, adapter_}, {}, {});
      identity_ = source.ok() ? identity_of(describe(*source, nullptr, {}, 0, kKvTypes.front().dtype, 0))
                              : std::string();
    }
    return *identity_;
  }

  fs::path model_, adapter_;
  std::optional<std::string> identity_;
};

}  // namespace

std::string recipes_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data && *data) return (fs::path(data) / "orrery/recipes").string();
  const char* home = std::getenv("HOME");
  return (fs::path(home && *home ? home : ".") / ".local/share/orrery/recipes").string();
}

std::vector<RecipeFile> list_recipes(const std::string& model, const std::string& adapter) {
  return guarded_or_empty([&]() -> std::vector<RecipeFile> {
    const Result<ModelPath> path = resolve_model(model, adapter);
    if (!path.ok()) return {};
    std::error_code error;
    const fs::path whole = fs::absolute(path->model, error).lexically_normal();
    const bool folder = fs::is_directory(whole, error);
    Owner owner(whole, path->adapter);
    std::vector<RecipeFile> found;
    const auto look = [&](const fs::path& place, bool beside) {
      for (RecipeFile& file : recipes_in(place))
        if (owner.has(file, beside) && std::ranges::find(found, file.path, &RecipeFile::path) == found.end())
          found.push_back(std::move(file));
    };
    look(whole.parent_path(), !folder);
    if (folder) look(whole, true);
    look(recipes_folder(), false);
    std::ranges::sort(found, {}, &RecipeFile::path);
    return found;
  });
}

Result<std::vector<edit::Misfit>> recipe_misfits(const std::string& model, const std::string& adapter,
                                                 const std::vector<edit::Edit>& edits) {
  return guarded([&]() -> Result<std::vector<edit::Misfit>> {
    ORRERY_ASSIGN(const ModelPath path, resolve_model(model, adapter));
    ORRERY_ASSIGN(const ModelSource source, open_source(path, {}, {}));
    std::string cannot_run;
    const models::BuiltModel built = build_to_show(source, cannot_run);
    if (!cannot_run.empty())
      return Error{ErrorCode::unsupported, cannot_run, path.model.string(), "open it to look at its tensors"};
    return edit::misfits(built.graph, edits);
  });
}

}  // namespace orrery::api
