// Measures and steps that the parts of NodePainter share. Only node_painter*.cpp include this.
#pragma once

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

}  // namespace orrery::ui
