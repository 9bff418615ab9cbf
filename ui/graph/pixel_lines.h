// Wires and outlines seen from far: lines of one pixel along the axes, without smoothing. Of ten thousand
// that fall on a few thousand pixels, each pixel is painted about once.
#pragma once

#include <QList>
#include <QPainter>
#include <QRect>
#include <QTransform>
#include <cstdint>
#include <vector>

#include "ui/graph/layout.h"

namespace orrery::ui {

class PixelLines {
 public:
  /// `toPixels` leads from the lines' coordinates, without turn or shear; of these only `seen` is wanted.
  PixelLines(const QTransform& toPixels, const Rect& seen);

  /// A polyline; dotted: two pixels of five, which move with the drawing.
  void add(const std::vector<Point>& points, bool dotted);
  /// Into a painter that has the transform.
  void paint(QPainter& painter, const QColor& color) const;
  /// What paint() fills: long lines, and rows of the pixels that short ones touch.
  QList<QRect> rects() const;

 private:
  QPoint pixelOf(Point p) const;
  void addStretch(QPoint a, QPoint b, bool dotted);
  void addRun(const QRect& run);
  void addRow(QList<QRect>& rects, int row) const;

  QTransform toPixels_;
  QRect area_;
  QList<QRect> long_;
  size_t rowWords_ = 0;
  std::vector<uint64_t> touched_;  // a bit a pixel of the area, by rows; made with the first short line
};

}  // namespace orrery::ui
