#include "engine/graph/op_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <stdexcept>

namespace orrery::graph {
namespace {

/// As names are printed in graphs and written in recipes.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Error refuse(const OpSchema& op, std::string what, std::string advice) {
  return {ErrorCode::invalid_argument, std::move(what), fmt::format("op \"{}\"", op.name.substr(0, 80)),
          std::move(advice)};
}

template <class Names, class NameOf>
Result<void> check_names(const OpSchema& op, std::string_view kind, const Names& names, NameOf name_of) {
  std::set<std::string_view> seen;
  for (const auto& entry : names) {
    const std::string_view name = name_of(entry);
    if (!is_name(name))
      return refuse(op, fmt::format("\"{}\" is no name of an {}", name.substr(0, 80), kind),
                    "use small letters, digits and _");
    if (!seen.insert(name).second)
      return refuse(op, fmt::format("The {} {} is there twice", kind, name), "give each a name of its own");
  }
  return {};
}

Result<void> check(const OpSchema& op) {
  if (!is_name(op.name))
    return refuse(op, "This is no name of an op", "use small letters, digits and _, 64 at most");
  ORRERY_TRY(
      check_names(op, "input", op.inputs, [](const InputSpec& spec) { return std::string_view(spec.name); }));
  ORRERY_TRY(
      check_names(op, "output", op.outputs, [](const std::string& name) { return std::string_view(name); }));
  ORRERY_TRY(check_names(op, "attribute", op.attributes,
                         [](const AttributeSpec& spec) { return std::string_view(spec.name); }));
  if (op.outputs.empty()) return refuse(op, "It has no output", "name what it makes");
  if (!op.infer) return refuse(op, "It does not say which types it makes", "give it an infer");
  for (size_t i = 0; i + 1 < op.inputs.size(); ++i)
    if (op.inputs[i].variadic)
      return refuse(op, fmt::format("The input {} is variadic and not the last", op.inputs[i].name),
                    "put it last");
  for (const AttributeSpec& spec : op.attributes)
    if (is_common_attribute(spec.name))
      return refuse(op, fmt::format("Every op has the attribute {}", spec.name),
                    "give this one another name");
  return {};
}

}  // namespace

OpRegistry::OpRegistry(std::vector<OpSchema> ops) {
  for (OpSchema& op : ops)
    if (const auto added = add(std::move(op)); !added) throw std::invalid_argument(added.error().to_string());
}

std::vector<OpPtr>::const_iterator OpRegistry::place_of(std::string_view name) const {
  return std::find_if(ops_.begin(), ops_.end(), [&](const OpPtr& op) { return op->name == name; });
}

OpPtr OpRegistry::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto place = place_of(name);
  return place == ops_.end() ? nullptr : *place;
}

std::vector<OpPtr> OpRegistry::all() const {
  const std::shared_lock lock(mutex_);
  return ops_;
}

Result<OpPtr> OpRegistry::add(OpSchema op) {
  ORRERY_TRY(check(op));
  const std::unique_lock lock(mutex_);
  if (place_of(op.name) != ops_.end())
    return refuse(op, "An op of this name is there already", "choose another name, or remove that one first");
  const auto left = left_.find(op.name);
  op.revision = left == left_.end() ? 0 : left->second;
  return ops_.emplace_back(std::make_shared<const OpSchema>(std::move(op)));
}

Result<OpPtr> OpRegistry::remove(std::string_view name) {
  const std::unique_lock lock(mutex_);
  const auto place = place_of(name);
  if (place == ops_.end())
    return Error{ErrorCode::not_found, fmt::format("There is no op \"{}\"", name.substr(0, 80)), "", ""};
  OpPtr op = *place;
  ops_.erase(place);
  ++left_[op->name];
  return op;
}

}  // namespace orrery::graph
