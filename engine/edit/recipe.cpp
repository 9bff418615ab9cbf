// A recipe:
//   {"orrery_recipe": 1, "name": "...", "notes": "...", "model": "...",
//    "edits": [{"op": "bypass", "scope": "layers.3"}, {"op": "insert", "new_op": "scale", "as": ...}]}
// name, notes and model are optional. Fields are texts; numbers and bools are taken as their text, and a
// field that is a JSON object may be written as one. The field op of an edit is new_op here, where op is the
// verb.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/edit/check.h"
#include "engine/io/json.h"

namespace orrery::edit {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLargestRecipe = size_t{1} << 20;
constexpr size_t kMostEdits = 10'000;
constexpr std::string_view kEdits = "edits.", kOpField = "op", kOpKey = "new_op";
constexpr std::array<std::string_view, 3> kTexts = {"name", "notes", "model"};

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
    if (key.starts_with(kEdits) || key == "edits" || key == "orrery_recipe") continue;
    if (std::ranges::find(kTexts, key) == kTexts.end())
      return bad_recipe(fmt::format("The recipe has the unknown key \"{}\"", key.substr(0, 80)));
    if (!std::holds_alternative<std::string>(value)) return bad_recipe(fmt::format("{} is no text", key));
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

/// Whether a field of the edit is a JSON object.
bool is_object(const Edit& edit, std::string_view name) {
  const Verb* verb = find_verb(edit.op);
  const Field* field = verb ? verb->field(name) : nullptr;
  return field && (field->kind == FieldKind::attributes || field->kind == FieldKind::inputs);
}

/// An edit of which the keys are still coming; those of a field that is an object come one by one.
class Entry {
 public:
  void put(std::string key, const Metadata::Value& value) { values_.emplace_back(std::move(key), value); }
  Edit take() {
    Edit edit;
    for (const auto& [key, value] : values_)
      if (key == "op") edit.op = field_text(value);
    std::map<std::string, Json> objects;
    for (const auto& [key, value] : values_) {
      const size_t dot = std::min(key.find('.'), key.size());
      if (const std::string name = key.substr(0, dot); dot < key.size() && is_object(edit, name))
        std::visit([&, member = key.substr(dot + 1)](const auto& known) { objects[name][member] = known; },
                   value);
      else if (key != "op")
        edit.fields[key == kOpKey ? std::string(kOpField) : key] = field_text(value);
    }
    for (const auto& [name, object] : objects) edit.fields[name] = object.dump();
    return edit;
  }

 private:
  std::vector<std::pair<std::string, Metadata::Value>> values_;
};

Result<std::map<size_t, Entry>> entries_of(const Metadata& flat) {
  std::map<size_t, Entry> by_index;
  for (const auto& [key, value] : flat.all()) {
    if (!key.starts_with(kEdits)) continue;
    ORRERY_ASSIGN(auto place, parse_key(key));
    by_index[place.first].put(std::move(place.second), value);
  }
  return by_index;
}

/// A field as it is read best: a text, or the object that its text is, where the same is read again.
Json written(const Edit& edit, const std::string& name, const std::string& text) {
  if (!is_object(edit, name)) return text;
  const auto flat = io::flatten_json(text, name);
  const auto nested = [](const auto& entry) { return entry.first.find('.') != std::string::npos; };
  if (!flat.ok() || flat->all().empty() || std::ranges::any_of(flat->all(), nested)) return text;
  Json object;
  for (const auto& [key, value] : flat->all())
    std::visit([&, &key = key](const auto& known) { object[key] = known; }, value);
  return object;
}

}  // namespace

Result<Recipe> parse_recipe(std::string_view json) {
  if (json.size() > kLargestRecipe) return bad_recipe("The recipe is larger than 1 MB");
  ORRERY_ASSIGN(const Metadata flat, io::flatten_json(json, "recipe"));
  ORRERY_TRY(check_root(flat));
  ORRERY_ASSIGN(auto by_index, entries_of(flat));
  if (by_index.size() > kMostEdits)
    return bad_recipe(fmt::format("The recipe has more than {} edits", kMostEdits));
  Recipe recipe;
  for (const auto& [text, into] :
       {std::pair{"name", &recipe.name}, {"notes", &recipe.notes}, {"model", &recipe.model}})
    if (const std::string* found = flat.text(text)) *into = *found;
  for (auto& [index, entry] : by_index) {
    if (index != recipe.edits.size())
      return bad_recipe(fmt::format("Edit {} is empty", recipe.edits.size() + 1));
    Edit edit = entry.take();
    if (auto checked = check(edit); !checked.ok()) {
      Error error = checked.error();
      error.where = fmt::format("recipe, edit {}: {}", index + 1, error.where);
      return error;
    }
    recipe.edits.push_back(std::move(edit));
  }
  return recipe;
}

Result<Recipe> read_recipe(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestRecipe + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad())
    return Error{ErrorCode::io, "The recipe cannot be read", path.string(),
                 "check the file and its permissions"};
  text.resize(static_cast<size_t>(file.gcount()));
  ORRERY_ASSIGN(Recipe recipe, parse_recipe(text));
  resolve_files(recipe.edits, std::filesystem::absolute(path).parent_path());
  return recipe;
}

std::string write_recipe(const Recipe& recipe) {
  Json json;
  json["orrery_recipe"] = 1;
  for (const auto& [key, text] :
       {std::pair{"name", &recipe.name}, {"notes", &recipe.notes}, {"model", &recipe.model}})
    if (!text->empty()) json[key] = *text;
  json["edits"] = Json::array();
  for (const Edit& edit : recipe.edits) {
    Json entry;
    entry["op"] = edit.op;
    for (const auto& [name, value] : edit.fields)
      entry[name == kOpField ? std::string(kOpKey) : name] = written(edit, name, value);
    json["edits"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<Misfit> misfits(const graph::Graph& graph, const std::vector<Edit>& edits) {
  std::vector<Misfit> found;
  graph::Graph copy = graph;
  for (size_t i = 0; i < edits.size(); ++i)
    if (const auto applied = apply(copy, edits[i]); !applied.ok()) found.push_back({i, applied.error()});
  return found;
}

}  // namespace orrery::edit
