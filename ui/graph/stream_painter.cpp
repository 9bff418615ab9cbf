// PagePainter's lines: the residual stream down the columns and through the gutters, its taps and rings.
#include <QPainterPath>
#include <cmath>

#include "ui/graph/node_box.h"
#include "ui/graph/page_painter.h"
#include "ui/graph/scene_painter.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/sprites.h"

namespace orrery::ui {
namespace {

constexpr double kTurnRadius = 28;  // of the way through a gutter, in units of the scene

/// Of lines, in pixels of the screen.
struct StreamLook {
  double stream, tap, ring;
  bool arrows, plus;
};

StreamLook lookOf(const PaintJob& job) {
  if (job.blocks) return {1, 1, 0, false, false};
  if (job.detail == Detail::far) return {1.6, 1, 2.2, false, false};
  if (job.detail == Detail::mid) return {2, 1.2, 3, true, false};
  return {2.4, 1.3, 5, true, true};
}

/// A head that points down or to the right, its tip there.
void paintArrow(QPainter& painter, const QPointF& tip, bool sideways, double length, const QColor& color) {
  const double half = length * 0.55;
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(sideways ? QPolygonF{tip, tip + QPointF(-length, -half), tip + QPointF(-length, half)}
                               : QPolygonF{tip, tip + QPointF(-half, -length), tip + QPointF(half, -length)});
}

/// Of a line down a layer's side what its title leaves.
void cutTitle(QPainterPath& path, double x, double top, double bottom, double head, double scale) {
  const double above = std::min(bottom, top + 5 / scale), below = top + head - 3 / scale;
  path.moveTo(x, top);
  path.lineTo(x, above);
  if (bottom <= below) return;
  path.moveTo(x, below);
  path.lineTo(x, bottom);
}

/// A line along an axis as whole pixels, which is most of them; `head`: that of a title on it. False: it is
/// no such line, or no pixels are made.
bool paintStraight(QPainter& painter, const PlacedWire& wire, double head, const QPen& pen) {
  if (wire.points.size() != 2 || !drawsPixels(painter)) return false;
  const Point &from = wire.points.front(), &to = wire.points.back();
  if (from.x != to.x && from.y != to.y) return false;
  const QTransform world = painter.worldTransform();
  const int width = std::max(1, qRound(pen.widthF()));
  const auto fill = [&](const Point& a, const Point& b) {
    const QPointF begin = world.map(QPointF(a.x, a.y)), end = world.map(QPointF(b.x, b.y));
    const double left = std::min(begin.x(), end.x()), top = std::min(begin.y(), end.y());
    const bool upright = a.x == b.x;
    const QRectF line(upright ? left - width / 2.0 : left, upright ? top : top - width / 2.0,
                      upright ? width : std::abs(end.x() - begin.x()),
                      upright ? std::abs(end.y() - begin.y()) : width);
    painter.fillRect(QRectF(line.topLeft().toPoint(), line.bottomRight().toPoint()), pen.color());
  };
  painter.setWorldTransform(QTransform());
  painter.setRenderHint(QPainter::Antialiasing, false);
  const double units = 1 / world.m11();
  if (head > 0 && to.y > head) {
    fill(from, {from.x, std::min(to.y, from.y + 5 * units)});
    fill({from.x, head - 3 * units}, to);
  } else {
    fill(from, to);
  }
  painter.setWorldTransform(world);
  painter.setRenderHint(QPainter::Antialiasing);
  return true;
}

}  // namespace

void PagePainter::paintStreams(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                               Point origin) const {
  const Rect visible = job.visible.grown(8 / job.scale).moved(-origin.x, -origin.y);
  const StreamLook look = lookOf(job);
  const bool layer = job.pages && job.pages->layerOf(group) >= 0;
  if (job.moving && !layer) return;  // the lines come when the layers have arrived
  painter.save();
  painter.translate(origin.x, origin.y);
  painter.setRenderHint(QPainter::Antialiasing, !job.blocks);
  for (size_t i = 0; i < layout.wires.size(); ++i) {
    const PlacedWire& wire = layout.wires[i];
    if (wire.kind == WireKind::plain || !wire.bounds.grown(1).intersects(visible)) continue;
    if (!job.shows(wire.bounds.moved(origin.x, origin.y))) continue;
    const bool hover = job.marks && job.marks->hover.kind == Hit::Kind::wire &&
                       job.marks->hover.holder == group && job.marks->hover.item == static_cast<int>(i);
    const QColor color = theme_(carriesSelected(job, group, layout, wire) ? Token::accent
                                : hover                                   ? Token::text
                                                                          : Token::edge);
    QPen pen(color, wire.kind == WireKind::stream ? look.stream : look.tap, Qt::SolidLine, Qt::FlatCap);
    pen.setCosmetic(true);
    const Point &from = wire.points.front(), &to = wire.points.back();
    const QPointF end(to.x, to.y);
    const bool titled = layer && wire.kind == WireKind::stream && from.x == to.x && from.y < kCellHead;
    if (job.detail == Detail::far || !paintStraight(painter, wire, titled ? kCellHead : 0, pen)) {
      QPainterPath path;
      if (titled && wire.points.size() == 2)
        cutTitle(path, from.x, from.y, to.y, kCellHead, job.scale);
      else
        path = roundedPath(wire.points, kTurnRadius);
      painter.setPen(pen);
      painter.setBrush(Qt::NoBrush);
      painter.drawPath(path);
    }
    if (wire.kind == WireKind::tap && look.arrows) paintArrow(painter, end, true, 6 / job.scale, color);
    if (wire.kind == WireKind::stream && wire.points.size() > 4 && !job.blocks)
      paintArrow(painter, end, false, 6.2 / job.scale, color);
    if (wire.kind != WireKind::ring || look.ring <= 0) continue;
    const double radius = look.ring / job.scale;
    pen.setWidthF(1.3);
    painter.setPen(pen);
    painter.setBrush(theme_(Token::canvas));
    painter.drawEllipse(end, radius, radius);
    if (!look.plus) continue;
    painter.drawLine(end - QPointF(radius * 0.55, 0), end + QPointF(radius * 0.55, 0));
    painter.drawLine(end - QPointF(0, radius * 0.55), end + QPointF(0, radius * 0.55));
  }
  painter.restore();
}

}  // namespace orrery::ui
