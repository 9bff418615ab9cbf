#include "ui/graph/node_painter.h"

#include <QPainterPath>
#include <cmath>

#include "ui/graph/node_painter_private.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kLeastMarked = 7;  // pixels high: on less a mark would hide the value

void drawRight(QPainter& painter, const QPointF& baseline, const QString& text, const QFont& font) {
  painter.drawText(QPointF(baseline.x() - textWidth(text, font), baseline.y()), text);
}

}  // namespace

Detail detailAt(double scale, Detail current) {
  constexpr double kMid = 0.35, kNear = 0.8, kHysteresis = 0.03;
  const auto above = [scale](double limit, bool now) {
    return scale >= limit * (now ? 1 - kHysteresis : 1 + kHysteresis);
  };
  if (above(kNear, current == Detail::near)) return Detail::near;
  return above(kMid, current != Detail::far) ? Detail::mid : Detail::far;
}

NodePainter::NodePainter(const Theme& theme) : theme_(theme) {
  const Theme plain(theme.mode());  // boxes grow by zoom, not by the text setting
  fonts_.name = plain.textFont(12, QFont::DemiBold);
  fonts_.time = plain.monoFont(11, QFont::Medium);
  fonts_.second = plain.monoFont(10);
  fonts_.chip = plain.textFont(9, QFont::DemiBold);
  fonts_.stackChip = plain.textFont(10, QFont::DemiBold);
  fonts_.midName = plain.textFont(11, QFont::Medium);
  fonts_.midTime = plain.monoFont(11);
  fonts_.tag = plain.textFont(9, QFont::Bold);
}

QColor NodePainter::bodyOf(const NodeLook& look) const {
  return look.body.isValid() ? look.body : theme_(Token::raised);
}

QColor NodePainter::gutterGround() const {
  return theme_.isDark() ? Theme::blend(theme_(Token::window), theme_(Token::panel), 0.6)
                         : theme_(Token::raised);
}

QColor NodePainter::lineOf(const NodeLook& look) const {
  if (look.body.isValid()) return Theme::blend(look.body, theme_(Token::text), 0.14);
  return Theme::blend(theme_(Token::raised), theme_(Token::borderStrong), theme_.isDark() ? 0.42 : 0.64);
}

void NodePainter::paint(QPainter& painter, const NodeLook& look, Detail detail, double scale) const {
  switch (detail) {
    case Detail::far:
      return paintFar(painter, look, scale);
    case Detail::mid:
      return paintMid(painter, look, scale);
    case Detail::near:
      return paintNear(painter, look);
  }
}

void NodePainter::paintFar(QPainter& painter, const NodeLook& look, double scale) const {
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (look.bypassed) {
    setLine(painter, theme_(Token::text3), 0);
    painter.drawRect(look.box);
  } else {
    const QColor fill = look.body.isValid()
                            ? look.body
                            : Theme::blend(theme_(Token::canvas), theme_.family(look.family), 0.42);
    painter.fillRect(look.box, fill);
  }
  if (look.edited) {
    const double side = 3 / scale;
    painter.fillRect(QRectF(look.box.right() - side, look.box.top(), side, side), theme_(Token::edited));
  }
  if (look.box.height() * scale >= kLeastMarked) paintFarPlace(painter, look, scale);
  if (look.selected || look.hovered || look.match) {
    const double off = 1.5 / scale;
    QPen pen(theme_(look.selected ? Token::accent
                    : look.match  ? Token::warn
                                  : Token::text2),
             look.selected ? 2 : 1);
    pen.setCosmetic(true);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(look.box.adjusted(-off, -off, off, off));
  }
}

void NodePainter::paintFarPlace(QPainter& painter, const NodeLook& look, double scale) const {
  if (look.mark != DeviceMark::none && !look.bypassed) {
    const double side = 3 / scale;
    painter.fillRect(QRectF(look.box.right() - side, look.box.bottom() - side, side, side),
                     markColor(look.mark, theme_));
  }
  if (!look.fellBack) return;
  QPen pen(theme_(Token::warn), 1.5, Qt::DashLine);
  pen.setCosmetic(true);
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(look.box);
}

