#include "ui/graph/hierarchy.h"

#include "ui/graph/cell_stream.h"
#include "ui/graph/group_assembly.h"
#include "ui/graph/kept_layout.h"
#include "ui/graph/node_box.h"

namespace orrery::ui {
namespace {

constexpr size_t kMostCached = 256;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

}  // namespace

bool layersStack(const SceneGroup& a, const SceneGroup& b) {
  return a.number >= 0 && b.number == a.number + 1 && a.stem == b.stem && a.copy.empty() && b.copy.empty() &&
         a.stackHash == b.stackHash;
}

std::string foldedName(const SceneGroup& first, const SceneGroup& last) {
  return &first == &last ? first.name : first.name + "–" + std::to_string(last.number);
}

std::string stackScope(const SceneGroup& first, const SceneGroup& last) {
  return first.stem + "." + std::to_string(first.number) + "-" + std::to_string(last.number);
}

uint64_t Hierarchy::signature(const SceneGraph& scene, int index, const Open& open) const {
  const SceneGroup& group = scene.groups[at(index)];
  uint64_t hash = mix(group.layoutHash, group.depth == 0 ? 1 : 2);
  for (size_t i = 0; i < group.children.size(); ++i) {
    const SceneChild& child = group.children[i];
    if (!child.isGroup) continue;
    const bool isOpen = open.contains(scene.groups[at(child.index)].path);
    hash = mix(hash, isOpen ? signature(scene, child.index, open) : i);
  }
  return hash;
}

namespace {

/// In a layer of a page much stands below each other at a small scale: less is left free.
LayoutMetrics metricsOf(const SceneGroup& group, bool cell, bool close) {
  LayoutMetrics metrics;
  if (close) {
    metrics.top = cell ? kCellHead + 4 : kHeaderHeight + 5;
    metrics.bottom = 7;
    metrics.side = 8;
    metrics.rowGap = 11;
    metrics.track = metrics.lane = 6;
  } else if (group.depth == 0) {
    metrics.top = 20;
  }
  return metrics;
}

}  // namespace

std::shared_ptr<const GroupLayout> Hierarchy::layoutGroup(const SceneGraph& scene, int index,
                                                          const Open& open, Place place,
                                                          std::stop_token stop) {
  if (place == Place::plain && holdsPages_[at(index)]) return layoutPaged(scene, index, open, stop);
  const SceneGroup& group = scene.groups[at(index)];
  const bool arranged = arrangement_ && arrangement_->touches(group.path);  // unlike others of its structure
  const uint64_t key = mix(signature(scene, index, open), static_cast<uint64_t>(place));
  if (const auto known = cache_.find(key); known != cache_.end() && !arranged) return known->second;
  const bool cell = place == Place::cell, close = place != Place::plain;
  GroupAssembly assembly(scene, group, open, close, close && place != Place::beside);
  const Place within = cell ? Place::inCell : place;
  if (!assembly.addItems([&](int inner) { return layoutGroup(scene, inner, open, within, stop); }))
    return nullptr;
  const std::vector<LayoutItem> items = assembly.layoutItems(widths_);
  LayoutResult result = layoutLayers(items, assembly.layoutEdges(), metricsOf(group, cell, close), stop);
  if (result.stopped) return nullptr;
  std::shared_ptr<GroupLayout> layout = assembly.finish(std::move(result));
  const KeptGroup* kept = arranged ? arrangement_->find(group.path) : nullptr;
  if (kept) layout = keptLayout(scene, group, *layout, *kept);
  if (cell) drawCellStream(scene, group, *layout);
  if (arranged) return layout;
  if (cache_.size() >= kMostCached) cache_.clear();
  return cache_[key] = layout;
}

std::shared_ptr<const GroupLayout> Hierarchy::layout(const SceneGraph& scene, const Open& open,
                                                     std::stop_token stop, const Arrangement* arrangement) {
  arrangement_ = arrangement;
  choosePaged(scene, open);
  return layoutGroup(scene, 0, open, Place::plain, stop);
}

}  // namespace orrery::ui
