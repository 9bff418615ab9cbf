#include "ui/graph/graph_diff.h"

#include <algorithm>

#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

/// The same node in the other graph: of its path, or renamed.
const graph::Node* sameIn(const graph::Graph& graph, const graph::Node& node, Kin kin) {
  if (const graph::Node* found = graph.find(graph.find_path(node.path()));
      found && found->op->name == node.op->name)
    return found;
  const graph::Node* found = kin == Kin::version ? graph.find(node.id) : nullptr;
  return found && found->op->name == node.op->name ? found : nullptr;
}

bool sameValue(const graph::Graph& a, ValueId one, const graph::Graph& b, ValueId other, Kin kin) {
  if (one == other && (kin == Kin::version || !one.valid())) return true;
  return a.find_value(one) && b.find_value(other) && a.value_path(one) == b.value_path(other);
}

const graph::Value* firstWeight(const graph::Graph& graph, const graph::Node& node) {
  for (const ValueId input : node.inputs)
    if (const graph::Value* value = input.valid() ? graph.find_value(input) : nullptr;
        value && value->kind == graph::ValueKind::weight)
      return value;
  return nullptr;
}

void bringBack(graph::Graph& shown, const graph::Graph& opened, const std::vector<NodeId>& removed) {
  // Each before the first node after it that is still there, so that the order stays.
  for (const NodeId id : removed) {
    const auto place = std::find(opened.order().begin(), opened.order().end(), id);
    const auto next = std::find_if(place, opened.order().end(),
                                   [&shown](NodeId one) { return shown.find(one) != nullptr; });
    std::vector<ValueId> inputs = opened.node(id).inputs;
    for (ValueId& input : inputs)
      if (input.valid() && !shown.find_value(input)) input = {};
    shown.bring_back(opened, id, std::move(inputs), next == opened.order().end() ? NodeId{} : *next);
  }
}

void collect(const Drawing& drawing, int group, const GroupLayout& layout, const GraphDiff& diff,
             WireChanges& changes) {
  const SceneGraph& scene = *drawing.scene;
  for (size_t i = 0; i < layout.wires.size(); ++i) {
    const PlacedWire& wire = layout.wires[i];
    WireChange change = WireChange::none;
    if (wire.edge < 0 && wire.from >= 0) {  // what passes a dead thing by; a deleted one fed it once
      const Span span = spanOf(scene, scene.groups[at(group)], layout.items[at(wire.from)]);
      if (diff.removed.contains(scene.nodes[at(span.begin)].id)) change = WireChange::removed;
    }
    for (const graph::Use& use : usesOf(scene, group, layout, wire)) {
      const WireChange own = diff.changeOf(use);
      if (own != WireChange::none) change = own;
      if (own == WireChange::changed) break;
    }
    if (change != WireChange::none) changes[wireKey(group, static_cast<int>(i))] = change;
  }
  for (const Placed& placed : layout.items)
    if (placed.kind == Placed::Kind::open)
      collect(drawing, scene.groups[at(group)].children[at(placed.first)].index, *placed.inner, diff,
              changes);
}

}  // namespace

WireChange GraphDiff::changeOf(const graph::Use& reader) const {
  if (removed.contains(reader.node)) return WireChange::removed;
  if (added.contains(reader.node)) return WireChange::added;
  const graph::Node* node = shown->find(reader.node);
  const graph::Node* same = node ? sameIn(*before, *node, kin) : nullptr;
  if (!same) return WireChange::none;
  const auto place = at(reader.input);
  const ValueId was = place < same->inputs.size() ? same->inputs[place] : ValueId{};
  if (!was.valid()) return WireChange::added;
  return sameValue(*before, was, *shown, node->inputs[place], kin) ? WireChange::none : WireChange::changed;
}

QString changeWord(const graph::Graph& before, const graph::Graph& now, NodeId id, Kin kin) {
  const graph::Node* node = now.find(id);
  const graph::Node* same = node ? sameIn(before, *node, kin) : nullptr;
  if (!same) return {};
  const QString word = kin == Kin::version ? QStringLiteral("was") : QStringLiteral("there");
  const graph::Value *weight = firstWeight(now, *node), *was = firstWeight(before, *same);
  if (weight && was && weight->type.dtype != was->type.dtype)
    return QStringLiteral("%1, %2 %3")
        .arg(text(std::string(name_of(weight->type.dtype))), word,
             text(std::string(name_of(was->type.dtype))));
  for (const auto& [name, value] : node->attributes) {
    const auto old = same->attributes.find(name);
    if (graph::is_common_attribute(name) || old == same->attributes.end() || old->second == value) continue;
    const QString next = attributeText(value), last = attributeText(old->second);
    return std::holds_alternative<std::string>(value) && kin == Kin::version
               ? QStringLiteral("%1 → %2").arg(last, next)
               : QStringLiteral("%1 %2, %3 %4").arg(text(name), next, word, last);
  }
  return {};
}

ChangeWords changeWords(const graph::Graph& before, const graph::Graph& now,
                        const std::unordered_set<NodeId>& nodes, Kin kin) {
  ChangeWords words;
  for (const NodeId id : nodes)
    if (QString word = changeWord(before, now, id, kin); !word.isEmpty()) words[id] = std::move(word);
  return words;
}

DiffPtr diffOf(const graph::GraphVersion& before, const graph::GraphVersion& now, Kin kin) {
  auto diff = std::make_shared<GraphDiff>(GraphDiff{before, now, kin, {}, {}});
  for (const NodeId id : now->order())
    if (const graph::Node& node = now->node(id); !node.is_source() && !sameIn(*before, node, kin))
      diff->added.insert(id);
  if (kin == Kin::model) return diff;
  std::vector<NodeId> removed;
  for (const NodeId id : before->order())
    if (const graph::Node& node = before->node(id);
        !node.is_source() && !now->find(id) && !sameIn(*now, node, kin))
      removed.push_back(id);
  diff->removed.insert(removed.begin(), removed.end());
  if (!removed.empty()) {
    auto shown = std::make_shared<graph::Graph>(*now);
    bringBack(*shown, *before, removed);
    diff->shown = std::move(shown);
  }
  return diff;
}

std::unordered_set<NodeId> differentNodes(const GraphDiff& diff) {
  std::unordered_set<NodeId> different = diff.added;
  for (const NodeId id : diff.shown->order()) {
    const graph::Node& node = diff.shown->node(id);
    if (node.is_source() || diff.removed.contains(id)) continue;
    bool changed = !changeWord(*diff.before, *diff.shown, id, diff.kin).isEmpty();
    for (size_t i = 0; i < node.inputs.size() && !changed; ++i)
      changed = node.inputs[i].valid() && diff.changeOf({id, static_cast<int>(i)}) != WireChange::none;
    if (changed) different.insert(id);
  }
  return different;
}

WireChanges wireChanges(const Drawing& drawing, const GraphDiff& diff) {
  WireChanges changes;
  if (drawing) collect(drawing, 0, *drawing.layout, diff, changes);
  return changes;
}

}  // namespace orrery::ui
