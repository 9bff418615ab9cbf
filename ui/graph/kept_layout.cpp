#include "ui/graph/kept_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>

#include "ui/graph/scene_graph.h"
#include "ui/graph/wire_route.h"

namespace orrery::ui {
namespace {

constexpr double kSame = 0.01;
constexpr double kBelowHeader = 26;  // where wires turn that enter a frame
constexpr double kClear = 7;         // between boxes where a new one finds its place
constexpr int kRings = 8;            // of places that are tried round the wanted one
constexpr double kSide = 24;         // from a box to its frame

/// In the drawn layout of a page's layer the spine is not in the middle.
Rect fromSpine(const GroupLayout& layout, const Rect& box) { return box.moved(-layout.spine, 0); }

bool samePlace(const Rect& a, const Rect& b) {
  return std::abs(a.x - b.x) < kSame && std::abs(a.y - b.y) < kSame && std::abs(a.w - b.w) < kSame &&
         std::abs(a.h - b.h) < kSame;
}

Rect boundsOf(const std::vector<Point>& points) {
  Rect box{points.front().x, points.front().y, 0, 0};
  for (const Point& point : points) {
    const double right = std::max(box.right(), point.x), bottom = std::max(box.bottom(), point.y);
    box.x = std::min(box.x, point.x);
    box.y = std::min(box.y, point.y);
    box.w = right - box.x;
    box.h = bottom - box.y;
  }
  return box;
}

class Keeping {
 public:
  Keeping(const SceneGraph& scene, const SceneGroup& group, const GroupLayout& fresh, const KeptGroup& kept)
      : fresh_(fresh),
        kept_(kept),
        top_(group.depth == 0 ? 0 : kBelowHeader),
        layout_(std::make_shared<GroupLayout>(fresh)) {
    for (const Placed& placed : fresh.items) keys_.push_back(&keyOf(scene, group, placed));
  }

  std::shared_ptr<GroupLayout> run() {
    placeKept();
    makeRoom();
    if (kept_.whole)
      for (size_t item = 0; item < keys_.size(); ++item)
        if (!isKept_[item]) placeNew(item);
    measure();
    routeAll();
    return layout_;
  }

 private:
  const Rect* keptBox(size_t item) const {
    const auto found = kept_.boxes.find(*keys_[item]);
    return found == kept_.boxes.end() ? nullptr : &found->second;
  }
  Rect& box(size_t item) { return layout_->items[item].box; }

  /// By its middle: a box may have become wider.
  void placeKept() {
    isKept_.resize(keys_.size());
    for (size_t item = 0; item < keys_.size(); ++item) {
      const Rect* kept = keptBox(item);
      isKept_[item] = kept != nullptr;
      if (!kept) continue;
      box(item).x = kept->x + (kept->w - box(item).w) / 2;
      box(item).y = kept->y;
    }
  }

  /// What is below a thing that opened or folded since gives way by as much.
  void makeRoom() {
    std::vector<std::pair<double, double>> grown;  // foot as kept, and by how much it is lower now
    for (size_t item = 0; item < keys_.size(); ++item)
      if (const Rect* kept = keptBox(item); kept && std::abs(kept->h - box(item).h) > kSame)
        grown.emplace_back(kept->bottom(), box(item).h - kept->h);
    for (size_t item = 0; item < keys_.size(); ++item) {
      const Rect* kept = keptBox(item);
      if (!kept) continue;
      for (const auto& [foot, by] : grown)
        if (kept->y >= foot - kSame) box(item).y += by;
    }
    for (const auto& [foot, by] : grown) growth_ += by;
  }

  /// Below what feeds it, above what it feeds, or where the layout would have it.
  Rect wantedFor(size_t item) const {
    constexpr double kGap = 16;
    Rect wanted = fresh_.items[item].box;
    const auto known = [this](int end) { return end >= 0 && isKept_[at(end)]; };
    for (const PlacedWire& wire : fresh_.wires) {
      if (at(wire.to) != item || !known(wire.from)) continue;
      const Rect& above = layout_->items[at(wire.from)].box;
      return {above.x + (above.w - wanted.w) / 2, above.bottom() + kGap, wanted.w, wanted.h};
    }
    for (const PlacedWire& wire : fresh_.wires) {
      if (at(wire.from) != item || !known(wire.to)) continue;
      const Rect& below = layout_->items[at(wire.to)].box;
      return {below.x + (below.w - wanted.w) / 2, below.y - kGap - wanted.h, wanted.w, wanted.h};
    }
    return wanted;
  }

  bool isFree(const Rect& place) const {
    if (place.y < top_ + kClear) return false;
    const Rect around = place.grown(kClear);
    for (size_t item = 0; item < keys_.size(); ++item)
      if (isKept_[item] && layout_->items[item].box.intersects(around)) return false;
    return true;
  }

