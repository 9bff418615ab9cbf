#include "ui/graph/scene_graph.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <unordered_set>

#include "engine/graph/shown_weights.h"
#include "ui/graph/scene_details.h"
#include "ui/graph/scene_stream.h"

namespace orrery::ui {
namespace {

bool isDigits(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "3", or "3@2" of a layer's copy.
bool isNumber(std::string_view text) {
  const size_t sign = text.find('@');
  if (sign == std::string_view::npos) return isDigits(text);
  return isDigits(text.substr(0, sign)) &&
         (isDigits(text.substr(sign + 1)) || isNumber(text.substr(sign + 1)));
}

/// Groups and nodes as they come from the scopes, before small groups are dissolved.
struct Draft {
  struct Group {
    std::string path, name;
    std::vector<SceneChild> children;  // indices into Draft
  };
  std::vector<Group> groups{{}};
  std::vector<NodeId> nodes;
  std::unordered_map<std::string, int> groupOf{{"", 0}};

  int groupAt(const std::string& scope) {
    if (const auto known = groupOf.find(scope); known != groupOf.end()) return known->second;
    int parent = 0;
    std::string path;
    for (const std::string& part : scopeParts(scope)) {
      path += path.empty() ? part : "." + part;
      const auto [place, fresh] = groupOf.try_emplace(path, static_cast<int>(groups.size()));
      const int index = place->second;
      if (fresh) {
        groups.push_back({path, part, {}});
        groups[static_cast<size_t>(parent)].children.push_back({true, index});
      }
      parent = index;
    }
    return parent;
  }

  /// A group of one child is that child; a layer stays a layer.
  SceneChild dissolved(SceneChild child) const {
    while (child.isGroup) {
      const Group& group = groups[static_cast<size_t>(child.index)];
      const bool numbered = isNumber(group.path.substr(group.path.rfind('.') + 1));
      if (group.children.size() != 1 || numbered) break;
      child = group.children.front();
    }
    return child;
  }
};

/// "layers" where there is a "layers.3": no place for a node, but where fusion across two layers leaves one.
std::unordered_set<std::string> stemsOf(const graph::Graph& graph) {
  std::unordered_set<std::string> stems;
  for (const NodeId id : graph.order()) {
    std::string path;
    for (const std::string& part : scopeParts(graph.node(id).scope)) {
      path += path.empty() ? part : "." + part;
      const size_t dot = path.rfind('.');
      if (dot != std::string::npos && isNumber(path.substr(dot + 1))) stems.insert(path.substr(0, dot));
    }
  }
  return stems;
}

/// "layers.3" of "layers.3.attention" under the stem "layers"; empty elsewhere.
std::string layerUnder(const std::string& stem, const std::string& scope) {
  if (scope.size() <= stem.size() + 1 || !scope.starts_with(stem + ".")) return {};
  const std::string layer = scope.substr(0, scope.find('.', stem.size() + 1));
  return isNumber(layer.substr(stem.size() + 1)) ? layer : std::string();
}

/// The scope in which each node is drawn: its own, or that of the layer that uses it first.
std::unordered_map<NodeId, std::string> placesOf(const graph::Graph& graph) {
  const std::unordered_set<std::string> stems = stemsOf(graph);
  std::unordered_map<NodeId, NodeId> firstUser;
  for (const NodeId id : graph.order())
    for (const ValueId input : graph.node(id).inputs)
      if (const graph::Value* value = input.valid() ? graph.find_value(input) : nullptr)
        firstUser.try_emplace(value->producer, id);
  std::unordered_map<NodeId, std::string> places;
  for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {  // users before what they use
    const std::string& scope = graph.node(*id).scope;
    std::string& place = places[*id] = scope;
    const auto user = stems.contains(scope) ? firstUser.find(*id) : firstUser.end();
    if (user == firstUser.end()) continue;
    const std::string layer = layerUnder(scope, places.at(user->second));
    if (!layer.empty()) place = layer;
  }
  return places;
}

Draft draftOf(const graph::Graph& graph) {
  Draft draft;
  const std::unordered_map<NodeId, std::string> places = placesOf(graph);
  const std::unordered_set<NodeId> shown = graph::shown_sources(graph);
  for (const NodeId id : graph.order()) {
    if (graph.node(id).is_source() && !shown.contains(id)) continue;
    const int group = draft.groupAt(places.at(id));
    draft.groups[static_cast<size_t>(group)].children.push_back(
        {false, static_cast<int>(draft.nodes.size())});
    draft.nodes.push_back(id);
  }
  return draft;
}

void setNumber(SceneGroup& group) {
  const std::vector<std::string> parts = scopeParts(group.path);
  if (parts.empty()) return;
  const size_t dot = parts.back().rfind('.');
  if (dot == std::string::npos || !isNumber(parts.back().substr(dot + 1))) return;
  const std::string number = parts.back().substr(dot + 1);
  group.number = std::stoi(number);
  group.copy = number.substr(std::min(number.find('@'), number.size()));
  group.stem = group.path.substr(0, group.path.rfind('.'));
}

/// Copies the draft depth first, so that every group's nodes are contiguous.
void addGroup(SceneGraph& scene, const Draft& draft, int source, int target, const std::vector<bool>& live,
              const std::unordered_map<NodeId, size_t>& orderOf) {
  scene.groups[static_cast<size_t>(target)].begin = static_cast<int>(scene.nodes.size());
  for (SceneChild child : draft.groups[static_cast<size_t>(source)].children) {
    child = draft.dissolved(child);
    const int childIndex = static_cast<int>(scene.groups[static_cast<size_t>(target)].children.size());
    if (child.isGroup) {
      const Draft::Group& from = draft.groups[static_cast<size_t>(child.index)];
      SceneGroup group;
      group.path = from.path;
      group.name = from.name;
      group.parent = target;
      group.child = childIndex;
      group.depth = scene.groups[static_cast<size_t>(target)].depth + 1;
      setNumber(group);
      const int index = static_cast<int>(scene.groups.size());
      scene.groupOf[group.path] = index;
      scene.groups.push_back(std::move(group));
      scene.groups[static_cast<size_t>(target)].children.push_back({true, index});
      addGroup(scene, draft, child.index, index, live, orderOf);
    } else {
      SceneNode node;
      node.id = draft.nodes[static_cast<size_t>(child.index)];
      node.group = target;
      node.child = childIndex;
      node.position = static_cast<int>(scene.nodes.size());
      node.live = live[orderOf.at(node.id)];
      scene.groups[static_cast<size_t>(target)].children.push_back({false, node.position});
      scene.nodeOf[node.id] = node.position;
      scene.nodes.push_back(std::move(node));
    }
  }
  SceneGroup& group = scene.groups[static_cast<size_t>(target)];
  group.end = static_cast<int>(scene.nodes.size());
  group.live = std::any_of(scene.nodes.begin() + group.begin, scene.nodes.begin() + group.end,
                           [](const SceneNode& node) { return node.live; });
}

/// Collects the edges of every group, one for each pair of children.
class EdgeCollector {
 public:
  EdgeCollector(SceneGraph& scene, const StreamUses& streams, const Bindings& bindings)
      : scene_(scene), streams_(streams), bindings_(bindings), known_(scene.groups.size()) {}

  void add(const SceneNode& from, const SceneNode& to, const graph::Value& value) {
    stream_ = streams_.contains(value.id, to.id);
    int a = from.group, b = to.group, childA = from.child, childB = to.child;
    while (a != b) {
      const int depthA = group(a).depth, depthB = group(b).depth;
      if (depthA >= depthB) {
        connect(a, childA, kExit, value);
        childA = group(a).child;
        a = group(a).parent;
      } else {
        connect(b, kEntry, childB, value);
        childB = group(b).child;
        b = group(b).parent;
      }
    }
    if (childA != childB) connect(a, childA, childB, value);
  }

 private:
  SceneGroup& group(int index) { return scene_.groups[static_cast<size_t>(index)]; }

  void connect(int index, int from, int to, const graph::Value& value) {
    auto& known = known_[static_cast<size_t>(index)];
    const uint64_t key = (static_cast<uint64_t>(static_cast<uint32_t>(from)) << 33) |
                         (static_cast<uint64_t>(static_cast<uint32_t>(to)) << 1) | uint64_t{stream_};
    std::vector<SceneEdge>& edges = group(index).edges;
    const auto [place, fresh] = known.try_emplace(key, edges.size());
    if (fresh) edges.push_back({from, to, {}, 0, stream_});
    SceneEdge& edge = edges[place->second];
    if (std::find(edge.values.begin(), edge.values.end(), value.id) != edge.values.end()) return;
    edge.values.push_back(value.id);
    edge.bytes += graph::bytes_of(value.type, bindings_);
  }

  SceneGraph& scene_;
  const StreamUses& streams_;
  const Bindings& bindings_;
  bool stream_ = false;  // of the edge that is added
  std::vector<std::unordered_map<uint64_t, size_t>> known_;
};

void collectEdges(SceneGraph& scene, const StreamUses& streams, const Bindings& bindings) {
  EdgeCollector collector(scene, streams, bindings);
  for (const SceneNode& node : scene.nodes)
    for (const ValueId input : scene.graph->node(node.id).inputs) {
      const graph::Value* value = input.valid() ? scene.graph->find_value(input) : nullptr;
      if (!value) continue;
      const auto producer = scene.nodeOf.find(value->producer);
      if (producer == scene.nodeOf.end()) continue;  // drawn on the node
      collector.add(scene.nodes[static_cast<size_t>(producer->second)], node, *value);
    }
}

/// Sources are found and selected by way of the first node that takes them.
void mapSources(SceneGraph& scene) {
  for (const SceneNode& node : scene.nodes)
    for (const ValueId input : scene.graph->node(node.id).inputs) {
      const graph::Value* value = input.valid() ? scene.graph->find_value(input) : nullptr;
      if (value) scene.nodeOf.try_emplace(value->producer, node.position);
    }
}

}  // namespace

std::vector<std::string> scopeParts(const std::string& scope) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start < scope.size()) {
    const size_t dot = std::min(scope.find('.', start), scope.size());
    std::string part = scope.substr(start, dot - start);
    if (!parts.empty() && isNumber(part) && !isNumber(parts.back()))
      parts.back() += "." + part;
    else
      parts.push_back(std::move(part));
    start = dot + 1;
  }
  return parts;
}

