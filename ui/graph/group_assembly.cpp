#include "ui/graph/group_assembly.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ui/graph/box_words.h"
#include "ui/graph/node_box.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

constexpr double kAlone = 236;  // of a box that is the only one of its row
// In a layer of a page what multiplies is wider than the rest: its shape is known from far.
constexpr double kAloneHeavy = 290, kAloneLight = 212;

const SceneGroup* groupOf(const SceneGraph& scene, const SceneGroup& parent, size_t child) {
  const SceneChild& c = parent.children[child];
  return c.isGroup ? &scene.groups[at(c.index)] : nullptr;
}

}  // namespace

Rect boundsOf(const std::vector<Point>& points) {
  double left = points.front().x, right = left, top = points.front().y, bottom = top;
  for (const Point& p : points) {
    left = std::min(left, p.x);
    right = std::max(right, p.x);
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  }
  return {left, top, right - left, bottom - top};
}

void shiftLayout(GroupLayout& layout, double dx) {
  for (Placed& placed : layout.items) {
    placed.box = placed.box.moved(dx, 0);
  }
  for (PlacedWire& wire : layout.wires) {
    for (Point& point : wire.points) point.x += dx;
    wire.bounds = wire.bounds.moved(dx, 0);
  }
}

GroupAssembly::GroupAssembly(const SceneGraph& scene, const SceneGroup& group,
                             const std::unordered_set<std::string>& open, bool close, bool streams)
    : scene_(scene),
      group_(group),
      open_(open),
      close_(close),
      streams_(streams),
      layout_(std::make_shared<GroupLayout>()) {}

bool GroupAssembly::addItems(const LayoutInner& layoutInner, const std::function<bool(int group)>& isCell) {
  layout_->itemOf.resize(group_.children.size());
  for (size_t child = 0; child < group_.children.size();) {
    Placed placed;
    placed.first = placed.last = static_cast<int>(child);
    if (const SceneGroup* group = groupOf(scene_, group_, child)) {
      placed.cell = isCell && isCell(group_.children[child].index);
      if (open_.contains(group->path)) {
        placed.kind = Placed::Kind::open;
        placed.inner = layoutInner(group_.children[child].index);
        if (!placed.inner) return false;
      } else {
        while (!placed.cell && at(placed.last) + 1 < group_.children.size() &&
               folds(at(placed.last), at(placed.last) + 1))
          ++placed.last;
        placed.kind = placed.last > placed.first ? Placed::Kind::stack : Placed::Kind::folded;
      }
    }
    for (; child <= at(placed.last); ++child)
      layout_->itemOf[child] = static_cast<int>(layout_->items.size());
    layout_->items.push_back(std::move(placed));
  }
  return true;
}

std::vector<LayoutItem> GroupAssembly::layoutItems(const TextWidths& widths) const {
  std::vector<LayoutItem> items;
  double widestOpen = 0;
  for (const Placed& placed : layout_->items)
    if (placed.kind == Placed::Kind::open) widestOpen = std::max(widestOpen, placed.inner->halfWidth * 2);
  items.reserve(layout_->items.size());
  for (const Placed& placed : layout_->items) items.push_back(itemOf(placed, widestOpen, widths));
  return items;
}

LayoutItem GroupAssembly::itemOf(const Placed& placed, double widestOpen, const TextWidths& widths) const {
  LayoutItem item;
  item.height = kNodeHeight;
  item.alone = kAlone;
  item.block = placed.kind != Placed::Kind::node;
  if (placed.kind == Placed::Kind::node) {
    const SceneNode& node = scene_.nodes[at(group_.children[at(placed.first)].index)];
    item.width = nodeWidth(node, widths, close_);
    if (close_) {
      item.alone = multiplies(node.family) ? kAloneHeavy : kAloneLight;
      return item;
    }
    item.left = pillWidth(node.weights, widths);
    item.right = pillWidth(node.inputs, widths);
    if (item.left > 0) item.left += LayoutMetrics{}.pillGap;
    if (item.right > 0) item.right += LayoutMetrics{}.pillGap;
  } else if (placed.kind == Placed::Kind::open) {
    item.open = true;
    item.width = placed.inner->halfWidth * 2;
    item.height = placed.inner->height;
    item.spine = placed.inner->spine;
    item.alone = widestOpen;  // frames below each other are equally wide
  } else {
    item.width = foldedWidth(*groupOf(scene_, group_, at(placed.first)),
                             *groupOf(scene_, group_, at(placed.last)), widths);
    item.right = 8;  // plates
    if (placed.cell) item.height = kCellHead;
  }
  return item;
}

std::vector<LayoutEdge> GroupAssembly::layoutEdges() {
  std::unordered_map<uint64_t, int> known;
  for (size_t i = 0; i < group_.edges.size(); ++i) {
    const SceneEdge& edge = group_.edges[i];
    const int from = edge.from == kEntry ? kLayoutEntry : layout_->itemOf[at(edge.from)];
    const int to = edge.to == kExit ? kLayoutExit : layout_->itemOf[at(edge.to)];
    if (from == to) continue;  // inside a stack
    const bool stream = streams_ && edge.stream;
    const uint64_t key = (static_cast<uint64_t>(static_cast<uint32_t>(from)) << 33) |
                         (static_cast<uint64_t>(static_cast<uint32_t>(to)) << 1) | uint64_t{stream};
    if (!known.try_emplace(key, static_cast<int>(i)).second) continue;
    edges_.push_back({from, to, !stream, edge.stream});
    edgeOf_.push_back(static_cast<int>(i));
  }
  addBypassed();
  return edges_;
}

