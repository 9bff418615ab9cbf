// The wires of ScenePainter: rounded orthogonal lines, arrows, width by bytes.
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/graph/scene_painter.h"

namespace orrery::ui {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

bool holds(const SceneGraph& scene, int group, const GroupLayout& layout, int item, int position) {
  if (item < 0) return false;
  const Span span = spanOf(scene, scene.groups[at(group)], layout.items[at(item)]);
  return position >= span.begin && position < span.end;
}

bool anyOf(const std::vector<ValueId>& values, const std::vector<ValueId>& wanted) {
  return std::any_of(values.begin(), values.end(), [&wanted](ValueId value) {
    return std::find(wanted.begin(), wanted.end(), value) != wanted.end();
  });
}

void paintArrow(QPainter& painter, Point tip, bool sideways, double width, const QColor& color) {
  const double length = 5 + width * 1.2, half = length / 2;
  QPolygonF head;
  if (sideways)
    head << QPointF(tip.x, tip.y) << QPointF(tip.x + length, tip.y - half)
         << QPointF(tip.x + length, tip.y + half);
  else
    head << QPointF(tip.x, tip.y) << QPointF(tip.x - half, tip.y - length)
         << QPointF(tip.x + half, tip.y - length);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(head);
}

}  // namespace

double wireWidth(double bytes) {
  return std::clamp(0.75 * std::log10(std::max(1.0, bytes)) - 1.25, 1.2, 6.0);
}

QPainterPath roundedPath(const std::vector<Point>& points, double radius) {
  QPainterPath path;
  if (points.empty()) return path;
  path.moveTo(points.front().x, points.front().y);
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const Point a = points[i - 1], corner = points[i], b = points[i + 1];
    const double before = std::hypot(corner.x - a.x, corner.y - a.y),
                 after = std::hypot(b.x - corner.x, b.y - corner.y);
    const double r = std::min({radius, before / 2, after / 2});
    if (r < 0.5 || before < 1e-6 || after < 1e-6) {
      path.lineTo(corner.x, corner.y);
      continue;
    }
    path.lineTo(corner.x + (a.x - corner.x) / before * r, corner.y + (a.y - corner.y) / before * r);
    path.quadTo(corner.x, corner.y, corner.x + (b.x - corner.x) / after * r,
                corner.y + (b.y - corner.y) / after * r);
  }
  path.lineTo(points.back().x, points.back().y);
  return path;
}

bool carriesSelected(const PaintJob& job, int group, const GroupLayout& layout, const PlacedWire& wire) {
  if (!job.marks || job.marks->node < 0 || wire.edge < 0) return false;
  const SceneGraph& scene = *job.drawing->scene;
  const SceneNode& node = scene.nodes[at(job.marks->node)];
  const graph::Node& source = scene.graph->node(node.id);
  const std::vector<ValueId>& values = scene.groups[at(group)].edges[at(wire.edge)].values;
  if (anyOf(values, source.outputs)) return true;
  return holds(scene, group, layout, wire.to, node.position) && anyOf(values, source.inputs);
}

void ScenePainter::paintWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                              Point origin) const {
  const Rect visible = job.visible.grown(8).moved(-origin.x, -origin.y);
  const SceneGroup& holder = job.drawing->scene->groups[at(group)];
  painter.save();
  painter.translate(origin.x, origin.y);
  painter.setRenderHint(QPainter::Antialiasing, job.detail != Detail::far);
  std::vector<const PlacedWire*> lit;
  for (const PlacedWire& wire : layout.wires) {
    if (!wire.bounds.grown(1).intersects(visible)) continue;
    if (carriesSelected(job, group, layout, wire)) {
      lit.push_back(&wire);  // above the others
      continue;
    }
    paintWire(painter, job, wire, wire.edge < 0 ? 1.2 : wireWidth(holder.edges[at(wire.edge)].bytes), false);
  }
  for (const PlacedWire* wire : lit)
    paintWire(painter, job, *wire, std::max(1.8, wireWidth(holder.edges[at(wire->edge)].bytes)), true);
  painter.restore();
}

void ScenePainter::paintWire(QPainter& painter, const PaintJob& job, const PlacedWire& wire, double width,
                             bool isLit) const {
  const QColor color = theme_(isLit ? Token::accent : Token::edge);
  painter.setBrush(Qt::NoBrush);
  if (job.detail == Detail::far) {
    painter.setPen(QPen(isLit ? color : Theme::blend(theme_(Token::canvas), color, 0.7), 0));
    QPolygonF line;
    for (const Point& p : wire.points) line << QPointF(p.x, p.y);
    painter.drawPolyline(line);
    return;
  }
  QPen pen(color, width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
  if (wire.dotted) pen.setDashPattern({2, 3});
  painter.setPen(pen);
  std::vector<Point> points = wire.points;
  const bool arrow = wire.arrow && job.detail == Detail::near;
  if (arrow)
    (wire.atSide ? points.back().x : points.back().y) +=
        (wire.atSide ? 1 : -1) * (3 + width);  // under the head
  painter.drawPath(roundedPath(points, 8));
  if (arrow) paintArrow(painter, wire.points.back(), wire.atSide, width, color);
}

}  // namespace orrery::ui
