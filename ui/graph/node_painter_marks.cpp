// What NodePainter draws on the border of a box and around it: notch, tag, outlines, rings, ports; and the
// way of a transfer.
#include "ui/graph/node_painter_private.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {

/// A transfer's gutter: the device that it comes from over the one that it goes to, in the wires' direction.
void NodePainter::paintWay(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  const double x = box.left() + 15;
  painter.fillPath(gutterOf(box, box.height() / 2 - 1), gutterGround());
  paintDeviceMark(painter, look.source, {x, box.top() + 9}, 7, theme_);
  setLine(painter, theme_(Token::text2), 1.2);
  const double top = box.top() + 14, foot = box.bottom() - 14;
  painter.drawLine(QPointF(x, top), QPointF(x, foot));
  painter.drawPolyline(QPolygonF{{x - 2.5, foot - 2.5}, {x, foot}, {x + 2.5, foot - 2.5}});
  paintDeviceMark(painter, look.mark, {x, box.bottom() - 9}, 7, theme_);
}

void NodePainter::paintNotch(QPainter& painter, const QRectF& box, double side, double radius,
                             double pen) const {
  QPainterPath notch(QPointF(box.right() - side, box.top()));
  notch.lineTo(box.right() - radius, box.top());
  notch.quadTo(box.right(), box.top(), box.right(), box.top() + radius);
  notch.lineTo(box.right(), box.top() + side);
  notch.closeSubpath();
  painter.setPen(QPen(theme_(Token::canvas), pen, Qt::SolidLine, Qt::SquareCap, Qt::RoundJoin));
  painter.setBrush(theme_(Token::edited));
  painter.drawPath(notch);
}

void NodePainter::paintTag(QPainter& painter, const QRectF& box, TagSide side, const QString& words,
                           const QColor& color) const {
  const double width = textWidth(words, fonts_.tag) + 10;
  const double left = side == TagSide::left ? box.left() + 6 : box.right() - 6 - width;
  const QRectF tag(left, box.bottom() - 2.5, width, 12);
  fillRounded(painter, tag.adjusted(-1.5, -1.5, 1.5, 1.5), 4.5, theme_(Token::canvas));
  painter.setPen(QPen(color, 1));
  painter.setBrush(Theme::blend(theme_(Token::panel), color, 0.18));
  painter.drawRoundedRect(tag, 3, 3);
  drawLabel(painter, tag, Qt::AlignHCenter, words, fonts_.tag);
}

/// Where its wires leave; what is chosen has more of them, drawn over all (edit_layer.h).
void NodePainter::paintPort(QPainter& painter, const QPointF& centre) const {
  constexpr double kRadius = 2.4;
  painter.setPen(QPen(theme_(Token::canvas), 1.2));
  painter.setBrush(theme_(Token::edge));
  painter.drawEllipse(centre, kRadius, kRadius);
}

void NodePainter::paintMarks(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  const double radius = look.transfer ? box.height() / 2 : kRadius, out = look.fellBack ? 2.5 : 0;
  const auto ring = [&](double off) {
    painter.drawRoundedRect(box.adjusted(-off, -off, off, off), radius + off, radius + off);
  };
  if (look.selected) {
    setLine(painter, theme_(Token::accent), 2);
    ring(3 + out);
    if (look.focused) {
      setLine(painter, theme_(Token::text), 1, Qt::DotLine);
      ring(5.5 + out);
    }
  } else if (look.match || look.hovered) {
    setLine(painter, theme_(look.match ? Token::warn : Token::text2), look.match ? 1.5 : 1);
    ring(2 + out);
  }
}

void NodePainter::paintFallback(QPainter& painter, const QRectF& box, double radius) const {
  QPen pen(theme_(Token::warn), 2, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({2.5, 1.5});
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(box.adjusted(-2.5, -2.5, 2.5, 2.5), radius, radius);
}

}  // namespace orrery::ui
