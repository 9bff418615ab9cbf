#include "ui/graph/edit_layer.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>

#include "ui/graph/node_box.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kPort = 3.6, kPlainPort = 2.5, kRing = 7, kRim = 1.6;
constexpr double kChipHeight = 17, kDragCorner = 6, kNoteInset = 10, kFold = 11;
constexpr double kBoxRadius = 5.5;

QPointF pointOf(Point point) { return {point.x, point.y}; }
QPen dashed(const QColor& color, double width, double on, double off) {
  QPen pen(color, width, Qt::CustomDashLine, Qt::FlatCap, Qt::RoundJoin);
  pen.setDashPattern({on / width, off / width});
  return pen;
}

}  // namespace

EditLayer::EditLayer(const Theme& theme) : theme_(theme), nodes_(theme) {
  const Theme plain(theme.mode());  // grows by zoom, as boxes do
  chipFont_ = plain.monoFont(9.5);
  titleFont_ = plain.textFont(11.5, QFont::DemiBold);
  countFont_ = plain.textFont(10.5);
  noteFont_ = plain.textFont(11.5);
  nameFont_ = plain.textFont(12, QFont::DemiBold);
  secondFont_ = plain.monoFont(10);
  deletedFont_ = plain.textFont(10.5, QFont::Medium);
}

void EditLayer::paintPort(QPainter& painter, const Port& port, PortLook look, const QColor& color) const {
  const QPointF at = pointOf(port.at);
  painter.setRenderHint(QPainter::Antialiasing);
  const auto dot = [&](double radius, const QColor& fill) {
    painter.setPen(QPen(theme_(Token::canvas), kRim));
    painter.setBrush(color.isValid() ? color : fill);
    painter.drawEllipse(at, radius, radius);
  };
  const auto ring = [&](const QColor& line, const QColor& ground) {
    painter.setPen(QPen(line, kRim));
    painter.setBrush(ground);
    painter.drawEllipse(at, kRing, kRing);
  };
  switch (look) {
    case PortLook::plain:
      return dot(kPlainPort, theme_(Token::edge));
    case PortLook::hovered:
      return dot(kPort, theme_(Token::text2));
    case PortLook::selected:
      return dot(kPort, theme_(Token::accent));
    case PortLook::focused:
      dot(kPort, theme_(Token::accent));
      painter.setPen(QPen(theme_(Token::text), 1, Qt::DotLine));
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(at, kRing, kRing);
      return;
    case PortLook::from:
    case PortLook::accepts:
      dot(kPort, theme_(Token::accent));
      return ring(theme_(Token::ok), QColor(Qt::transparent));
    case PortLook::refuses: {
      ring(theme_(Token::error), theme_(Token::errorBg));
      constexpr double kArm = 2.8;
      painter.drawLine(at - QPointF(kArm, kArm), at + QPointF(kArm, kArm));
      painter.drawLine(at + QPointF(-kArm, kArm), at + QPointF(kArm, -kArm));
      return;
    }
    case PortLook::open:
      painter.setPen(QPen(theme_(port.optional ? Token::text3 : Token::warn), kRim));
      painter.setBrush(theme_(Token::canvas));
      painter.drawEllipse(at, kPort - 0.4, kPort - 0.4);
  }
}

void EditLayer::paintChip(QPainter& painter, const Port& port, const QString& words) const {
  const double width = textWidth(words, chipFont_) + 12;
  QPointF corner(port.at.x - width / 2, port.at.y + 5);
  if (port.side == Port::Side::top) corner.setY(port.at.y - 5 - kChipHeight);
  if (port.side == Port::Side::left) corner = {port.at.x - 8 - width, port.at.y - kChipHeight / 2};
  if (port.side == Port::Side::right) corner = {port.at.x + 8, port.at.y - kChipHeight / 2};
  const QRectF chip(corner, QSizeF(width, kChipHeight));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(Theme::blend(theme_(Token::raised), theme_(Token::borderStrong), 0.4), 1));
  painter.setBrush(theme_(Token::raised));
  painter.drawRoundedRect(chip.adjusted(0.5, 0.5, -0.5, -0.5), 3.5, 3.5);
  painter.setPen(theme_(Token::text));
  drawLabel(painter, chip, Qt::AlignHCenter, words, chipFont_);
}

void EditLayer::paintDrag(QPainter& painter, const std::vector<Point>& points, bool loose) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme_(Token::accent), 2.4, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(roundedPath(points, kDragCorner));
  if (!loose || points.empty()) return;
  painter.setPen(QPen(theme_(Token::canvas), kRim));
  painter.setBrush(theme_(Token::accent));
  painter.drawEllipse(pointOf(points.back()), 4.5, 4.5);
}

void EditLayer::paintTry(QPainter& painter, const std::vector<Point>& points) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(dashed(theme_(Token::error), 1.4, 5, 4));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(roundedPath(points, kDragCorner));
}