void NodePainter::paintMid(QPainter& painter, const NodeLook& look, double scale) const {
  // In screen pixels, so that text and stripe keep their size between 0.35 and 0.8.
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(look.box.topLeft());
  painter.scale(1 / scale, 1 / scale);
  NodeLook screen = look;
  screen.box = QRectF(0, 0, look.box.width() * scale, look.box.height() * scale);
  const QRectF& box = screen.box;
  paintPlates(painter, screen, 2.4);
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
  painter.setClipPath(clip, Qt::IntersectClip);
  painter.fillRect(QRectF(0, 0, 4, box.height()),
                   look.bypassed ? theme_(Token::text3) : theme_.family(look.family));
  painter.fillRect(QRectF(4, 0, 1, box.height()), theme_(Token::canvas));
  if (look.fused) {
    setLine(painter, Theme::blend(body, Theme::textOn(body), 0.5), 1);
    painter.drawRoundedRect(QRectF(7.5, 2.5, box.width() - 10, box.height() - 5), 2.5, 2.5);
  }
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
    painter.setFont(fonts_.midTime);
    painter.drawText(QPointF(box.width() - 8 - timeWidth, baseline), look.shortTime);
    room -= timeWidth + 6;
  }
  painter.setFont(fonts_.midName);
  const double countWidth = textWidth(count, fonts_.midName);
  painter.drawText(QPointF(12, baseline), elided(look.name, fonts_.midName, room - countWidth) + count);
  if (look.running >= 0) {
    const double width = box.width() * 0.28;
    painter.fillRect(QRectF(look.running * (box.width() + width) - width, box.height() - 3, width, 3),
                     theme_(Token::accent));
  }
  painter.setClipping(false);
  if (look.edited) paintNotch(painter, box, 10, 4, 1.2);
  if (!look.bypassed) paintDeviceMark(painter, look.mark, {box.right() - 7, box.bottom() - 1}, 6.5, theme_);
  if (look.fellBack) paintFallback(painter, box, 5.5);
  if (look.selected || look.hovered || look.match) {
    setLine(painter,
            theme_(look.selected ? Token::accent
                   : look.match  ? Token::warn
                                 : Token::text2),
            look.selected ? 2 : 1);
    const double off = (look.selected ? 2.5 : 2) + (look.fellBack ? 2.5 : 0);
    painter.drawRoundedRect(box.adjusted(-off, -off, off, off), 6, 6);
  }
  painter.restore();
}

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
  QPainterPath gutter;
  gutter.addRoundedRect(QRectF(box.left() + 1, box.top() + 1, kGutter + 8, box.height() - 2), 5, 5);
  painter.save();
  painter.setClipRect(QRectF(box.left() + 1, box.top() + 1, kGutter - 1, box.height() - 2),
                      Qt::IntersectClip);
  painter.fillPath(gutter, gutterGround());
  painter.restore();
  fillRounded(painter, QRectF(box.left() + 1, box.top() + 6, 2.5, box.height() - 12), 1.25,
              theme_.family(look.family));
  const QRectF glyph(box.left() + 7.5, box.center().y() - 7, 14, 14);
  if (look.group)
    paintIcon(painter, u"right", glyph, theme_(Token::text));
  else
    paintIcon(painter, glyphName(look.family), glyph, theme_.family(look.family));
}

double NodePainter::paintChip(QPainter& painter, const NodeLook& look, double x, const QColor& body,
                              const QColor& text) const {
  const bool stack = look.plates == 2;
  const QFont& font = stack ? fonts_.stackChip : fonts_.chip;
  const double width = textWidth(look.chip, font) + (stack ? 11 : 9), height = stack ? 14 : 12.5;
  const QRectF chip(x, look.box.top() + (stack ? 3 : 4), width, height);
  fillRounded(painter, chip, stack ? 3.5 : 3, Theme::blend(body, text, 0.22));
  painter.setPen(text);
  painter.setFont(font);
  painter.drawText(chip, Qt::AlignCenter, look.chip);
  return width;
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
    painter.setFont(fonts_.time);
    drawRight(painter, {right - (look.edited ? 6 : 0), first}, look.time, fonts_.time);
    room -= textWidth(look.time, fonts_.time) + 8 + (look.edited ? 6 : 0);
  }
  if (!look.chip.isEmpty()) room -= textWidth(look.chip, fonts_.chip) + 18;
  painter.setFont(fonts_.name);
  const QString name = elided(look.name, fonts_.name, room);
  painter.drawText(QPointF(left, first), name);
  if (!look.chip.isEmpty()) paintChip(painter, look, left + textWidth(name, fonts_.name) + 8, body, text);

  painter.setPen(heat ? Theme::blend(body, text, 0.86) : theme_(Token::text2));
  painter.setFont(fonts_.second);
  const double rightWidth = textWidth(look.right, fonts_.second);
  drawRight(painter, {right, second}, look.right, fonts_.second);
  painter.drawText(QPointF(left, second), elided(look.left, fonts_.second, right - left - rightWidth - 8));
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
  const double left = look.box.left() + kGutter + kPad, width = look.box.right() - kPad - left;
  painter.setPen(color);
  painter.setFont(fonts_.name);
  painter.drawText(QPointF(left, look.box.top() + 14.5), elided(look.name, fonts_.name, width));
  painter.setFont(fonts_.second);
  painter.drawText(QPointF(left, look.box.top() + 28), look.box.width() < 200
                                                           ? QStringLiteral("bypassed")
                                                           : QStringLiteral("bypassed: x passes through"));
}

void NodePainter::paintNear(QPainter& painter, const NodeLook& look) const {
  painter.setRenderHint(QPainter::Antialiasing);
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
    paintTexts(painter, look);
    if (look.running >= 0) {
      const double width = look.box.width() * 0.28;
      const double x = look.box.left() + look.running * (look.box.width() + width) - width;
      const QRectF bar =
          QRectF(x, look.box.bottom() - 4, width, 3).intersected(look.box.adjusted(4, 0, -4, 0));
      if (!bar.isEmpty()) fillRounded(painter, bar, 1.5, theme_(Token::accent));
    }
  }
  if (look.edited) paintNotch(painter, look.box, 15, 6, 1.5);
  paintMarks(painter, look);
  if (!look.device.isEmpty() && !look.transfer) paintTag(painter, look);
}

}  // namespace orrery::ui
