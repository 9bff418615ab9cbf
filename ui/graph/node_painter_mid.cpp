// NodePainter's boxes of one line: a stripe, the name and the value, of one size on the screen.
#include <QPainterPath>

#include "ui/graph/node_painter_private.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kRoomy = 20;  // pixels high: smaller boxes have smaller words

}  // namespace

void NodePainter::paintMidBack(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  if (!look.bypassed) paintPlates(painter, look, 2.4);
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
    const double inset = box.height() < kRoomy ? 1.5 : 2.5;
    painter.drawRoundedRect(QRectF(7.5, inset, box.width() - 7.5 - inset, box.height() - 2 * inset), 2.5,
                            2.5);
  }
  painter.restore();
  if (look.edited) paintNotch(painter, box, 10, 4, 1.2);
  if (!look.bypassed) paintDeviceMark(painter, look.mark, {box.right() - 7, box.bottom() - 1}, 6.5, theme_);
  if (look.fellBack) paintFallback(painter, box, 5.5);
}

/// The name and the value, then how many a stack is of. Where they do not fit the number goes first; the name
/// gives way to the value as long as it can be read, then the value goes.
void NodePainter::paintMidTexts(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  const bool small = box.height() < kRoomy;
  const QFont &nameFont = small ? fonts_.smallName : fonts_.midName,
              &timeFont = small ? fonts_.smallTime : fonts_.midTime;
  constexpr double kLeft = 10, kRight = 5, kGap = 4, kMark = 8;
  const bool marked = look.edited || (look.mark != DeviceMark::none && !look.bypassed);
  const double right = box.width() - kRight - (marked ? kMark : 0),
               baseline = box.height() / 2 + (small ? 3.2 : 3.8);
  double room = right - kLeft;
  const double timeWidth = textWidth(look.time, timeFont);
  if (!look.time.isEmpty() && timeWidth + kGap + leastWidth(look.name, nameFont) <= room) {
    drawLabel(painter, QPointF(right - timeWidth, baseline), look.time, timeFont);
    room -= timeWidth + kGap;
  }
  const QString count = look.plates == 2 ? QStringLiteral("  ") + QString(look.chip).remove(' ') : QString();
  drawLabel(painter, QPointF(kLeft, baseline), fitted(look.name + count, look.name, nameFont, room),
            nameFont);
}

void NodePainter::paintMidFront(QPainter& painter, const NodeLook& look) const {
  const QRectF& box = look.box;
  const QColor body = bodyOf(look);
  painter.setPen(look.bypassed         ? theme_(Token::text3)
                 : look.body.isValid() ? Theme::textOn(body)
                                       : theme_(Token::text));
  paintMidTexts(painter, look);
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