void EditLayer::paintErrorOutline(QPainter& painter, const Rect& box) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme_(Token::error), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(rectOf(box).adjusted(-2.5, -2.5, 2.5, 2.5), 8.5, 8.5);
}

void EditLayer::paintTarget(QPainter& painter, const std::vector<Point>& points, bool accepts) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(
      QPen(theme_(accepts ? Token::ok : Token::error), 2.4, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(roundedPath(points, kDragCorner));
}

void EditLayer::paintSelection(QPainter& painter, const Rect& box) const {
  painter.setRenderHint(QPainter::Antialiasing);
  QColor fill = theme_(Token::accent);
  fill.setAlphaF(0.07f);
  QPen pen = dashed(theme_(Token::accent), 1, 4, 3);
  pen.setCosmetic(true);
  painter.setPen(pen);
  painter.setBrush(fill);
  painter.drawRoundedRect(rectOf(box), 4, 4);
}

void EditLayer::paintStroke(QPainter& painter, const std::vector<Point>& points, double scale) const {
  if (points.size() < 2) return;
  QPainterPath path(pointOf(points.front()));
  for (const Point& point : points) path.lineTo(pointOf(point));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(dashed(theme_(Token::error), 1.6 / scale, 6 / scale, 4 / scale));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
}

void EditLayer::paintFrame(QPainter& painter, const FrameMark& frame, bool selected) const {
  painter.setRenderHint(QPainter::Antialiasing);
  QColor fill = theme_(Token::text2);
  fill.setAlphaF(0.05f);
  const QRectF box = rectOf(frame.box).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(QPen(theme_(selected ? Token::accent : Token::borderStrong), selected ? 1.5 : 1));
  painter.setBrush(fill);
  painter.drawRoundedRect(box, 7, 7);
  paintIcon(painter, u"frame", QRectF(box.left() + 8, box.top() + 5, 12, 12), theme_(Token::text2));
  const QString count = format::counted(static_cast<qint64>(frame.nodes.size()), "node");
  const double right = box.right() - 10 - textWidth(count, countFont_);
  painter.setPen(theme_(Token::text));
  drawLabel(painter, QPointF(box.left() + 25, box.top() + 15),
            QFontMetricsF(titleFont_).elidedText(frame.title, Qt::ElideRight, right - box.left() - 33),
            titleFont_);
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(right, box.top() + 15), count, countFont_);
}

double EditLayer::noteHeight(const QString& words) const {
  const QRectF room(0, 0, kNoteWidth - 2 * kNoteInset, 2000);
  return QFontMetricsF(noteFont_).boundingRect(room, Qt::TextWordWrap, words).height() + 2 * kNoteInset;
}

void EditLayer::paintNote(QPainter& painter, const NoteMark& note) const {
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF box = rectOf(note.box).adjusted(0.5, 0.5, -0.5, -0.5);
  const bool left = note.box.x < note.of.x;
  const QPointF from(left ? box.right() : box.left(),
                     std::clamp(note.of.y + note.of.h / 2, box.top() + 6, box.bottom() - 6));
  const QPointF to(left ? note.of.x : note.of.right(), note.of.y + note.of.h / 2);
  painter.setPen(dashed(theme_(Token::text3), 1.2, 2, 3));
  painter.drawPolyline(QPolygonF(
      {from, QPointF((from.x() + to.x()) / 2, from.y()), QPointF((from.x() + to.x()) / 2, to.y()), to}));
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_(Token::text3));
  painter.drawEllipse(to, 2.5, 2.5);

  QPainterPath page(box.topLeft() + QPointF(0, 3.5));
  page.quadTo(box.topLeft(), box.topLeft() + QPointF(3.5, 0));
  page.lineTo(box.topRight() - QPointF(3.5, 0));
  page.quadTo(box.topRight(), box.topRight() + QPointF(0, 3.5));
  page.lineTo(box.bottomRight() - QPointF(0, kFold));
  page.lineTo(box.bottomRight() - QPointF(kFold, 0));
  page.lineTo(box.bottomLeft() + QPointF(3.5, 0));
  page.quadTo(box.bottomLeft(), box.bottomLeft() - QPointF(0, 3.5));
  page.closeSubpath();
  painter.setPen(QPen(theme_(Token::borderStrong), 1));
  painter.setBrush(theme_(Token::panel));
  painter.drawPath(page);
  const QPointF corner = box.bottomRight();
  QPainterPath fold(corner - QPointF(0, kFold));
  fold.lineTo(corner - QPointF(kFold - 3, kFold));
  fold.quadTo(corner - QPointF(kFold, kFold), corner - QPointF(kFold, kFold - 3));
  fold.lineTo(corner - QPointF(kFold, 0));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(fold);
  painter.setFont(noteFont_);
  painter.setPen(theme_(Token::text));
  painter.drawText(box.adjusted(kNoteInset, kNoteInset - 1, -kNoteInset + 2, 0), Qt::TextWordWrap, note.text);
}