std::shared_ptr<GroupLayout> GroupAssembly::finish(LayoutResult result) {
  for (size_t i = 0; i < layout_->items.size(); ++i) {
    Placed& placed = layout_->items[i];
    placed.box = result.boxes[i];
    placed.leftPill = !close_ && result.leftFree[i];
    placed.rightPill = !close_ && result.rightFree[i];
    if (placed.cell && placed.inner) placed.shift = placed.inner->halfWidth - placed.box.w / 2;
  }
  for (Wire& wire : result.wires) {
    PlacedWire placed;
    placed.edge = edgeOf_[at(wire.edge)];
    placed.from = edges_[at(wire.edge)].from;
    placed.to = edges_[at(wire.edge)].to;
    placed.points = std::move(wire.points);
    placed.atSide = wire.atSide;
    placed.lane = wire.lane;
    placed.kind = wire.kind;
    placed.dotted = placed.edge < 0;
    placed.arrow = placed.to >= 0 && layout_->items[at(placed.to)].kind != Placed::Kind::open;
    placed.bounds = boundsOf(placed.points);
    layout_->wires.push_back(std::move(placed));
  }
  layout_->halfWidth = result.halfWidth;
  layout_->height = result.height;
  if (close_) {
    alignSpines(result.alone);
    tighten();
  }
  return layout_;
}

/// What is in frames below each other goes down one line, wherever in its frame that is.
void GroupAssembly::alignSpines(const std::vector<bool>& alone) {
  double left = 0, right = 0;
  for (size_t i = 0; i < layout_->items.size(); ++i) {
    const Placed& placed = layout_->items[i];
    if (placed.kind != Placed::Kind::open) continue;
    if (!alone[i]) return;
    left = std::max(left, placed.inner->halfWidth + placed.inner->spine);
    right = std::max(right, placed.inner->halfWidth - placed.inner->spine);
  }
  for (Placed& placed : layout_->items) {
    if (placed.kind != Placed::Kind::open) continue;
    placed.box.x = -left;
    placed.box.w = left + right;
    placed.shift = (left - right) / 2 - placed.inner->spine;
  }
}

/// A frame that nothing enters or leaves but the stream is as wide as what is in it, wherever its spine is.
void GroupAssembly::tighten() {
  const auto crosses = [](const PlacedWire& wire) { return wire.from < 0 || wire.to < 0; };
  if (layout_->items.empty() || std::any_of(layout_->wires.begin(), layout_->wires.end(), crosses)) return;
  double left = layout_->halfWidth, right = -left, most = 0;
  const auto reach = [&](const Rect& area) {
    left = std::min(left, area.x);
    right = std::max(right, area.right());
  };
  for (const Placed& placed : layout_->items) {
    reach(placed.box);
    most = std::max({most, -placed.box.x, placed.box.right()});
  }
  for (const PlacedWire& wire : layout_->wires) {
    reach(wire.bounds);
    most = std::max({most, -wire.bounds.x, wire.bounds.right()});
  }
  const double side = std::max(0.0, layout_->halfWidth - most);
  layout_->spine = -(left + right) / 2;
  shiftLayout(*layout_, layout_->spine);
  layout_->halfWidth = (right - left) / 2 + side;
}

bool GroupAssembly::live(const Placed& placed) const {
  const SceneChild& child = group_.children[at(placed.first)];
  return child.isGroup ? scene_.groups[at(child.index)].live : scene_.nodes[at(child.index)].live;
}

bool GroupAssembly::folds(size_t a, size_t b) const {
  const SceneGroup *previous = groupOf(scene_, group_, a), *next = groupOf(scene_, group_, b);
  return next && !open_.contains(next->path) && previous && layersStack(*previous, *next);
}

/// What is bypassed stays in line: below what fed it and above what now takes that value instead. A layer of
/// a page is in line by its cell.
void GroupAssembly::addBypassed() {
  const size_t drawn = edges_.size();
  std::vector<std::vector<int>> after(layout_->items.size()), before(layout_->items.size());
  std::vector<int> afterEntry;
  for (size_t i = 0; i < drawn; ++i) {
    if (edges_[i].to < 0) continue;
    (edges_[i].from < 0 ? afterEntry : after[at(edges_[i].from)]).push_back(edges_[i].to);
    before[at(edges_[i].to)].push_back(edges_[i].from);
  }
  for (size_t dead = 0; dead < layout_->items.size(); ++dead) {
    if (layout_->items[dead].cell || live(layout_->items[dead])) continue;
    if (!after[dead].empty() || before[dead].empty()) continue;
    const int source = before[dead].front();
    int next = -1;
    for (const int user : source < 0 ? afterEntry : after[at(source)])
      if (at(user) > dead && (next < 0 || user < next)) next = user;
    if (next < 0) continue;
    edges_.push_back({static_cast<int>(dead), next, true, false});
    edgeOf_.push_back(-1);
  }
}

}  // namespace orrery::ui