const SceneNode* SceneGraph::find(NodeId id) const {
  const auto place = nodeOf.find(id);
  return place == nodeOf.end() ? nullptr : &nodes[static_cast<size_t>(place->second)];
}

bool SceneGraph::draws(NodeId id) const {
  const SceneNode* node = find(id);
  return node && node->id == id;
}

int SceneGraph::group(const std::string& path) const {
  const auto place = groupOf.find(path);
  return place == groupOf.end() ? -1 : place->second;
}

std::vector<int> SceneGraph::chain(int group) const {
  std::vector<int> chain;
  for (; group >= 0; group = groups[static_cast<size_t>(group)].parent) chain.push_back(group);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::shared_ptr<const SceneGraph> makeScene(graph::GraphVersion graph, const Bindings& bindings,
                                            std::stop_token stop) {
  auto scene = std::make_shared<SceneGraph>();
  scene->graph = std::move(graph);
  const Draft draft = draftOf(*scene->graph);
  // Of one's own graph nothing is bypassed: a node that no output needs yet is looked at in a run.
  const std::vector<bool> live = graph::takes_arrays(*scene->graph)
                                     ? std::vector<bool>(scene->graph->order().size(), true)
                                     : scene->graph->live();
  std::unordered_map<NodeId, size_t> orderOf;
  for (size_t i = 0; i < scene->graph->order().size(); ++i) orderOf[scene->graph->order()[i]] = i;
  scene->nodes.reserve(draft.nodes.size());
  scene->groups.reserve(draft.groups.size());
  scene->groups.emplace_back();
  scene->groupOf[""] = 0;
  addGroup(*scene, draft, 0, 0, live, orderOf);
  if (stop.stop_requested()) return nullptr;
  collectEdges(*scene, traceStreams(*scene), bindings);
  mapSources(*scene);
  if (stop.stop_requested()) return nullptr;
  describeNodes(*scene, bindings);
  describeGroups(*scene);
  hashGroups(*scene);
  return stop.stop_requested() ? nullptr : scene;
}

}  // namespace orrery::ui
