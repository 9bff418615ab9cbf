#include "ui/graph/geometry.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery::ui {
namespace {

double distanceTo(Point a, Point b, Point p) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(a.x + t * dx - p.x, a.y + t * dy - p.y);
}

int wireAt(const GroupLayout& layout, Point local, double tolerance) {
  for (size_t i = 0; i < layout.wires.size(); ++i) {
    const PlacedWire& wire = layout.wires[i];
    if (!wire.bounds.grown(tolerance).contains(local)) continue;
    for (size_t k = 1; k < wire.points.size(); ++k)
      if (distanceTo(wire.points[k - 1], wire.points[k], local) <= tolerance) return static_cast<int>(i);
  }
  return -1;
}

Hit hitGroup(const Drawing& drawing, int group, const GroupLayout& layout, Point origin, Point point,
             double tolerance) {
  const SceneGraph& scene = *drawing.scene;
  const Point local{point.x - origin.x, point.y - origin.y};
  for (size_t i = 0; i < layout.items.size(); ++i) {
    const Placed& placed = layout.items[i];
    if (!placed.box.contains(local)) continue;
    Hit own = describePlaced(scene, group, layout, static_cast<int>(i), origin);
    if (placed.kind != Placed::Kind::open) return own;
    const bool block = placed.cell && drawing.blocks;
    own.header = block || local.y < placed.box.y + (placed.cell ? kCellHead : kHeaderHeight);
    if (block) return own;
    const Hit inner =
        hitGroup(drawing, own.group, *placed.inner, innerOrigin(placed, origin), point, tolerance);
    if (inner.kind != Hit::Kind::nothing) return inner;
    return own;
  }
  Hit hit;
  if (const int wire = wireAt(layout, local, tolerance); wire >= 0) {
    hit.kind = Hit::Kind::wire;
    hit.holder = group;
    hit.item = wire;
  }
  return hit;
}

/// Follows the chain of groups down to where the child is drawn.
std::optional<Rect> boxOfChild(const Drawing& drawing, const std::vector<int>& chain, int child) {
  const GroupLayout* layout = drawing.layout.get();
  Point origin;
  for (size_t depth = 0;; ++depth) {
    const bool last = depth + 1 == chain.size();
    const int wanted = last ? child : drawing.scene->groups[at(chain[depth + 1])].child;
    if (at(wanted) >= layout->itemOf.size()) return std::nullopt;
    const Placed& placed = layout->items[at(layout->itemOf[at(wanted)])];
    if (last || placed.kind != Placed::Kind::open) return placed.box.moved(origin.x, origin.y);
    origin = innerOrigin(placed, origin);
    layout = placed.inner.get();
  }
}

/// What of a group is drawn where `meets` says, frames of open groups only to look into them.
template <class Meets>
void collect(const SceneGraph& scene, int group, const GroupLayout& layout, Point origin, const Meets& meets,
             std::vector<Hit>& found) {
  for (size_t i = 0; i < layout.items.size(); ++i) {
    const Placed& placed = layout.items[i];
    if (!meets(placed, placed.box.moved(origin.x, origin.y))) continue;
    const Hit hit = describePlaced(scene, group, layout, static_cast<int>(i), origin);
    if (placed.kind == Placed::Kind::open)
      collect(scene, hit.group, *placed.inner, innerOrigin(placed, origin), meets, found);
    else
      found.push_back(hit);
  }
}

/// By item: what stands above a page comes before its layers, what stands under it after them; layers come as
/// they are read. Without pages all are alike.
std::vector<int> readingRanks(const GroupLayout& layout) {
  std::vector<int> ranks(layout.items.size(), 0);
  int rank = 0;
  for (const PageLayout& page : layout.pages) {
    const Rect& area = page.columns.front().area;
    for (size_t i = 0; i < ranks.size(); ++i)
      if (!layout.items[i].cell && layout.items[i].box.y > area.y) ranks[i] = std::max(ranks[i], rank);
    for (const PageCell& cell : page.cells)
      if (cell.item >= 0) ranks[at(cell.item)] = ++rank;
    ++rank;
    for (size_t i = 0; i < ranks.size(); ++i)
      if (!layout.items[i].cell && layout.items[i].box.y > area.y && layout.items[i].box.x >= area.x - 1)
        ranks[i] = rank;
  }
  return ranks;
}

void walk(const SceneGraph& scene, int group, const GroupLayout& layout, Point origin,
          std::vector<Hit>& hits) {
  std::vector<int> order(layout.items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const std::vector<int> ranks = readingRanks(layout);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Rect &x = layout.items[at(a)].box, &y = layout.items[at(b)].box;
    return std::tie(ranks[at(a)], x.y, x.x) < std::tie(ranks[at(b)], y.y, y.x);
  });
  for (const int item : order) {
    const Hit hit = describePlaced(scene, group, layout, item, origin);
    const Placed& placed = layout.items[at(item)];
    if (placed.kind == Placed::Kind::open)
      walk(scene, hit.group, *placed.inner, innerOrigin(placed, origin), hits);
    else
      hits.push_back(hit);
  }
}

}  // namespace

