#include "engine/edit/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "engine/edit/number_in.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/words.h"

namespace orrery::edit {
namespace {

/// How far a name is from what was written.
struct Distance {
  size_t letters = 0;  // to change
  int64_t steps = 0;   // between numbers that differ
  auto operator<=>(const Distance&) const = default;
};

/// Of one part between dots; nothing where nobody would take one for the other.
std::optional<Distance> distance(const PatternPart& wanted, std::string_view part) {
  if (wanted.matches(part)) return Distance{};
  const auto number = number_in<int64_t>(part);
  if (wanted.kind == PatternPart::Kind::range)
    return number ? std::optional(Distance{
                        1, std::min(std::abs(*number - wanted.first), std::abs(*number - wanted.last))})
                  : std::nullopt;
  const auto asked = number_in<int32_t>(wanted.text);
  if (asked && number) return Distance{1, std::abs(*number - *asked)};
  const size_t most = std::max(wanted.text.size(), part.size()) / 3 + 1;
  const size_t letters = edit_distance(wanted.text, part, most);
  return letters <= most ? std::optional(Distance{letters, 0}) : std::nullopt;
}

/// Distances of parts, each worked out once: the names of a layer come again in every layer.
class Distances {
 public:
  explicit Distances(std::vector<PatternPart> wanted) : wanted_(std::move(wanted)), known_(wanted_.size()) {}

  size_t parts() const { return wanted_.size(); }
  /// Of a name of as many parts.
  std::optional<Distance> of(const std::vector<std::string_view>& name) {
    Distance sum;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const auto known = known_[i].find(name[i]);
      const std::optional<Distance> part =
          known != known_[i].end() ? known->second
                                   : known_[i].emplace(name[i], distance(wanted_[i], name[i])).first->second;
      if (!part) return std::nullopt;
      sum.letters += part->letters;
      sum.steps += part->steps;
    }
    return sum;
  }
  /// The name as a person would have written it: with the patterns that fit.
  std::string written(const std::vector<std::string_view>& name) const {
    std::string text;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (i > 0) text += '.';
      text += wanted_[i].matches(name[i]) ? wanted_[i].text : name[i];
    }
    return text;
  }

 private:
  std::vector<PatternPart> wanted_;
  std::vector<std::map<std::string, std::optional<Distance>, std::less<>>> known_;
};