double EditLayer::draftWidth(const Draft& draft) const {
  return std::clamp(kGutter + 2 * kPad + textWidth(text(draft.name), nameFont_) + 40, 184.0, 260.0);
}

void EditLayer::paintDraft(QPainter& painter, const Draft& draft, const Rect& box, const QStringList& missing,
                           bool selected) const {
  NodeLook look;
  look.box = rectOf(box);
  look.name = text(draft.name);
  look.family = draft.op->family;
  look.left = missing.isEmpty() ? text(draft.op->name)
                                : QCoreApplication::translate("EditLayer", "needs ") + missing.join(", ");
  look.selected = selected;
  nodes_.paint(painter, look, Detail::near, 1);
  paintPending(painter, box);
  painter.setPen(dashed(theme_(missing.isEmpty() ? Token::edited : Token::warn), 1, 4, 3));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(look.box.adjusted(0.5, 0.5, -0.5, -0.5), kBoxRadius, kBoxRadius);
}

void EditLayer::paintGhost(QPainter& painter, const Rect& box, const QString& name, graph::OpFamily family,
                           const QString& second) const {
  const QRectF rect = rectOf(box).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setRenderHint(QPainter::Antialiasing);
  QColor ground = Theme::blend(theme_(Token::canvas), theme_(Token::errorBg), 0.45);
  painter.setPen(dashed(theme_(Token::error), 1.2, 4, 3));
  painter.setBrush(ground);
  painter.drawRoundedRect(rect, kBoxRadius, kBoxRadius);
  paintIcon(painter, glyphName(family), QRectF(rect.left() + 7, rect.center().y() - 7, 14, 14),
            theme_(Token::text3));
  const QString deleted = QCoreApplication::translate("EditLayer", "deleted");
  const double word = textWidth(deleted, deletedFont_), right = rect.right() - 8 - word;
  painter.setPen(theme_(Token::error));
  drawLabel(painter, QPointF(right, rect.center().y() + 4), deleted, deletedFont_);
  paintIcon(painter, u"minus", QRectF(right - 17, rect.center().y() - 6, 12, 12), theme_(Token::error));
  const double left = rect.left() + kGutter + kPad - 4, room = right - 20 - left;
  const QString shown = elided(name, nameFont_, room);
  painter.setPen(theme_(Token::text2));
  drawLabel(painter, QPointF(left, rect.top() + 14), shown, nameFont_);
  painter.setPen(QPen(theme_(Token::text2), 1));
  painter.drawLine(QPointF(left - 1, rect.top() + 10),
                   QPointF(left + textWidth(shown, nameFont_) + 1, rect.top() + 10));
  drawLabel(painter, QPointF(left, rect.top() + 27.5), elided(second, secondFont_, room), secondFont_);
}

void EditLayer::paintMoving(QPainter& painter, const NodeLook& look) const {
  painter.save();
  painter.setOpacity(0.82);
  nodes_.paint(painter, look, Detail::near, 1);
  painter.restore();
}

void EditLayer::paintPending(QPainter& painter, const Rect& box) const {
  constexpr double kSide = 14, kRadius = 5;
  QPainterPath notch(QPointF(box.right() - kSide, box.y + 0.7));
  notch.lineTo(box.right() - kRadius, box.y + 0.7);
  notch.quadTo(box.right() - 0.7, box.y + 0.7, box.right() - 0.7, box.y + kRadius);
  notch.lineTo(box.right() - 0.7, box.y + kSide);
  notch.closeSubpath();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme_(Token::edited), 1.3, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
  painter.setBrush(theme_(Token::raised));
  painter.drawPath(notch);
}

void EditLayer::paintBeginning(QPainter& painter, const QRect& view, const QString& title,
                               const QStringList& lines) const {
  constexpr double kLine = 22;
  painter.save();
  painter.resetTransform();
  QRectF line(view.left(), view.center().y() - 2 * theme_.scaled(kLine), view.width(), theme_.scaled(kLine));
  painter.setPen(theme_(Token::text));
  painter.setFont(theme_.textFont(15, QFont::Medium));
  painter.drawText(line, Qt::AlignCenter, title);
  painter.setPen(theme_(Token::text2));
  painter.setFont(theme_.textFont(12.5));
  constexpr double kMargin = 12;
  constexpr int kHow = Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap;
  const QRectF room(view.left() + kMargin, 0, view.width() - 2 * kMargin, view.height());
  double top = line.bottom();
  for (const QString& words : lines) {
    const QRectF all = painter.boundingRect(room.translated(0, top), kHow, words);
    painter.drawText(room.translated(0, top), kHow, words);
    top += std::max(all.height() + 4, line.height());
  }
  painter.restore();
}

}  // namespace orrery::ui
