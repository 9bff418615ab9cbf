// A drag in the drawing, from the press to the release. Only the editor's files include this.
#pragma once

#include <QPainter>
#include <QPointF>

namespace orrery::ui {

class Gesture {
 public:
  virtual ~Gesture() = default;
  /// The pointer is there, in the view's coordinates.
  virtual void move(QPointF position, Qt::KeyboardModifiers keys) = 0;
  virtual void drop() = 0;
  /// Over the drawing, in scene coordinates.
  virtual void paint(QPainter& painter) const = 0;
  virtual Qt::CursorShape cursor() const { return Qt::ArrowCursor; }
};

}  // namespace orrery::ui
