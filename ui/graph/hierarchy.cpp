#include "ui/graph/hierarchy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ui/graph/kept_layout.h"
#include "ui/graph/node_box.h"

namespace orrery::ui {
namespace {

constexpr double kNarrowest = 184, kWidest = 260, kAlone = 236;
// What is not known yet gets room all the same: a box does not grow when it is measured.
constexpr size_t kTime = 7, kAboutTime = 9;    // letters: "99.9 ms", "≈ 99.9 ms"
constexpr size_t kKernel = 12, kRate = 9;      // "flash_packed", "99.9 GB/s"
constexpr size_t kFoldedDoc = 17, kShare = 6;  // "≈ 1 240 µs each", "49.7 %"
constexpr size_t kMostCached = 256;

size_t at(int index) { return static_cast<size_t>(index); }

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

const SceneGroup* groupOf(const SceneGraph& scene, const SceneGroup& parent, size_t child) {
  const SceneChild& c = parent.children[child];
  return c.isGroup ? &scene.groups[at(c.index)] : nullptr;
}

size_t letters(const std::string& utf8) {
  return static_cast<size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

double nameWidth(const std::string& name, const TextWidths& widths) {
  double width = 0;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if ((code & 0xC0) != 0x80) width += widths.name[code < widths.name.size() ? code : 'm'];
  }
  return width;
}

/// What is written in a box: letters, but of the chip its width.
struct BoxWords {
  std::string name;
  double chip = 0;
  size_t time = kAboutTime, left = 0, right = 0;
};

double boxWidth(const BoxWords& words, const TextWidths& widths) {
  const double first = nameWidth(words.name, widths) + (words.chip > 0 ? kTextGap + words.chip : 0) +
                       kTextGap + static_cast<double>(words.time) * widths.time,
               second = static_cast<double>(words.left + words.right) * widths.second +
                        (words.right > 0 ? kTextGap : 0);
  return std::clamp(kGutter + 2 * kPad + std::ceil(std::max(first, second)), kNarrowest, kWidest);
}

BoxWords wordsOf(const SceneNode& node, const TextWidths& widths) {
  BoxWords words{node.name, 0, kAboutTime, letters(node.detail), letters(node.type)};
  if (node.family != graph::OpFamily::linear)  // those say their shape alone where they stand in a row
    words.left = std::max(words.left, kKernel);
  if (node.transfer) words.right = kRate;
  if (node.fused > 1) {
    words.chip = widths.fusedChip;
    words.time = kTime;  // measured as a whole
  }
  return words;
}

/// The drawn things of a group, in the order of its children.
class Assembly {
 public:
  Assembly(const SceneGraph& scene, const SceneGroup& group, const std::unordered_set<std::string>& open)
      : scene_(scene), group_(group), open_(open), layout_(std::make_shared<GroupLayout>()) {}

