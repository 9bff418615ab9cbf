// NodePainter's boxes of two lines: gutter and glyph, name and time, what it does and carries.
#include "ui/graph/node_painter_private.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

void drawRight(QPainter& painter, const QPointF& baseline, const QString& text, const QFont& font) {
  drawLabel(painter, QPointF(baseline.x() - textWidth(text, font), baseline.y()), text, font);
}

}  // namespace

void NodePainter::paintPlates(QPainter& painter, const NodeLook& look, double step) const {
  for (int plate = look.plates; plate > 0; --plate) {
    const double off = step * plate;
    painter.setPen(QPen(theme_(Token::edge), 1));
    painter.setBrush(
        Theme::blend(theme_(Token::panel), theme_(plate == 1 ? Token::raised : Token::window), 0.4));
    painter.drawRoundedRect(look.box.adjusted(0.5 + off, 0.5 + off, off - 0.5, off - 0.5), kRadius, kRadius);
  }
}

void NodePainter::paintGutter(QPainter& painter, const NodeLook& look) const {
  if (look.transfer) return paintWay(painter, look);
  const QRectF& box = look.box;
  painter.fillPath(gutterOf(box, 5), gutterGround());
  fillRounded(painter, QRectF(box.left() + 1, box.top() + 6, 2.5, box.height() - 12), 1.25,
              theme_.family(look.family));
  const QRectF glyph(box.left() + 7.5, box.center().y() - 7, 14, 14);
  if (look.group)
    paintIcon(painter, u"right", glyph, theme_(Token::text));
  else
    paintIcon(painter, glyphName(look.family), glyph, theme_.family(look.family));
}

double NodePainter::chipWidth(const QString& chip, bool stack) const {
  return textWidth(chip, stack ? fonts_.stackChip : fonts_.chip) + (stack ? 11 : 9);
}

void NodePainter::paintChip(QPainter& painter, const NodeLook& look, double x, const QColor& body,
                            const QColor& text) const {
  const bool stack = look.plates == 2;
  const QRectF chip(x, look.box.top() + (stack ? 3 : 4), chipWidth(look.chip, stack), stack ? 14 : 12.5);
  fillRounded(painter, chip, stack ? 3.5 : 3, Theme::blend(body, text, 0.22));
  painter.setPen(text);
  drawLabel(painter, chip, Qt::AlignHCenter, look.chip, stack ? fonts_.stackChip : fonts_.chip);
}

void NodePainter::paintTexts(QPainter& painter, const NodeLook& look) const {
  const QColor body = bodyOf(look);
  const bool heat = look.body.isValid();
  const QColor text = heat ? Theme::textOn(body) : theme_(Token::text);
  const QRectF& box = look.box;
  const double left = box.left() + kGutter + kPad, right = box.right() - kPad, first = box.top() + 14.5,
               second = box.top() + 28;
  painter.setPen(text);
  double room = right - left;
  if (!look.time.isEmpty()) {
    const double notch = look.edited ? 6 : 0;
    drawRight(painter, {right - notch, first}, look.time, fonts_.time);
    room -= textWidth(look.time, fonts_.time) + notch + kTextGap;
  }
  if (!look.chip.isEmpty()) room -= chipWidth(look.chip, look.plates == 2) + kTextGap;
  const QString name = elided(look.name, fonts_.name, room);
  drawLabel(painter, QPointF(left, first), name, fonts_.name);
  if (!look.chip.isEmpty())
    paintChip(painter, look, left + textWidth(name, fonts_.name) + kTextGap, body, text);

  painter.setPen(heat ? Theme::blend(body, text, 0.86) : theme_(Token::text2));
  const double rightWidth = look.right.isEmpty() ? 0 : textWidth(look.right, fonts_.second) + kTextGap;
  drawRight(painter, {right, second}, look.right, fonts_.second);
  drawLabel(painter, QPointF(left, second), elided(look.left, fonts_.second, right - left - rightWidth),
            fonts_.second);
}

void NodePainter::paintBypassed(QPainter& painter, const NodeLook& look) const {
  const QColor color = theme_(Token::text3);
  QPen pen(color, 1);
  pen.setDashPattern({4, 3});
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(look.box.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
  fillRounded(painter, QRectF(look.box.left() + 1, look.box.top() + 6, 2.5, look.box.height() - 12), 1.25,
              color);
  paintIcon(painter, look.group ? QStringView(u"right") : glyphName(look.family),
            QRectF(look.box.left() + 7.5, look.box.center().y() - 7, 14, 14), color);
}

void NodePainter::paintBypassedTexts(QPainter& painter, const NodeLook& look) const {
  const double left = look.box.left() + kGutter + kPad, width = look.box.right() - kPad - left;
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(left, look.box.top() + 14.5), elided(look.name, fonts_.name, width),
            fonts_.name);
  drawLabel(painter, QPointF(left, look.box.top() + 28),
            fitted(look.left, look.left.section(':', 0, 0), fonts_.second, width), fonts_.second);
}

void NodePainter::paintNearBack(QPainter& painter, const NodeLook& look) const {
  if (look.bypassed) {
    paintBypassed(painter, look);
  } else {
    paintPlates(painter, look, 4);
    const QColor body = bodyOf(look);
    painter.setPen(QPen(lineOf(look), 1));
    painter.setBrush(body);
    const double radius = look.transfer ? look.box.height() / 2 - 0.5 : kRadius;
    painter.drawRoundedRect(look.box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    paintGutter(painter, look);
    if (look.fused) {
      setLine(painter, Theme::blend(body, Theme::textOn(body), 0.38), 1);
      painter.drawRoundedRect(look.box.adjusted(kGutter + 2.5, 2.5, -2.5, -2.5), 4, 4);
    }
  }
  if (look.edited) paintNotch(painter, look.box, 15, 6, 1.5);
  if (!look.bypassed) paintPort(painter, {look.box.center().x(), look.box.bottom()});
  if (look.fellBack) paintFallback(painter, look.box, 8);
}

void NodePainter::paintNearFront(QPainter& painter, const NodeLook& look) const {
  if (look.bypassed) {
    paintBypassedTexts(painter, look);
  } else {
    paintTexts(painter, look);
    if (look.running >= 0) {
      const double width = look.box.width() * 0.28;
      const double x = look.box.left() + look.running * (look.box.width() + width) - width;
      const QRectF bar =
          QRectF(x, look.box.bottom() - 4, width, 3).intersected(look.box.adjusted(4, 0, -4, 0));
      if (!bar.isEmpty()) fillRounded(painter, bar, 1.5, theme_(Token::accent));
    }
  }
  paintMarks(painter, look);
  if (!look.device.isEmpty() && !look.transfer)
    paintTag(painter, look.box, TagSide::right, look.device, markColor(look.mark, theme_));
  if (!look.precision.isEmpty())
    paintTag(painter, look.box, TagSide::left, look.precision, theme_(Token::edited));
}

}  // namespace orrery::ui
