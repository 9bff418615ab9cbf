#include "ui/graph/cell_stream.h"

#include <algorithm>
#include <map>

#include "ui/graph/group_assembly.h"
#include "ui/graph/node_box.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

constexpr double kSideStep = 6;  // a tap and a ring of one box keep apart

/// A drawn box and what its nodes do to the stream.
struct Mark {
  Rect box;
  int child = 0;  // of the layer
  uint8_t roles = 0;
  int position = 0;  // of its first node that does something
  double tapY = 0, ringY = 0;
};

class CellStream {
 public:
  CellStream(const SceneGraph& scene, const SceneGroup& layer, GroupLayout& layout)
      : scene_(scene), layer_(layer), layout_(layout), run_(scene.runs[at(layer.run)]) {}

  void draw() {
    makeRoom();
    collect();
    addLines();
    for (const Mark& mark : marks_) addMark(mark);
  }

 private:
  void makeRoom() {
    const double dx = kStreamRoom / 2;
    shiftLayout(layout_, dx);
    layout_.halfWidth += dx;
    layout_.spine += dx;
    x_ = -layout_.halfWidth + kStreamInset;
  }

  /// The box of a node, or of the folded group that hides it, in the layer's coordinates.
  Rect boxOf(const SceneNode& node) const {
    const std::vector<int> chain = scene_.chain(node.group);
    auto group = std::find(chain.begin(), chain.end(), scene_.runs[at(layer_.run)].layers[at(layer_.layer)]);
    const GroupLayout* layout = &layout_;
    Point origin;
    for (;;) {
      const bool last = ++group == chain.end();
      const int child = last ? node.child : scene_.groups[at(*group)].child;
      const Placed& placed = layout->items[at(layout->itemOf[at(child)])];
      const Rect box = placed.box.moved(origin.x, origin.y);
      if (last || placed.kind != Placed::Kind::open) return box;
      origin = {box.x + box.w / 2 + placed.shift, box.y};
      layout = placed.inner.get();
    }
  }

  int childOf(const SceneNode& node) const {
    int group = node.group, child = node.child;
    while (group != run_.layers[at(layer_.layer)]) {
      child = scene_.groups[at(group)].child;
      group = scene_.groups[at(group)].parent;
    }
    return child;
  }