Hit describePlaced(const SceneGraph& scene, int holder, const GroupLayout& layout, int item, Point origin) {
  const Placed& placed = layout.items[at(item)];
  const SceneGroup& parent = scene.groups[at(holder)];
  Hit hit;
  hit.holder = holder;
  hit.item = item;
  hit.box = placed.box.moved(origin.x, origin.y);
  const int first = parent.children[at(placed.first)].index;
  switch (placed.kind) {
    case Placed::Kind::node:
      hit.kind = Hit::Kind::node;
      break;
    case Placed::Kind::folded:
      hit.kind = Hit::Kind::folded;
      break;
    case Placed::Kind::open:
      hit.kind = Hit::Kind::open;
      break;
    case Placed::Kind::stack:
      hit.kind = Hit::Kind::stack;
      break;
  }
  if (hit.kind == Hit::Kind::node) {
    hit.node = first;
  } else {
    hit.group = first;
    hit.lastGroup = parent.children[at(placed.last)].index;
  }
  return hit;
}

Hit hitTest(const Drawing& drawing, Point point, double tolerance) {
  if (!drawing) return {};
  return hitGroup(drawing, 0, *drawing.layout, {}, point, tolerance);
}

std::optional<Rect> boxOfNode(const Drawing& drawing, int position) {
  if (!drawing || position < 0 || at(position) >= drawing.scene->nodes.size()) return std::nullopt;
  const SceneNode& node = drawing.scene->nodes[at(position)];
  return boxOfChild(drawing, drawing.scene->chain(node.group), node.child);
}

std::optional<Rect> boxOfGroup(const Drawing& drawing, int group) {
  if (!drawing || group < 0 || at(group) >= drawing.scene->groups.size()) return std::nullopt;
  if (group == 0) return drawing.bounds();
  const SceneGroup& wanted = drawing.scene->groups[at(group)];
  return boxOfChild(drawing, drawing.scene->chain(wanted.parent), wanted.child);
}

Span spanOf(const SceneGraph& scene, const SceneGroup& holder, const Placed& placed) {
  const SceneChild &first = holder.children[at(placed.first)], &last = holder.children[at(placed.last)];
  const int begin = first.isGroup ? scene.groups[at(first.index)].begin : first.index;
  const int end = last.isGroup ? scene.groups[at(last.index)].end : last.index + 1;
  return {begin, end};
}

LaidOut laidOut(const Drawing& drawing, int group) {
  if (!drawing || group < 0 || at(group) >= drawing.scene->groups.size()) return {};
  LaidOut found{drawing.layout.get(), {}};
  for (const int index : drawing.scene->chain(group)) {
    if (index == 0) continue;
    const Placed& placed =
        found.layout->items[at(found.layout->itemOf[at(drawing.scene->groups[at(index)].child)])];
    if (placed.kind != Placed::Kind::open) return {};
    found = {placed.inner.get(), innerOrigin(placed, found.origin)};
  }
  return found;
}

Hit describeAt(const Drawing& drawing, int node, int group) {
  if (!drawing || (node < 0 && group <= 0)) return {};
  const SceneGraph& scene = *drawing.scene;
  int holder = node >= 0 ? scene.nodes[at(node)].group : scene.groups[at(group)].parent;
  int child = node >= 0 ? scene.nodes[at(node)].child : scene.groups[at(group)].child;
  LaidOut frame = laidOut(drawing, holder);
  for (; !frame && holder > 0; frame = laidOut(drawing, holder)) {
    child = scene.groups[at(holder)].child;
    holder = scene.groups[at(holder)].parent;
  }
  if (!frame) return {};
  return describePlaced(scene, holder, *frame.layout, frame.layout->itemOf[at(child)], frame.origin);
}

std::vector<Hit> thingsNear(const Drawing& drawing, Point point, double reach) {
  constexpr double kPills = 240;
  std::vector<Hit> found;
  const auto meets = [&](const Placed& placed, const Rect& box) {
    Rect around = box.grown(reach);
    if (placed.leftPill) around = {around.x - kPills, around.y, around.w + kPills, around.h};
    if (placed.rightPill) around.w += kPills;
    return around.contains(point);
  };
  if (drawing) collect(*drawing.scene, 0, *drawing.layout, {}, meets, found);
  return found;
}

std::vector<Hit> thingsIn(const Drawing& drawing, const Rect& area) {
  std::vector<Hit> found;
  const auto meets = [&](const Placed&, const Rect& box) { return box.intersects(area); };
  if (drawing) collect(*drawing.scene, 0, *drawing.layout, {}, meets, found);
  return found;
}

std::vector<Hit> walkOrder(const Drawing& drawing) {
  std::vector<Hit> hits;
  if (drawing) walk(*drawing.scene, 0, *drawing.layout, {}, hits);
  return hits;
}

}  // namespace orrery::ui