  template <class LayoutInner>
  bool addItems(const LayoutInner& layoutInner) {
    layout_->itemOf.resize(group_.children.size());
    for (size_t child = 0; child < group_.children.size();) {
      Placed placed;
      placed.first = placed.last = static_cast<int>(child);
      if (const SceneGroup* group = groupOf(scene_, group_, child)) {
        if (open_.contains(group->path)) {
          placed.kind = Placed::Kind::open;
          placed.inner = layoutInner(group_.children[child].index);
          if (!placed.inner) return false;
        } else {
          while (at(placed.last) + 1 < group_.children.size() && folds(at(placed.last), at(placed.last) + 1))
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

  std::vector<LayoutItem> layoutItems(const TextWidths& widths) const {
    std::vector<LayoutItem> items;
    double widestOpen = 0;
    for (const Placed& placed : layout_->items)
      if (placed.kind == Placed::Kind::open) widestOpen = std::max(widestOpen, placed.inner->halfWidth * 2);
    for (const Placed& placed : layout_->items) {
      LayoutItem item;
      item.height = kNodeHeight;
      item.alone = kAlone;
      item.block = placed.kind != Placed::Kind::node;
      if (placed.kind == Placed::Kind::node) {
        const SceneNode& node = scene_.nodes[at(group_.children[at(placed.first)].index)];
        item.width = boxWidth(wordsOf(node, widths), widths);
        item.left = pillWidth(node.weights, widths);
        item.right = pillWidth(node.inputs, widths);
        if (item.left > 0) item.left += LayoutMetrics{}.pillGap;
        if (item.right > 0) item.right += LayoutMetrics{}.pillGap;
      } else if (placed.kind == Placed::Kind::open) {
        item.open = true;
        item.width = placed.inner->halfWidth * 2;
        item.height = placed.inner->height;
        item.alone = widestOpen;  // frames below each other are equally wide
      } else {
        const bool stack = placed.kind == Placed::Kind::stack;
        const BoxWords words{
            foldedName(*groupOf(scene_, group_, at(placed.first)), *groupOf(scene_, group_, at(placed.last))),
            stack ? widths.stackChip : 0, kAboutTime, kFoldedDoc, kShare};
        item.width = boxWidth(words, widths);
        item.right = 8;  // plates
      }
      items.push_back(item);
    }
    return items;
  }

  /// Edges between drawn things, each pair once; edgeOf_ remembers which edge of the group was first.
  std::vector<LayoutEdge> layoutEdges() {
    std::unordered_map<uint64_t, int> known;
    for (size_t i = 0; i < group_.edges.size(); ++i) {
      const SceneEdge& edge = group_.edges[i];
      const int from = edge.from == kEntry ? kLayoutEntry : layout_->itemOf[at(edge.from)];
      const int to = edge.to == kExit ? kLayoutExit : layout_->itemOf[at(edge.to)];
      if (from == to) continue;  // inside a stack
      const uint64_t key =
          (static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32) | static_cast<uint32_t>(to);
      if (!known.try_emplace(key, static_cast<int>(i)).second) continue;
      edges_.push_back({from, to, true});
      edgeOf_.push_back(static_cast<int>(i));
    }
    addBypassed();
    return edges_;
  }

  std::shared_ptr<const GroupLayout> finish(LayoutResult result) {
    for (size_t i = 0; i < layout_->items.size(); ++i) {
      layout_->items[i].box = result.boxes[i];
      layout_->items[i].leftPill = result.leftFree[i];
      layout_->items[i].rightPill = result.rightFree[i];
    }
    for (Wire& wire : result.wires) {
      PlacedWire placed;
      placed.edge = edgeOf_[at(wire.edge)];
      placed.from = edges_[at(wire.edge)].from;
      placed.to = edges_[at(wire.edge)].to;
      placed.points = std::move(wire.points);
      placed.atSide = wire.atSide;
      placed.lane = wire.lane;
      placed.dotted = placed.edge < 0;
      placed.arrow = placed.to >= 0 && layout_->items[at(placed.to)].kind != Placed::Kind::open;
      placed.bounds = boundsOf(placed.points);
      layout_->wires.push_back(std::move(placed));
    }
    layout_->halfWidth = result.halfWidth;
    layout_->height = result.height;
    return layout_;
  }

 private:
  bool live(const Placed& placed) const {
    const SceneChild& child = group_.children[at(placed.first)];
    return child.isGroup ? scene_.groups[at(child.index)].live : scene_.nodes[at(child.index)].live;
  }

  bool folds(size_t a, size_t b) const {
    const SceneGroup *previous = groupOf(scene_, group_, a), *next = groupOf(scene_, group_, b);
    return next && !open_.contains(next->path) && previous && layersStack(*previous, *next);
  }

  /// What is bypassed stays in line: below what fed it and above what now takes that value instead.
  void addBypassed() {
    const size_t drawn = edges_.size();
    std::vector<std::vector<int>> after(layout_->items.size()), before(layout_->items.size());
    std::vector<int> afterEntry;
    for (size_t i = 0; i < drawn; ++i) {
      if (edges_[i].to < 0) continue;
      (edges_[i].from < 0 ? afterEntry : after[at(edges_[i].from)]).push_back(edges_[i].to);
      before[at(edges_[i].to)].push_back(edges_[i].from);
    }
    for (size_t dead = 0; dead < layout_->items.size(); ++dead) {
      if (live(layout_->items[dead]) || !after[dead].empty() || before[dead].empty()) continue;
      const int source = before[dead].front();
      int next = -1;
      for (const int user : source < 0 ? afterEntry : after[at(source)])
        if (at(user) > dead && (next < 0 || user < next)) next = user;
      if (next < 0) continue;
      edges_.push_back({static_cast<int>(dead), next, true});
      edgeOf_.push_back(-1);
    }
  }

  static Rect boundsOf(const std::vector<Point>& points) {
    double left = points.front().x, right = left, top = points.front().y, bottom = top;
    for (const Point& p : points) {
      left = std::min(left, p.x);
      right = std::max(right, p.x);
      top = std::min(top, p.y);
      bottom = std::max(bottom, p.y);
    }
    return {left, top, right - left, bottom - top};
  }

  const SceneGraph& scene_;
  const SceneGroup& group_;
  const std::unordered_set<std::string>& open_;
  std::shared_ptr<GroupLayout> layout_;
  std::vector<LayoutEdge> edges_;
  std::vector<int> edgeOf_;
};

/// As format::bytes writes it; this file knows no Qt.
std::string bytesText(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 4; ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit > 0 && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

std::string pillText(const ScenePill& pill) {
  return pill.bytes > 0 ? pill.text + "  " + bytesText(pill.bytes) : pill.text;
}

double pillWidth(const ScenePill& pill, const TextWidths& widths) {
  return pill.empty() ? 0 : 30 + static_cast<double>(letters(pillText(pill))) * widths.second;
}

bool layersStack(const SceneGroup& a, const SceneGroup& b) {
  return a.number >= 0 && b.number == a.number + 1 && a.stem == b.stem && a.stackHash == b.stackHash;
}

std::string foldedName(const SceneGroup& first, const SceneGroup& last) {
  return &first == &last ? first.name : first.name + "–" + std::to_string(last.number);
}

std::string stackScope(const SceneGroup& first, const SceneGroup& last) {
  return first.stem + "." + std::to_string(first.number) + "-" + std::to_string(last.number);
}

uint64_t Hierarchy::signature(const SceneGraph& scene, int index,
                              const std::unordered_set<std::string>& open) const {
  const SceneGroup& group = scene.groups[at(index)];
  uint64_t hash = mix(group.layoutHash, group.depth == 0 ? 1 : 2);
  for (size_t i = 0; i < group.children.size(); ++i) {
    const SceneGroup* child = groupOf(scene, group, i);
    if (child)
      hash = mix(hash, open.contains(child->path) ? signature(scene, group.children[i].index, open) : i);
  }
  return hash;
}

std::shared_ptr<const GroupLayout> Hierarchy::layoutGroup(const SceneGraph& scene, int index,
                                                          const std::unordered_set<std::string>& open,
                                                          std::stop_token stop,
                                                          const Arrangement* arrangement) {
  const SceneGroup& group = scene.groups[at(index)];
  const bool arranged = arrangement && arrangement->touches(group.path);  // unlike others of its structure
  const uint64_t key = signature(scene, index, open);
  if (const auto known = cache_.find(key); known != cache_.end() && !arranged) return known->second;
  Assembly assembly(scene, group, open);
  if (!assembly.addItems([&](int inner) { return layoutGroup(scene, inner, open, stop, arrangement); }))
    return nullptr;
  LayoutMetrics metrics;
  if (group.depth == 0) metrics.top = 20;
  const std::vector<LayoutItem> items = assembly.layoutItems(widths_);
  LayoutResult result = layoutLayers(items, assembly.layoutEdges(), metrics, stop);
  if (result.stopped) return nullptr;
  if (arranged) {
    const auto fresh = assembly.finish(std::move(result));
    const KeptGroup* kept = arrangement->find(group.path);
    return kept ? keptLayout(scene, group, *fresh, *kept) : fresh;
  }
  if (cache_.size() >= kMostCached) cache_.clear();
  return cache_[key] = assembly.finish(std::move(result));
}

std::shared_ptr<const GroupLayout> Hierarchy::layout(const SceneGraph& scene,
                                                     const std::unordered_set<std::string>& open,
                                                     std::stop_token stop, const Arrangement* arrangement) {
  return layoutGroup(scene, 0, open, stop, arrangement);
}

}  // namespace orrery::ui
