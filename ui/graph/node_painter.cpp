#include "ui/graph/node_painter.h"

#include <QFontMetricsF>

#include "ui/graph/node_painter_private.h"
#include "ui/graph/node_sprites.h"
#include "ui/theme/sprites.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kMargin = 12;      // what a box draws around itself: plates, outlines, ports
constexpr double kLeastMarked = 7;  // pixels high: on less a mark would hide the value
constexpr double kHysteresis = 0.03;

}  // namespace

Detail detailAt(double scale, Detail current) {
  constexpr double kMid = 0.35, kNear = 0.8;
  const auto above = [scale](double limit, bool now) {
    return scale >= limit * (now ? 1 - kHysteresis : 1 + kHysteresis);
  };
  if (above(kNear, current == Detail::near)) return Detail::near;
  return above(kMid, current != Detail::far) ? Detail::mid : Detail::far;
}

bool layersAreBlocks(double scale, bool now) {
  constexpr double kLeastNode = 4;
  return kNodeHeight * scale < kLeastNode * (now ? 1 + kHysteresis : 1 - kHysteresis);
}

NodePainter::NodePainter(const Theme& theme) : theme_(theme), sprites_(std::make_shared<NodeSprites>()) {
  const Theme plain(theme.mode());  // boxes grow by zoom, not by the text setting
  fonts_.name = plain.textFont(12, QFont::DemiBold);
  fonts_.time = plain.monoFont(11, QFont::Medium);
  fonts_.second = plain.monoFont(10);
  fonts_.chip = plain.textFont(9, QFont::DemiBold);
  fonts_.stackChip = plain.textFont(10, QFont::DemiBold);
  fonts_.midName = plain.textFont(10.5, QFont::Medium);
  fonts_.midTime = plain.monoFont(10.5);
  fonts_.smallName = plain.textFont(9, QFont::Medium);
  fonts_.smallTime = plain.monoFont(9);
  fonts_.tag = plain.textFont(9, QFont::Bold);
}

TextWidths NodePainter::textWidths() const {
  TextWidths widths;
  const QFontMetricsF name(fonts_.name);
  for (size_t code = 0; code < widths.name.size(); ++code)
    widths.name[code] = name.horizontalAdvance(QChar(static_cast<char16_t>(code)));
  widths.time = textWidth(QStringLiteral("0"), fonts_.time);
  widths.second = textWidth(QStringLiteral("0"), fonts_.second);
  widths.fusedChip = chipWidth(QStringLiteral("16 in 1"), false);
  widths.stackChip = chipWidth(QStringLiteral("× 128"), true);
  return widths;
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

void NodePainter::paint(QPainter& painter, NodeLook look, Detail detail, double scale) const {
  if (detail == Detail::far) return paintFar(painter, look, scale);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool near = detail == Detail::near;
  const double unit = near ? 1 : 1 / scale;  // Mid keeps its measures on the screen
  if (drawsPixels(painter)) NodeSprites::align(painter, look.box);
  const auto inUnits = [&](QPainter& into, const NodeLook& which, Part part) {
    if (near) return (this->*part)(into, which);
    NodeLook screen = which;
    screen.box = QRectF(QPointF(), which.box.size() * scale);
    into.save();
    into.translate(which.box.topLeft());
    into.scale(unit, unit);
    (this->*part)(into, screen);
    into.restore();
  };
  const auto back = [&](QPainter& into, const NodeLook& which) {
    into.setRenderHint(QPainter::Antialiasing);
    inUnits(into, which, near ? &NodePainter::paintNearBack : &NodePainter::paintMidBack);
  };
  if (!sprites_->draw(painter, look, kMargin * unit, back)) back(painter, look);
  inUnits(painter, look, near ? &NodePainter::paintNearFront : &NodePainter::paintMidFront);
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
  if (look.selected) return paintFarOutline(painter, look.box, 0.5 / scale, 2.5 / scale);
  if (look.hovered || look.match) {
    const double off = 1.5 / scale;
    QPen pen(theme_(look.match ? Token::warn : Token::text2), 1);
    pen.setCosmetic(true);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(look.box.adjusted(-off, -off, off, off));
  }
}

/// Filled, as thousands may be chosen: stroking a line of two pixels takes longer than all else of a box.
void NodePainter::paintFarOutline(QPainter& painter, const QRectF& box, double inside, double outside) const {
  const QColor color = theme_(Token::accent);
  const QRectF inner = box.adjusted(-inside, -inside, inside, inside),
               outer = box.adjusted(-outside, -outside, outside, outside);
  painter.fillRect(QRectF(outer.topLeft(), QPointF(outer.right(), inner.top())), color);
  painter.fillRect(QRectF(QPointF(outer.left(), inner.top()), inner.bottomLeft()), color);
  painter.fillRect(QRectF(inner.topRight(), QPointF(outer.right(), inner.bottom())), color);
  painter.fillRect(QRectF(QPointF(outer.left(), inner.bottom()), outer.bottomRight()), color);
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

}  // namespace orrery::ui
