// From one group of a scene to the boxes and edges that are laid out, and from their layout back to the
// group's. Standard library only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "ui/graph/hierarchy.h"

namespace orrery::ui {

/// The drawn things of a group, in the order of its children.
class GroupAssembly {
 public:
  /// `close`: in a layer of a page or beside one, where boxes are narrower; `streams`: in a layer, where the
  /// stream is no wire.
  GroupAssembly(const SceneGraph& scene, const SceneGroup& group, const std::unordered_set<std::string>& open,
                bool close, bool streams);

  using LayoutInner = std::function<std::shared_ptr<const GroupLayout>(int group)>;
  /// Layers that `isCell` says to be on a page do not stack. False when stopped.
  bool addItems(const LayoutInner& layoutInner, const std::function<bool(int group)>& isCell = {});
  std::vector<LayoutItem> layoutItems(const TextWidths& widths) const;
  /// Edges between drawn things, each pair once.
  std::vector<LayoutEdge> layoutEdges();
  std::shared_ptr<GroupLayout> finish(LayoutResult result);

  const GroupLayout& drawn() const { return *layout_; }

 private:
  bool live(const Placed& placed) const;
  bool folds(size_t a, size_t b) const;
  void addBypassed();
  void alignSpines(const std::vector<bool>& alone);
  void tighten();
  LayoutItem itemOf(const Placed& placed, double widestOpen, const TextWidths& widths) const;

  const SceneGraph& scene_;
  const SceneGroup& group_;
  const std::unordered_set<std::string>& open_;
  bool close_, streams_;
  std::shared_ptr<GroupLayout> layout_;
  std::vector<LayoutEdge> edges_;
  std::vector<int>
      edgeOf_;  // by edge of the layout: which edge of the group was first; -1: past what is bypassed
};

Rect boundsOf(const std::vector<Point>& points);
/// Moves all that is in a layout aside.
void shiftLayout(GroupLayout& layout, double dx);

}  // namespace orrery::ui
