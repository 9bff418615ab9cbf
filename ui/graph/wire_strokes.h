// Wires of one look, as strokes that are cheap to fill: a screen may show thousands, and one path of them all
// costs more to fill than everything else of a frame.
#pragma once

#include <QList>
#include <QPainter>
#include <QPainterPath>
#include <QRectF>
#include <span>
#include <vector>

#include "ui/graph/layout.h"
#include "ui/graph/wire_look.h"

namespace orrery::ui {

/// The straight stretches of wires, along the axes. Those that lie on one another become one, so that an edge
/// is smoothed once and stays as thin as the others.
class Stretches {
 public:
  void add(Point a, Point b);
  /// Of this thickness, in the coordinates of the points.
  QList<QRectF> rects(double thickness);

 private:
  struct Stretch {
    bool upright;
    double place, begin, end;  // x, and from y to y; lying: y, and from x to x
  };
  void merge();

  std::vector<Stretch> stretches_;
};

class WireStrokes {
 public:
  explicit WireStrokes(double width, Stroke stroke = Stroke::solid) : width_(width), stroke_(stroke) {}

  /// A polyline with rounded corners; what lies outside of `visible` may be left out.
  void add(const std::vector<Point>& points, double radius, const Rect& visible);
  void paint(QPainter& painter, const QColor& color);
  /// The same ways in another width, whole.
  WireStrokes thinner(double width) const;

 private:
  struct Corner {
    Point begin, from, corner, to, end;  // straight to `from`, bent to `to`, straight again
    double along;                        // of its wire, at the beginning
  };
  void addStretch(Point from, Point to, double along, const Rect& seen);

  double width_;
  Stroke stroke_;

  Stretches straight_;
  std::vector<Corner> corners_;  // each is filled by itself: a path of all is filled in many passes
};

/// The pen of a wire. What is broken is broken by lengths that follow from the width.
QPen wirePen(const QColor& color, double width, Stroke stroke);
/// Strokes and gaps of a broken line, in widths; none: it is whole.
std::span<const double> patternOf(Stroke stroke);
/// A polyline with rounded corners.
QPainterPath roundedPath(const std::vector<Point>& points, double radius);

}  // namespace orrery::ui
