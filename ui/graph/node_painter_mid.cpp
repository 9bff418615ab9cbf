// NodePainter's boxes of one line: a stripe, the name and the value, of one size on the screen.
#include <QPainterPath>

#include "ui/graph/node_painter_private.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {

void NodePainter::paintMidBack(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  paintPlates(painter, look, 2.4);
  const QColor body = bodyOf(look);
  if (look.bypassed) {
    setLine(painter, theme_(Token::text3), 1, Qt::DashLine);
  } else {
    painter.setBrush(body);
    painter.setPen(QPen(lineOf(look), 1));
  }
  const double radius = look.transfer ? box.height() / 2 : 4;
  painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius - 0.5, radius - 0.5);
  QPainterPath clip;
  clip.addRoundedRect(box, radius, radius);
  painter.save();
  painter.setClipPath(clip, Qt::IntersectClip);
  painter.fillRect(QRectF(0, 0, 4, box.height()),
                   look.bypassed ? theme_(Token::text3) : theme_.family(look.family));
  painter.fillRect(QRectF(4, 0, 1, box.height()), theme_(Token::canvas));
  if (look.fused) {
    setLine(painter, Theme::blend(body, Theme::textOn(body), 0.5), 1);
    painter.drawRoundedRect(QRectF(7.5, 2.5, box.width() - 10, box.height() - 5), 2.5, 2.5);
  }
  painter.restore();
  if (look.edited) paintNotch(painter, box, 10, 4, 1.2);
  if (!look.bypassed) paintDeviceMark(painter, look.mark, {box.right() - 7, box.bottom() - 1}, 6.5, theme_);
  if (look.fellBack) paintFallback(painter, box, 5.5);
}

void NodePainter::paintMidFront(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  const QColor body = bodyOf(look);
  const QColor text = look.bypassed         ? theme_(Token::text3)
                      : look.body.isValid() ? Theme::textOn(body)
                                            : theme_(Token::text);
  painter.setPen(text);
  const double baseline = box.height() / 2 + 4;
  const QString count = look.plates == 2 ? QStringLiteral("  ") + QString(look.chip).remove(' ') : QString();
  const double nameWidth = textWidth(look.name + count, fonts_.midName),
               timeWidth = textWidth(look.shortTime, fonts_.midTime);
  double room = box.width() - 20 - (look.edited ? 8 : 0);
  // The value gives way where only half of the name would be left, and on a stack where the count would go.
  const double least = look.plates == 2 ? nameWidth : std::min(nameWidth, 48.0);
  if (!look.shortTime.isEmpty() && !look.edited && timeWidth + 6 + least <= room) {
    drawLabel(painter, QPointF(box.width() - 8 - timeWidth, baseline), look.shortTime, fonts_.midTime);
    room -= timeWidth + 6;
  }
  const double countWidth = textWidth(count, fonts_.midName);
  drawLabel(painter, QPointF(12, baseline), elided(look.name, fonts_.midName, room - countWidth) + count,
            fonts_.midName);
  if (look.running >= 0) {
    const double width = box.width() * 0.28;
    const QRectF bar(look.running * (box.width() + width) - width, box.height() - 3, width, 3);
    painter.fillRect(bar.intersected(box.adjusted(1, 0, -1, 0)), theme_(Token::accent));
  }
  if (look.selected || look.hovered || look.match) {
    setLine(painter,
            theme_(look.selected ? Token::accent
                   : look.match  ? Token::warn
                                 : Token::text2),
            look.selected ? 2 : 1);
    const double off = (look.selected ? 2.5 : 2) + (look.fellBack ? 2.5 : 0);
    painter.drawRoundedRect(box.adjusted(-off, -off, off, off), 6, 6);
  }
}

}  // namespace orrery::ui
