// A recipe:
//   {"orrery_recipe": 1, "name": "...", "notes": "...", "edits": [{"op": "bypass", "scope": "layers.3"}]}
// name and notes are optional. Fields are texts; numbers and bools are taken as their text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/edit/check.h"
#include "engine/io/json.h"

namespace orrery::edit {
namespace {

constexpr size_t kLargestRecipe = size_t{1} << 20;
constexpr size_t kMostEdits = 10'000;
constexpr std::string_view kEdits = "edits.";

Error bad_recipe(std::string what, std::string where = "recipe") {
  return {ErrorCode::invalid_argument, std::move(what), std::move(where),
          "a recipe is {\"orrery_recipe\": 1, \"edits\": [{\"op\": \"bypass\", \"scope\": \"layers.3\"}]}"};
}

std::string field_text(const Metadata::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return {};
}

Result<void> check_root(const Metadata& json) {
  const Metadata::Value* version = json.find("orrery_recipe");
  const auto* number = version ? std::get_if<int64_t>(version) : nullptr;
  if (!number) return bad_recipe("The text is not a recipe: orrery_recipe is missing or no number");
  if (*number != 1)
    return Error{ErrorCode::unsupported, fmt::format("The recipe has the version {}, and 1 is read", *number),
                 "recipe", "update this program"};
  bool edits = false;
  for (const auto& [key, value] : json.all()) {
    edits = edits || key == "edits" || key.starts_with(kEdits);
    if (!key.starts_with(kEdits) && key != "edits" && key != "orrery_recipe" && key != "name" &&
        key != "notes")
      return bad_recipe(fmt::format("The recipe has the unknown key \"{}\"", key.substr(0, 80)));
  }
  if (const auto* none = json.integers("edits"); json.find("edits") && (!none || !none->empty()))
    return bad_recipe("edits is not an array of objects");
  return edits ? Result<void>{} : bad_recipe("The recipe has no edits");
}

/// "edits.12.scope" -> 12 and "scope".
Result<std::pair<size_t, std::string>> parse_key(std::string_view key) {
  key.remove_prefix(kEdits.size());
  const size_t dot = key.find('.');
  size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + std::min(dot, key.size()), index);
  if (dot == std::string_view::npos || error != std::errc() || end != key.data() + dot)
    return bad_recipe("edits is not an array of objects");
  return std::pair{index, std::string(key.substr(dot + 1))};
}

}  // namespace

Result<std::vector<Edit>> parse_recipe(std::string_view json) {
  if (json.size() > kLargestRecipe) return bad_recipe("The recipe is larger than 1 MB");
  ORRERY_ASSIGN(const Metadata flat, io::flatten_json(json, "recipe"));
  ORRERY_TRY(check_root(flat));
  std::map<size_t, Edit> by_index;
  for (const auto& [key, value] : flat.all()) {
    if (!key.starts_with(kEdits)) continue;
    ORRERY_ASSIGN(auto place, parse_key(key));
    Edit& edit = by_index[place.first];
    if (place.second == "op")
      edit.op = field_text(value);
    else
      edit.fields[place.second] = field_text(value);
  }
  if (by_index.size() > kMostEdits)
    return bad_recipe(fmt::format("The recipe has more than {} edits", kMostEdits));
  std::vector<Edit> edits;
  for (auto& [index, edit] : by_index) {
    if (index != edits.size()) return bad_recipe(fmt::format("Edit {} is empty", edits.size() + 1));
    if (auto checked = check(edit); !checked.ok()) {
      Error error = checked.error();
      error.where = fmt::format("recipe, edit {}: {}", index + 1, error.where);
      return error;
    }
    edits.push_back(std::move(edit));
  }
  return edits;
}

std::string write_recipe(const std::vector<Edit>& edits) {
  nlohmann::ordered_json recipe;
  recipe["orrery_recipe"] = 1;
  recipe["edits"] = nlohmann::ordered_json::array();
  for (const Edit& edit : edits) {
    nlohmann::ordered_json entry;
    entry["op"] = edit.op;
    for (const auto& [name, value] : edit.fields) entry[name] = value;
    recipe["edits"].push_back(std::move(entry));
  }
  return recipe.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<Misfit> misfits(const graph::Graph& graph, const std::vector<Edit>& edits) {
  std::vector<Misfit> found;
  graph::Graph copy = graph;
  for (size_t i = 0; i < edits.size(); ++i)
    if (const auto applied = apply(copy, edits[i]); !applied.ok()) found.push_back({i, applied.error()});
  return found;
}

}  // namespace orrery::edit
