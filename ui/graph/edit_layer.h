// What lies over the drawing while it is edited: ports, the wire that is dragged, selection, frames, notes,
// drafts, what was deleted. In scene coordinates; words keep the measures of boxes.
#pragma once

#include <QPainter>

#include "ui/graph/annotations.h"
#include "ui/graph/drafts.h"
#include "ui/graph/node_painter.h"
#include "ui/graph/ports.h"

namespace orrery::ui {

/// What is told of a port by its look.
enum class PortLook : uint8_t { plain, hovered, selected, focused, from, accepts, refuses, open };

class EditLayer {
 public:
  explicit EditLayer(const Theme& theme);

  /// `color`: of the ring's inside where the wire's dtype tells it; invalid: as the look says.
  void paintPort(QPainter& painter, const Port& port, PortLook look, const QColor& color = {}) const;
  /// Its name and shape, beside it.
  void paintChip(QPainter& painter, const Port& port, const QString& words) const;
  /// A wire that is dragged, to the pointer or a port.
  void paintDrag(QPainter& painter, const std::vector<Point>& points, bool loose) const;
  /// One that was refused.
  void paintTry(QPainter& painter, const std::vector<Point>& points) const;
  void paintErrorOutline(QPainter& painter, const Rect& box) const;
  /// A wire that something would be put on.
  void paintTarget(QPainter& painter, const std::vector<Point>& points, bool accepts) const;
  void paintSelection(QPainter& painter, const Rect& box) const;
  void paintStroke(QPainter& painter, const std::vector<Point>& points, double scale) const;
  void paintFrame(QPainter& painter, const FrameMark& frame, bool selected) const;
  void paintNote(QPainter& painter, const NoteMark& note) const;
  double noteHeight(const QString& text) const;
  /// The box of a draft at `box`, with what it waits for.
  void paintDraft(QPainter& painter, const Draft& draft, const Rect& box, const QStringList& missing,
                  bool selected) const;
  double draftWidth(const Draft& draft) const;
  /// A deleted node's ghost.
  void paintGhost(QPainter& painter, const Rect& box, const QString& name, graph::OpFamily family,
                  const QString& second) const;
  /// A thing that is dragged, where it would be put.
  void paintMoving(QPainter& painter, const NodeLook& look) const;
  /// How a graph is begun, in the middle of an empty canvas. In pixels of the view.
  void paintBeginning(QPainter& painter, const QRect& view, const QString& title,
                      const QStringList& lines) const;
  /// Of what an edit that is not made yet would change.
  void paintPending(QPainter& painter, const Rect& box) const;

 private:
  Theme theme_;
  NodePainter nodes_;
  QFont chipFont_, titleFont_, countFont_, noteFont_, nameFont_, secondFont_, deletedFont_;
};

}  // namespace orrery::ui
