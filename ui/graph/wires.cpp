#include "ui/graph/wires.h"
#include "ui/graph/scene_graph.h"

#include <algorithm>

namespace orrery::ui {
namespace {

int endOf(const GroupLayout& layout, int child, int end) {
  return child < 0 ? end : layout.itemOf[at(child)];
}

}  // namespace

bool standsFor(const SceneGraph& scene, int holder, const GroupLayout& layout, int item, int position) {
  const SceneGroup& group = scene.groups[at(holder)];
  if (item < 0) return position < group.begin || position >= group.end;
  const Span span = spanOf(scene, group, layout.items[at(item)]);
  return position >= span.begin && position < span.end;
}

std::vector<ValueId> valuesOf(const SceneGraph& scene, int holder, const GroupLayout& layout,
                              const PlacedWire& wire) {
  if (wire.edge < 0) return {};
  const std::vector<SceneEdge>& edges = scene.groups[at(holder)].edges;
  const auto several = [&layout](int item) {
    return item >= 0 && layout.items[at(item)].kind == Placed::Kind::stack;
  };
  if (!several(wire.from) && !several(wire.to)) return edges[at(wire.edge)].values;
  std::vector<ValueId> values;
  for (size_t i = at(wire.edge); i < edges.size(); ++i) {
    if (endOf(layout, edges[i].from, kLayoutEntry) != wire.from ||
        endOf(layout, edges[i].to, kLayoutExit) != wire.to)
      continue;
    for (const ValueId value : edges[i].values)
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::vector<graph::Use> usesOf(const SceneGraph& scene, int holder, const GroupLayout& layout,
                               const PlacedWire& wire) {
  std::vector<graph::Use> uses;
  for (const ValueId value : valuesOf(scene, holder, layout, wire))
    for (const graph::Use& use : scene.graph->users(value)) {
      const SceneNode* reader = scene.find(use.node);
      if (reader && standsFor(scene, holder, layout, wire.to, reader->position)) uses.push_back(use);
    }
  return uses;
}

const PlacedWire* wireOf(const Drawing& drawing, const Hit& hit) {
  if (hit.kind != Hit::Kind::wire) return nullptr;
  const LaidOut holder = laidOut(drawing, hit.holder);
  return holder && at(hit.item) < holder.layout->wires.size() ? &holder.layout->wires[at(hit.item)] : nullptr;
}

}  // namespace orrery::ui
