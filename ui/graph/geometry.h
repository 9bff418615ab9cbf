// Where things are: from the hierarchy's relative coordinates to the scene's, and back from a point to a
// thing.
#pragma once

#include <functional>
#include <optional>

#include "ui/graph/heat_model.h"
#include "ui/graph/hierarchy.h"
#include "ui/graph/node_box.h"

namespace orrery::ui {

/// A scene, laid out. The root's frame has its top middle at (0, 0).
struct Drawing {
  std::shared_ptr<const SceneGraph> scene;
  std::shared_ptr<const GroupLayout> layout;
  bool blocks = false;  // layers of a page are blocks: nothing in them is to be pointed at
  explicit operator bool() const { return scene && layout; }
  Rect bounds() const {
    return layout ? Rect{-layout->halfWidth, 0, layout->halfWidth * 2, layout->height} : Rect{};
  }
};

/// What is under a point.
struct Hit {
  enum class Kind : uint8_t { nothing, node, folded, stack, open, wire };
  Kind kind = Kind::nothing;
  int node = -1;                   // position
  int group = -1, lastGroup = -1;  // the group; of a stack the first and the last
  int holder = -1, item = -1;  // the group that it is drawn in and its place there (wire: index of the wire)
  Rect box;
  bool header = false;  // on an open group's header
  friend bool operator==(const Hit& a, const Hit& b) {
    return a.kind == b.kind && a.node == b.node && a.group == b.group && a.holder == b.holder &&
           a.item == b.item;
  }
};

Hit hitTest(const Drawing& drawing, Point point, double tolerance);
/// The box of a node, or of the folded group or stack that hides it.
std::optional<Rect> boxOfNode(const Drawing& drawing, int position);
/// The frame or box of a group, or of what hides it.
std::optional<Rect> boxOfGroup(const Drawing& drawing, int group);
/// The positions that a drawn thing stands for.
Span spanOf(const SceneGraph& scene, const SceneGroup& holder, const Placed& placed);
/// The things that arrows walk over, top to bottom and left to right: nodes, folded groups, stacks.
std::vector<Hit> walkOrder(const Drawing& drawing);
/// The hit that describes one drawn thing.
Hit describePlaced(const SceneGraph& scene, int holder, const GroupLayout& layout, int item, Point origin);
/// An open group as it is laid out, with its frame's top middle; null where something folded hides it.
struct LaidOut {
  const GroupLayout* layout = nullptr;
  Point origin;
  explicit operator bool() const { return layout; }
};
LaidOut laidOut(const Drawing& drawing, int group);
/// The drawn thing that a node (a position) or a group is, or that hides it; nothing of the root.
Hit describeAt(const Drawing& drawing, int node, int group);
/// Nodes, folded groups and stacks whose boxes, grown by `reach` and by the pills beside them, hold the
/// point.
std::vector<Hit> thingsNear(const Drawing& drawing, Point point, double reach);
/// The same of what meets a rectangle; pills do not count.
std::vector<Hit> thingsIn(const Drawing& drawing, const Rect& area);
/// Where the frame of an inner group starts: its top middle.
inline Point innerOrigin(const Placed& placed, Point origin) {
  return {origin.x + placed.box.x + placed.box.w / 2 + placed.shift, origin.y + placed.box.y};
}

}  // namespace orrery::ui