  void placeNew(size_t item) {
    const Rect wanted = wantedFor(item);
    box(item) = wanted;
    const double dx = wanted.w / 2 + kClear, dy = wanted.h / 2 + kClear;
    double least = -1;
    for (int across = -kRings; across <= kRings; ++across)
      for (int down = -kRings; down <= kRings; ++down) {
        const double away = std::hypot(across * dx, down * dy);
        if (least >= 0 && away >= least) continue;
        const Rect place = wanted.moved(across * dx, down * dy);
        if (!isFree(place)) continue;
        least = away;
        box(item) = place;
      }
    isKept_[item] = true;
  }

  /// The frame grows, but does not shrink.
  void measure() {
    const GroupLayout& was = kept_.whole && kept_.drawn ? *kept_.drawn : fresh_;
    double left = -std::max(kept_.halfWidth, was.halfWidth - was.spine),
           foot = std::max(kept_.height, was.height) + growth_;
    double right = -left;
    for (const Placed& placed : layout_->items) {
      left = std::min(left, placed.box.x - kSide);
      right = std::max(right, placed.box.right() + kSide);
      foot = std::max(foot, placed.box.bottom() + kSide / 2);
    }
    layout_->halfWidth = std::max(-left, right);
    layout_->height = foot;
    layout_->wires.clear();
  }

  void routeAll() {
    for (const Placed& placed : layout_->items) boxes_.push_back(placed.box);
    for (const PlacedWire& wire : fresh_.wires) {
      PlacedWire routed = wire;
      if (!reuse(fresh_, wire, routed) && !reuseDrawn(wire, routed)) route(wire, routed);
      routed.bounds = boundsOf(routed.points);
      layout_->wires.push_back(std::move(routed));
    }
  }

  bool endStays(const GroupLayout& was, int end, int now) const {
    if (end == kLayoutEntry) return true;
    if (end == kLayoutExit) return std::abs(was.height - layout_->height) < kSame;
    return samePlace(fromSpine(was, was.items[at(end)].box), layout_->items[at(now)].box);
  }
  bool reuse(const GroupLayout& was, const PlacedWire& wire, PlacedWire& routed) const {
    if (kept_.whole || !endStays(was, wire.from, wire.from) || !endStays(was, wire.to, wire.to)) return false;
    routed.points = wire.points;
    return true;
  }
  /// The wire as it was drawn between the same two.
  bool reuseDrawn(const PlacedWire& wire, PlacedWire& routed) const {
    if (!kept_.drawn) return false;
    const auto was = [this](int end) {
      if (end < 0) return end;
      const auto found = kept_.itemOf.find(*keys_[at(end)]);
      return found == kept_.itemOf.end() ? INT32_MIN : found->second;
    };
    const int from = was(wire.from), to = was(wire.to);
    if (from == INT32_MIN || to == INT32_MIN || !endStays(*kept_.drawn, from, wire.from) ||
        !endStays(*kept_.drawn, to, wire.to))
      return false;
    const auto drawn =
        std::find_if(kept_.drawn->wires.begin(), kept_.drawn->wires.end(), [&](const PlacedWire& one) {
          return one.from == from && one.to == to && one.kind == wire.kind &&
                 (one.edge < 0) == (wire.edge < 0);
        });
    if (drawn == kept_.drawn->wires.end()) return false;
    std::vector<Point> points = drawn->points;
    for (Point& point : points) point.x -= kept_.drawn->spine;
    if (!isClear(points, wire)) return false;
    routed.points = std::move(points);
    routed.atSide = drawn->atSide;
    routed.lane = drawn->lane;
    return true;
  }

  /// Nothing came to stand on its way.
  bool isClear(const std::vector<Point>& points, const PlacedWire& wire) const {
    for (size_t item = 0; item < boxes_.size(); ++item)
      for (size_t i = 1; i < points.size(); ++i)
        if (static_cast<int>(item) != wire.from && static_cast<int>(item) != wire.to &&
            crosses(points[i - 1], points[i], boxes_[item]))
          return false;
    return true;
  }

  void route(const PlacedWire& wire, PlacedWire& routed) const {
    WireEnd from{wire.points.front(), WireEnd::Way::down}, to{wire.points.back(), WireEnd::Way::up};
    if (wire.from >= 0) {
      const Rect& box = layout_->items[at(wire.from)].box;
      from.at = {box.x + box.w / 2, box.bottom()};
    } else {
      from.at = {wire.points.front().x, std::max(wire.points.front().y, top_)};
    }
    if (wire.to >= 0) {
      const Rect &was = fresh_.items[at(wire.to)].box, &box = layout_->items[at(wire.to)].box;
      to.at = {box.x + wire.points.back().x - was.x, box.y + wire.points.back().y - was.y};
      if (wire.atSide) to.way = WireEnd::Way::right;
    } else {
      to.at = {wire.points.back().x, layout_->height};
    }
    routed.points = routeWire(from, to, boxes_);
    if (wire.from < 0) routed.points.insert(routed.points.begin(), wire.points.front());
    routed.lane = false;
  }

