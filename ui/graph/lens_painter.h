// The lens over a page: one layer from near, over its own place.
#pragma once

#include <QPainter>
#include <QRectF>

#include "ui/graph/scene_painter.h"

namespace orrery::ui {

/// Heights in pixels of the screen.
inline constexpr double kLensHead = 28, kLensFoot = 29;

struct LensLook {
  QRectF frame;  // in the view
  const PageLayer* layer = nullptr;
  double scale = 1;          // of what is in it
  double magnification = 1;  // of that to the drawing
  bool pinned = false;
};

class LensPainter {
 public:
  explicit LensPainter(const Theme& theme);
  /// The painter draws in the view's pixels; `job` is that of the drawing.
  void paint(QPainter& painter, const ScenePainter& scene, PaintJob job, const LensLook& look) const;

 private:
  void paintGround(QPainter& painter, const QRectF& frame) const;
  void paintHead(QPainter& painter, const ScenePainter& scene, const PaintJob& job,
                 const LensLook& look) const;
  void paintFoot(QPainter& painter, const LensLook& look) const;

  Theme theme_;
};

}  // namespace orrery::ui
