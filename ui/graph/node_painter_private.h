// Measures and steps that the parts of NodePainter share. Only node_painter*.cpp include this.
#pragma once

#include <QPainterPath>

#include "ui/graph/node_box.h"
#include "ui/graph/node_painter.h"

namespace orrery::ui {

inline constexpr double kRadius = 5.5;

inline void setLine(QPainter& painter, const QColor& color, double width,
                    Qt::PenStyle style = Qt::SolidLine) {
  painter.setPen(QPen(color, width, style));
  painter.setBrush(Qt::NoBrush);
}

inline void fillRounded(QPainter& painter, const QRectF& rect, double radius, const QColor& fill) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawRoundedRect(rect, radius, radius);
}

/// The gutter of a box whose corners are of this radius. A shape, not a clip: SVG files are written without
/// clips.
inline QPainterPath gutterOf(const QRectF& box, double radius) {
  const QRectF area(box.left() + 1, box.top() + 1, kGutter - 1, box.height() - 2);
  const QSizeF corner(2 * radius, 2 * radius);
  QPainterPath gutter(area.topRight());
  gutter.arcTo(QRectF(area.topLeft(), corner), 90, 90);
  gutter.arcTo(QRectF(area.bottomLeft() - QPointF(0, corner.height()), corner), 180, 90);
  gutter.lineTo(area.bottomRight());
  return gutter;
}

}  // namespace orrery::ui