  const GroupLayout& fresh_;
  const KeptGroup& kept_;
  double top_, growth_ = 0;
  std::shared_ptr<GroupLayout> layout_;
  std::vector<const std::string*> keys_;  // by item
  std::vector<bool> isKept_;              // by item
  std::vector<Rect> boxes_;
};

bool holdsLayers(const SceneGraph& scene, const SceneGroup& group) {
  return std::any_of(group.children.begin(), group.children.end(), [&](const SceneChild& child) {
    return child.isGroup && scene.groups[at(child.index)].number >= 0;
  });
}

const std::string& pathOf(const SceneGraph& scene, const SceneChild& child) {
  return child.isGroup ? scene.groups[at(child.index)].path : scene.nodes[at(child.index)].path;
}

/// What is in a group, and what leads where: by paths, which both versions know.
std::set<std::pair<std::string, std::string>> structureOf(const SceneGraph& scene, const SceneGroup& group) {
  std::set<std::pair<std::string, std::string>> structure;
  const auto end = [&](int child, const char* outside) {
    return child < 0 ? std::string(outside) : pathOf(scene, group.children[at(child)]);
  };
  for (const SceneChild& child : group.children) structure.emplace(pathOf(scene, child), "");
  for (const SceneEdge& edge : group.edges) structure.emplace(end(edge.from, "<"), end(edge.to, ">"));
  return structure;
}

void keep(KeptGroup& kept, const SceneGraph& scene, const SceneGroup& group,
          const std::shared_ptr<const GroupLayout>& layout) {
  kept.whole = true;
  kept.drawn = layout;
  kept.halfWidth = layout->halfWidth - layout->spine;
  kept.height = layout->height;
  kept.itemOf.clear();
  for (size_t item = 0; item < layout->items.size(); ++item) {
    const std::string& key = keyOf(scene, group, layout->items[item]);
    kept.boxes[key] = fromSpine(*layout, layout->items[item].box);
    kept.itemOf[key] = static_cast<int>(item);
  }
}

/// Of every open group, the innermost first.
void forOpen(const SceneGraph& scene, int index, const std::shared_ptr<const GroupLayout>& layout,
             const std::function<void(const SceneGroup&, const std::shared_ptr<const GroupLayout>&)>& visit) {
  const SceneGroup& group = scene.groups[at(index)];
  for (const Placed& placed : layout->items)
    if (placed.kind == Placed::Kind::open)
      forOpen(scene, group.children[at(placed.first)].index, placed.inner, visit);
  visit(group, layout);
}

}  // namespace

const std::string& keyOf(const SceneGraph& scene, const SceneGroup& group, const Placed& placed) {
  return pathOf(scene, group.children[at(placed.first)]);
}

std::shared_ptr<GroupLayout> keptLayout(const SceneGraph& scene, const SceneGroup& group,
                                        const GroupLayout& fresh, const KeptGroup& kept) {
  return Keeping(scene, group, fresh, kept).run();
}

void keepEdited(Arrangement& arrangement, const SceneGraph& before,
                const std::shared_ptr<const GroupLayout>& drawn, const SceneGraph& now) {
  for (const SceneNode& node : before.nodes)
    if (const auto found = now.nodeOf.find(node.id); found != now.nodeOf.end())
      if (const SceneNode& same = now.nodes[at(found->second)]; same.id == node.id && same.path != node.path)
        arrangement.rename(node.path, same.path);
  forOpen(before, 0, drawn, [&](const SceneGroup& group, const std::shared_ptr<const GroupLayout>& layout) {
    const int index = now.group(group.path);
    if (index < 0 || group.layoutHash == now.groups[at(index)].layoutHash) return;
    const SceneGroup& same = now.groups[at(index)];
    if (holdsLayers(before, group) || holdsLayers(now, same)) return;
    if (structureOf(before, group) != structureOf(now, same))
      keep(arrangement.groups[group.path], before, group, layout);
  });
}

void adopt(Arrangement& arrangement, const SceneGraph& scene,
           const std::shared_ptr<const GroupLayout>& layout) {
  forOpen(scene, 0, layout, [&](const SceneGroup& group, const std::shared_ptr<const GroupLayout>& own) {
    const auto kept = arrangement.groups.find(group.path);
    if (kept == arrangement.groups.end()) return;
    // Where a person put something, the rest stays from then on, too. Runs of layers are the page's.
    const bool byHand = !kept->second.byHand.empty() && !holdsLayers(scene, group);
    if (kept->second.whole || byHand) keep(kept->second, scene, group, own);
  });
}

}  // namespace orrery::ui
