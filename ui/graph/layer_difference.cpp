#include "ui/graph/layer_difference.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

/// "mlp.down_proj" of layers.3.mlp.down_proj.
std::string placeIn(const SceneGraph& scene, const SceneGroup& layer, const SceneNode& node) {
  const std::string& scope = scene.groups[at(node.group)].path;
  const std::string inner = scope.size() > layer.path.size() ? scope.substr(layer.path.size() + 1) + "." : "";
  return inner + node.name;
}

struct Weight {
  double bytes = 0;
  std::string type;
};

/// The largest that a node takes.
Weight weightOf(const graph::Graph& graph, const graph::Node& node) {
  Weight largest;
  for (const ValueId input : node.inputs) {
    const graph::Value* value = input.valid() ? graph.find_value(input) : nullptr;
    if (!value || value->kind != graph::ValueKind::weight) continue;
    const double bytes = graph::bytes_of(value->type, {});
    if (bytes >= largest.bytes) largest = {bytes, std::string(name_of(value->type.dtype))};
  }
  return largest;
}

std::string shapeOf(const graph::Graph& graph, const graph::Node& node) {
  const graph::Value* value = node.outputs.empty() ? nullptr : graph.find_value(node.outputs.front());
  return value ? to_string(value->type) : std::string();
}

/// "window 512" where the usual node has another window; of a flag its name.
std::string attributeWord(const graph::Node& usual, const graph::Node& other) {
  static const std::set<std::string> kOwn = {"layer", "tensor", "name", "frame", "note"};
  for (const auto& [name, value] : other.attributes) {
    const auto before = usual.attributes.find(name);
    if (kOwn.contains(name) || (before != usual.attributes.end() && before->second == value)) continue;
    const std::string text = attributeText(value).toStdString();
    return text.size() > 16 ? name : name == "device" || name == "precision" ? text : name + " " + text;
  }
  for (const auto& [name, value] : usual.attributes)
    if (!kOwn.contains(name) && !other.attributes.contains(name)) return "no " + name;
  return {};
}

/// Kinds of difference, the most telling first.
enum class Kind { weight, op, attribute, added, removed, shape, kernel, none };
struct Found {
  Kind kind = Kind::none;
  std::string word;
};

Found compare(const graph::Graph& graph, const graph::Node& usual, const graph::Node& other,
              const std::string& usualKernel, const std::string& otherKernel) {
  if (usual.op->name != other.op->name) return {Kind::op, std::string(other.op->name)};
  const std::string before = weightOf(graph, usual).type, after = weightOf(graph, other).type;
  if (before != after && !after.empty()) return {Kind::weight, after};
  if (std::string word = attributeWord(usual, other); !word.empty()) return {Kind::attribute, word};
  if (const std::string shape = shapeOf(graph, other); shape != shapeOf(graph, usual))
    return {Kind::shape, shape};
  if (usualKernel != otherKernel && !usualKernel.empty() && !otherKernel.empty())
    return {Kind::kernel, otherKernel.substr(otherKernel.rfind('.') + 1)};
  return {};
}

/// "mlp" where all of it is in there.
std::string commonPlace(const std::vector<std::string>& places) {
  std::string common;
  for (const std::string& place : places) {
    const size_t dot = place.find('.');
    const std::string half = dot == std::string::npos ? place : place.substr(0, dot);
    if (!common.empty() && common != half) return {};
    common = half;
  }
  return places.size() == 1 ? places.front().substr(places.front().rfind('.') + 1) : common;
}

}  // namespace

LayerDifference layerDifference(const SceneGraph& scene, int usual, int other,
                                const std::function<std::string(int)>& kernelOf) {
  const SceneGroup &before = scene.groups[at(usual)], &after = scene.groups[at(other)];
  std::unordered_map<std::string, int> known;
  for (int position = before.begin; position < before.end; ++position)
    known.emplace(placeIn(scene, before, scene.nodes[at(position)]), position);
  LayerDifference difference;
  Found first;
  std::vector<std::string> places;
  const auto tell = [&](Found found, int position, const std::string& place) {
    if (found.kind == Kind::none) return;
    if (position >= 0) difference.nodes.emplace_back(position, found.word);
    if (found.kind > first.kind) return;
    if (found.kind < first.kind) places.clear();
    if (found.kind < first.kind) first = found;
    places.push_back(place);
  };
  for (int position = after.begin; position < after.end; ++position) {
    const SceneNode& node = scene.nodes[at(position)];
    const std::string place = placeIn(scene, after, node);
    const auto match = known.find(place);
    if (match == known.end()) {
      tell({Kind::added, node.name}, position, place);
      continue;
    }
    const SceneNode& twin = scene.nodes[at(match->second)];
    tell(compare(*scene.graph, scene.graph->node(twin.id), scene.graph->node(node.id),
                 kernelOf(twin.position), kernelOf(position)),
         position, place);
    known.erase(match);
  }
  if (first.kind == Kind::added && known.empty())
    first.word = "+ " + first.word;  // else it stands for another
  for (const auto& [place, position] : known)
    tell({Kind::removed, "no " + scene.nodes[at(position)].name}, -1, place);
  if (first.kind == Kind::none && before.kindHash != after.kindHash) first.word = "wired otherwise";
  difference.word = first.word;
  const bool named = first.kind == Kind::op || first.kind == Kind::added || first.kind == Kind::removed;
  if (!named) difference.where = commonPlace(places);  // else the word is the place
  return difference;
}

std::string mainType(const SceneGraph& scene, int layer) {
  Weight largest;
  for (int position = scene.groups[at(layer)].begin; position < scene.groups[at(layer)].end; ++position) {
    const Weight weight = weightOf(*scene.graph, scene.graph->node(scene.nodes[at(position)].id));
    if (weight.bytes > largest.bytes) largest = weight;
  }
  return largest.type;
}

}  // namespace orrery::ui
