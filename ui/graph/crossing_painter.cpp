// The marks of ScenePainter on wires that change devices: where the value goes, and how many bytes of it a
// step.
#include <cmath>

#include "ui/graph/scene_painter.h"
#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

/// The middle of the longest stretch, its arrow left out.
QPointF placeOn(const PlacedWire& wire) {
  constexpr double kArrow = 8;
  QPointF best(wire.points.front().x, wire.points.front().y);
  double longest = 0;
  for (size_t i = 1; i < wire.points.size(); ++i) {
    QPointF a(wire.points[i - 1].x, wire.points[i - 1].y), b(wire.points[i].x, wire.points[i].y);
    double length = std::hypot(b.x() - a.x(), b.y() - a.y());
    if (length < 1e-6) continue;
    if (wire.arrow && i + 1 == wire.points.size()) {
      b -= (b - a) * std::min(1.0, kArrow / length);
      length = std::max(0.0, length - kArrow);
    }
    if (length <= longest) continue;
    longest = length;
    best = (a + b) / 2;
  }
  return best;
}

}  // namespace

Crossing crossingOf(const PlaceModel& places, int group, const GroupLayout& layout, const PlacedWire& wire) {
  if (wire.edge < 0 || wire.from < 0 || wire.to < 0) return {};
  const Placed &from = layout.items[at(wire.from)], &to = layout.items[at(wire.to)];
  return places.crossing(group, {from.first, from.last + 1}, {to.first, to.last + 1});
}

void ScenePainter::paintCrossings(QPainter& painter, const PaintJob& job, int group,
                                  const GroupLayout& layout, Point origin) const {
  if (job.detail == Detail::far) return;  // one item is a few pixels: the boxes' colours have to do
  const Rect visible = job.visible.grown(40).moved(-origin.x, -origin.y);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  for (const PlacedWire& wire : layout.wires) {
    if (!wire.bounds.grown(1).intersects(visible)) continue;
    const Crossing crossing = crossingOf(*job.places, group, layout, wire);
    if (!crossing.values.empty())
      paintCrossing(painter, job, crossing, placeOn(wire) + QPointF(origin.x, origin.y));
  }
  painter.restore();
}

void ScenePainter::paintCrossing(QPainter& painter, const PaintJob& job, const Crossing& crossing,
                                 QPointF centre) const {
  constexpr double kHeight = 12, kMark = 6, kPad = 4;
  const QColor color = markColor(crossing.to, theme_);
  const QString bytes =
      job.detail == Detail::near && crossing.bytes > 0 ? format::bytes(crossing.bytes) : QString();
  const double unit = job.detail == Detail::near ? 1 : 1 / job.scale;  // Mid: constant on the screen
  const double width = kMark + 2 * kPad + (bytes.isEmpty() ? 0 : textWidth(bytes, tinyFont_) + kPad);
  const QRectF pill(-width / 2, -kHeight / 2, width, kHeight);
  painter.save();
  painter.translate(centre);
  painter.scale(unit, unit);
  painter.setPen(QPen(color, 1));
  painter.setBrush(Theme::blend(theme_(Token::panel), color, 0.12));
  painter.drawRoundedRect(pill, kHeight / 2, kHeight / 2);
  paintDeviceMark(painter, crossing.to, {pill.left() + kPad + kMark / 2, 0}, kMark, theme_);
  if (!bytes.isEmpty()) {
    painter.setPen(theme_(Token::text2));
    drawLabel(painter, pill.adjusted(kPad + kMark + kPad, 0, 0, 0), Qt::AlignLeft, bytes, tinyFont_);
  }
  painter.restore();
}

}  // namespace orrery::ui
