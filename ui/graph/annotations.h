// Frames and notes that edits put on the graph, and where they are drawn. They are attributes of nodes, so
// that they are undone, replayed and saved as any edit.
#pragma once

#include <QString>
#include <functional>
#include <vector>

#include "ui/graph/arrangement.h"
#include "ui/graph/geometry.h"

namespace orrery::ui {

struct FrameMark {
  QString title;
  Rect box;                   // scene coordinates, the header included
  std::vector<NodeId> nodes;  // in the graph's order
  Rect header() const { return {box.x, box.y, box.w, kHeaderHeight}; }
};

struct NoteMark {
  NodeId node;
  QString text;
  Rect box;  // scene coordinates
  Rect of;   // the node's box, or what hides it
};

/// Nodes of one title are in one frame, as far as they are drawn.
std::vector<FrameMark> framesOf(const Drawing& drawing);
/// `heightOf`: of a note with this text. Beside the outermost frame around the node, or where it was put.
std::vector<NoteMark> notesOf(const Drawing& drawing, const Arrangement& arrangement,
                              const std::function<double(const QString&)>& heightOf);

inline constexpr double kNoteWidth = 148;

}  // namespace orrery::ui