/// The nearest names of as many parts, in the order of the graph.
std::vector<std::string> near_by_parts(const graph::Graph& graph, std::string_view pattern) {
  Distances distances(parse_pattern(pattern));
  std::optional<Distance> least;
  std::vector<std::string> names;
  for (const NodeId id : graph.order()) {
    const std::string path = graph.node(id).path();
    const std::vector<std::string_view> parts = split(path, '.');
    if (parts.size() < distances.parts()) continue;
    const std::optional<Distance> far = distances.of(parts);
    if (!far || (least && *far > *least)) continue;
    if (far != least) names.clear();
    least = far;
    if (std::string name = distances.written(parts); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

/// Paths that end so, as of who leaves the scope out; and the end of what was written, as of who writes more
/// than there is.
std::vector<std::string> near_by_ends(const graph::Graph& graph, std::string_view pattern, size_t most) {
  std::vector<std::string> names;
  for (size_t dot = pattern.find('.'); dot != std::string_view::npos; dot = pattern.find('.', dot + 1)) {
    const std::string_view end = pattern.substr(dot + 1);
    if (!end.empty() && !graph.in_scope(end).empty()) return {std::string(end)};
  }
  const std::string ending = "." + std::string(pattern);
  for (const NodeId id : graph.order()) {
    std::string path = graph.node(id).path();
    if (path.ends_with(ending)) names.push_back(std::move(path));
    if (names.size() == most) break;
  }
  return names;
}

Error nothing_named(const graph::Graph& graph, std::string what, std::string_view wanted,
                    std::string_view name, std::string otherwise) {
  return {ErrorCode::not_found, std::move(what), std::string(wanted.substr(0, 200)),
          offer(nearest_names(graph, name), std::move(otherwise))};
}

std::string outputs_of(const graph::Graph& graph, const graph::Node& node) {
  std::string names;
  for (const ValueId output : node.outputs) (names += names.empty() ? "" : ", ") += graph.value_path(output);
  return names;
}

std::string inputs_of(const graph::Node& node) {
  std::string names;
  for (const graph::InputSpec& spec : node.op->inputs) (names += names.empty() ? "" : ", ") += spec.name;
  return names.empty() ? fmt::format("{} reads nothing", node.op->name)
                       : fmt::format("{} reads {}", node.op->name, names);
}

/// The place of an input by its number or its name; nothing where the node has none of it.
std::optional<int> input_at(const graph::Node& node, std::string_view name) {
  const size_t count = node.inputs.size();
  if (const auto number = number_in<uint32_t>(name)) {
    const bool there = *number < count || (*number == count && graph::is_variadic(*node.op, count));
    return there ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }
  const auto spec = std::ranges::find(node.op->inputs, name, &graph::InputSpec::name);
  if (spec == node.op->inputs.end()) return std::nullopt;
  return static_cast<int>(spec->variadic ? count : static_cast<size_t>(spec - node.op->inputs.begin()));
}

}  // namespace

Result<NodeId> find_node(const graph::Graph& graph, std::string_view path) {
  if (const NodeId id = graph.find_path(path); id.valid()) return id;
  return nothing_named(graph, "There is no such node", path, path,
                       "write its path, for example sampler.sample");
}

Result<ValueId> find_value(const graph::Graph& graph, std::string_view name) {
  const size_t colon = name.rfind(':');
  std::string path(name.substr(0, colon));
  std::ranges::replace(path, '/', '.');
  const NodeId id = graph.find_path(path);
  if (!id.valid())
    return nothing_named(graph, "There is no node that makes this value", name, path,
                         "write NODE:OUTPUT, for example layers.0.attention.q_proj:dst");
  const graph::Node& node = graph.node(id);
  if (colon == std::string_view::npos && node.outputs.size() == 1) return node.outputs.front();
  for (const ValueId output : node.outputs)
    if (colon != std::string_view::npos && graph.value(output).name == name.substr(colon + 1)) return output;
  return Error{ErrorCode::not_found, fmt::format("{} makes no such value", node.op->name),
               std::string(name.substr(0, 200)), "it makes " + outputs_of(graph, node)};
}

Result<InputPlace> find_input(const graph::Graph& graph, std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view path = name.substr(0, dot);
  const NodeId id = dot == std::string_view::npos ? NodeId{} : graph.find_path(path);
  if (!id.valid())
    return nothing_named(graph, "There is no node that reads it", name, path,
                         "write NODE.INPUT, for example layers.0.mlp.residual.1");
  const graph::Node& node = graph.node(id);
  if (const auto input = input_at(node, name.substr(dot + 1))) return InputPlace{id, *input};
  return Error{ErrorCode::not_found, fmt::format("{} has no such input", node.op->name),
               std::string(name.substr(0, 200)), inputs_of(node)};
}

Path split_path(std::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, dot)), std::string(path.substr(dot + 1))};
}

Path moved_path(const graph::Node& node, std::string_view from, std::string_view to) {
  if (node.scope.starts_with(from) && (node.scope.size() == from.size() || node.scope[from.size()] == '.'))
    return {std::string(to) + node.scope.substr(from.size()), node.name};
  const std::string path = std::string(to) + node.path().substr(from.size());
  return {node.scope, node.scope.empty() ? path : path.substr(node.scope.size() + 1)};
}

Result<void> check_free(const graph::Graph& graph, const std::string& path) {
  std::string free = free_path(graph, path);
  if (free == path) return {};
  return Error{ErrorCode::invalid_argument, "This name is taken", path.substr(0, 200),
               "choose another one, such as " + std::move(free)};
}

std::string free_path(const graph::Graph& graph, const std::string& path) {
  std::string free = path;
  for (int number = 2; !graph.in_scope(free).empty(); ++number) free = fmt::format("{}_{}", path, number);
  return free;
}

std::vector<std::string> nearest_names(const graph::Graph& graph, std::string_view pattern, size_t most) {
  if (pattern.empty() || pattern.size() > 200) return {};
  std::vector<std::string> names = near_by_ends(graph, pattern, most);
  for (std::string& name : near_by_parts(graph, pattern))
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  if (names.size() > most) names.resize(most);
  return names;
}

std::string offer(const std::vector<std::string>& names, std::string otherwise) {
  if (names.empty()) return otherwise;
  std::string text = "did you mean " + names.front();
  for (size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text + "?";
}

}  // namespace orrery::edit
