// Where things stand that do not stand where the layout would put them: what a person dragged, and what an
// edit beside them left alone. By paths, so that it outlives a version of the graph, an undo, a file.
// Standard library only.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ui/graph/layout.h"

namespace orrery::ui {

struct GroupLayout;

struct KeptGroup {
  std::unordered_map<std::string, Rect>
      boxes;  // by the path of the child; the origin is where the spine meets the frame's top
  std::unordered_set<std::string> byHand;  // of these, what a person put there
  /// All children had their boxes when an edit changed the group: one without is new. Else it stands where
  /// the layout puts it.
  bool whole = false;
  double halfWidth = 0, height = 0;             // of the frame, which does not shrink
  std::shared_ptr<const GroupLayout> drawn;     // of a whole one: its wires, as far as their ends stay
  std::unordered_map<std::string, int> itemOf;  // of `drawn`, by the path of the child
};

struct Arrangement {
  std::unordered_map<std::string, KeptGroup> groups;  // by path
  std::unordered_map<std::string, Point> notes;       // by the node's path: from its box's corner

  const KeptGroup* find(const std::string& group) const;
  /// Whether the group or something in it is arranged.
  bool touches(const std::string& group) const;
  bool empty() const { return groups.empty() && notes.empty(); }
  /// A person puts a child of the group there.
  void put(const std::string& group, const std::string& child, const Rect& box);
  /// What had one path has another.
  void rename(const std::string& from, const std::string& to);
};

}  // namespace orrery::ui