  void collect() {
    for (int position = layer_.begin; position < layer_.end; ++position) {
      const SceneNode& node = scene_.nodes[at(position)];
      if (node.stream == 0) continue;
      const Rect box = boxOf(node);
      const auto known = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) {
        return mark.box.x == box.x && mark.box.y == box.y;
      });
      Mark& mark =
          known == marks_.end() ? marks_.emplace_back(Mark{box, childOf(node), 0, position, 0, 0}) : *known;
      mark.roles |= node.stream;
    }
    for (Mark& mark : marks_) {
      const double middle = mark.box.y + mark.box.h / 2;
      const bool both = taps(mark) && gives(mark);
      mark.tapY = middle - (both ? kSideStep : 0);
      mark.ringY = middle + (both ? kSideStep : 0);
    }
  }

  static bool taps(const Mark& mark) { return (mark.roles & stream::reads) != 0; }
  static bool gives(const Mark& mark) {
    return (mark.roles & (stream::joins | stream::makes | stream::adds)) != 0;
  }

  const Mark* markOf(NodeId id) const {
    const SceneNode* node = scene_.find(id);
    if (!node || node->position < layer_.begin || node->position >= layer_.end) return nullptr;
    const Rect box = boxOf(*node);
    for (const Mark& mark : marks_)
      if (mark.box.x == box.x && mark.box.y == box.y) return &mark;
    return nullptr;
  }

  /// The stretch of the stream that one value takes: from where it is made to where it is taken last.
  struct Reach {
    double top, bottom;
    ValueId value;
  };

  std::vector<Reach> reaches() const {
    std::map<uint32_t, Reach> byValue;
    const ValueId enters = run_.enters[at(layer_.layer)], leaves = run_.leaves[at(layer_.layer)];
    if (enters.valid()) byValue[enters.value] = {0, 0, enters};
    for (int position = layer_.begin; position < layer_.end; ++position) {
      const SceneNode& node = scene_.nodes[at(position)];
      for (const ValueId output : scene_.graph->node(node.id).outputs)
        if ((node.stream & (stream::joins | stream::makes | stream::reads)) != 0)
          if (const Mark* mark = markOf(node.id)) {
            const double y = (node.stream & stream::reads) != 0 ? mark->tapY : mark->ringY;
            byValue.try_emplace(output.value, Reach{y, y, output});
          }
    }
    for (int position = layer_.begin; position < layer_.end; ++position) {
      const SceneNode& node = scene_.nodes[at(position)];
      const Mark* mark = node.stream != 0 ? markOf(node.id) : nullptr;
      if (!mark) continue;
      for (const ValueId input : scene_.graph->node(node.id).inputs)
        if (const auto known = byValue.find(input.value); known != byValue.end())
          known->second.bottom = std::max(known->second.bottom, taps(*mark) ? mark->tapY : mark->ringY);
    }
    if (const auto known = byValue.find(leaves.value); known != byValue.end() && leaves.valid())
      known->second.bottom = layout_.height;
    std::vector<Reach> all;
    for (const auto& [id, reach] : byValue)
      if (reach.bottom > reach.top) all.push_back(reach);
    std::sort(all.begin(), all.end(), [](const Reach& a, const Reach& b) { return a.top < b.top; });
    return all;
  }

  /// The edge of the layer that carries the value to a child, or from it; -1: it only passes.
  int edgeOf(ValueId value, int to, int from) const {
    int any = -1;
    for (size_t i = 0; i < layer_.edges.size(); ++i) {
      const SceneEdge& edge = layer_.edges[i];
      if (std::find(edge.values.begin(), edge.values.end(), value) == edge.values.end()) continue;
      if ((to >= 0 && edge.to == to) || (from >= 0 && edge.from == from)) return static_cast<int>(i);
      any = static_cast<int>(i);
    }
    return any;
  }

  void add(WireKind kind, int edge, int from, int to, std::vector<Point> points) {
    PlacedWire wire;
    wire.kind = kind;
    wire.edge = edge;
    wire.from = from;
    wire.to = to;
    wire.points = std::move(points);
    wire.bounds = boundsOf(wire.points);
    wire.arrow = kind == WireKind::tap;
    layout_.wires.push_back(std::move(wire));
  }

  void addLines() {
    for (const Reach& reach : reaches())
      add(WireKind::stream, edgeOf(reach.value, -1, -1), kLayoutEntry, kLayoutExit,
          {{x_, reach.top}, {x_, reach.bottom}});
  }

  ValueId taken(const SceneNode& node) const {
    const std::vector<ValueId>& inputs = scene_.graph->node(node.id).inputs;
    for (const SceneEdge& edge : layer_.edges)
      for (const ValueId value : edge.values)
        if (edge.stream && std::find(inputs.begin(), inputs.end(), value) != inputs.end()) return value;
    return run_.enters[at(layer_.layer)];
  }

  void addMark(const Mark& mark) {
    const SceneNode& node = scene_.nodes[at(mark.position)];
    const int item = layout_.itemOf[at(mark.child)];
    if (taps(mark))
      add(WireKind::tap, edgeOf(taken(node), mark.child, -1), kLayoutEntry, item,
          {{x_, mark.tapY}, {mark.box.x, mark.tapY}});
    if (!gives(mark)) return;
    const std::vector<ValueId>& outputs = scene_.graph->node(node.id).outputs;
    const bool adds = (mark.roles & (stream::joins | stream::adds)) != 0;
    add(adds ? WireKind::ring : WireKind::stream,
        edgeOf(outputs.empty() ? ValueId{} : outputs.front(), -1, mark.child), item, kLayoutExit,
        {{mark.box.x, mark.ringY}, {x_, mark.ringY}});
  }

  const SceneGraph& scene_;
  const SceneGroup& layer_;
  GroupLayout& layout_;
  const SceneRun& run_;
  std::vector<Mark> marks_;
  double x_ = 0;
};

}  // namespace

void drawCellStream(const SceneGraph& scene, const SceneGroup& layer, GroupLayout& layout) {
  CellStream(scene, layer, layout).draw();
}

}  // namespace orrery::ui
