#include "engine/api/recipes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/verb.h"
#include "engine/graph/hash.h"

namespace orrery::api {
namespace {

uint64_t mixed(uint64_t hash, std::string_view text) {
  hash = graph::mix(hash, text.size());
  for (const char letter : text) hash = graph::mix(hash, static_cast<unsigned char>(letter));
  return hash;
}

/// The edits that one has and the other lacks.
std::vector<edit::Edit> lacking(const std::vector<edit::Edit>& edits, std::vector<edit::Edit> there) {
  std::vector<edit::Edit> lacking;
  for (const edit::Edit& edit : edits) {
    if (const auto found = std::ranges::find(there, edit); found != there.end()) {
      there.erase(found);
    } else {
      lacking.push_back(edit);
    }
  }
  return lacking;
}

}  // namespace

std::string identity_of(const ModelInfo& info) {
  std::vector<const TensorRow*> tensors;
  for (const TensorRow& tensor : info.tensors) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, &TensorRow::name);
  uint64_t hash = mixed(0, info.architecture);
  for (const TensorRow* tensor : tensors) {
    hash = mixed(hash, tensor->name);
    hash = graph::mix(hash, tensor->shape.size());
    for (const int64_t size : tensor->shape) hash = graph::mix(hash, static_cast<uint64_t>(size));
  }
  return fmt::format("{:016x}", hash);
}

RecipeDiff diff_recipes(const std::vector<edit::Edit>& a, const std::vector<edit::Edit>& b) {
  RecipeDiff diff{lacking(a, b), lacking(b, a)};
  diff.reordered = diff.removed.empty() && diff.added.empty() && a != b;
  return diff;
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
