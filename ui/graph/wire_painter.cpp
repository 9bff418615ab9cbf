// The wires of ScenePainter: rounded orthogonal lines, arrows, width by bytes.
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

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

namespace {

/// Wires of one look in one path: where two overlap, the edge is smoothed once and stays as thin as the
/// others.
struct WireBatch {
  QPainterPath path;
  std::vector<std::pair<Point, bool>> arrows;  // tip, sideways
};

void addWire(WireBatch& batch, const PlacedWire& wire, double width, Detail detail) {
  if (detail == Detail::far) {
    QPolygonF line;
    for (const Point& p : wire.points) line << QPointF(p.x, p.y);
    batch.path.addPolygon(line);
    return;
  }
  std::vector<Point> points = wire.points;
  const bool arrow = wire.arrow && detail == Detail::near;
  if (arrow) {  // the line ends under the head
    (wire.atSide ? points.back().x : points.back().y) += (wire.atSide ? 1 : -1) * (3 + width);
    batch.arrows.emplace_back(wire.points.back(), wire.atSide);
  }
  batch.path.addPath(roundedPath(points, 8));
}

}  // namespace

void ScenePainter::paintWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                              Point origin) const {
  const Rect visible = job.visible.grown(8).moved(-origin.x, -origin.y);
  const SceneGroup& holder = job.drawing->scene->groups[at(group)];
  const bool far = job.detail == Detail::far;
  // By look: unlit before lit, dotted first, then by width in tenths of a pixel.
  std::map<std::tuple<bool, bool, int>, WireBatch> batches;
  for (const PlacedWire& wire : layout.wires) {
    if (!wire.bounds.grown(1).intersects(visible)) continue;
    const bool lit = carriesSelected(job, group, layout, wire);
    double width = wire.edge < 0 ? 1.2 : wireWidth(holder.edges[at(wire.edge)].bytes);
    if (lit) width = std::max(1.8, width);
    addWire(batches[{lit, !wire.dotted, far ? 0 : static_cast<int>(std::lround(width * 10))}], wire, width,
            job.detail);
  }
  painter.save();
  // The spine is a whole number of pixels: half a pixel aside, a thin line covers one of them instead of two
  // by halves.
  painter.translate(origin.x + (far ? 0 : 0.5 / job.scale), origin.y);
  painter.setRenderHint(QPainter::Antialiasing, !far);
  for (const auto& [look, batch] : batches) {
    const auto [lit, solid, tenths] = look;
    const double width = tenths / 10.0;
    const QColor plain =
        far ? Theme::blend(theme_(Token::canvas), theme_(Token::edge), 0.7) : theme_(Token::edge);
    const QColor color = lit ? theme_(Token::accent) : plain;
    QPen pen(color, width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
    if (!solid) pen.setDashPattern({2, 3});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(batch.path);
    for (const auto& [tip, sideways] : batch.arrows) paintArrow(painter, tip, sideways, width, color);
  }
  painter.restore();
}

}  // namespace orrery::ui
