// The wires of ScenePainter: rounded orthogonal lines, arrows, width by bytes.
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "ui/graph/pixel_lines.h"
#include "ui/graph/scene_painter.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/sprites.h"

namespace orrery::ui {
namespace {

constexpr double kCorner = 8;
constexpr double kDoubled = 3, kCore = 0.3;  // a double line is as wide, and its gap so much of it
constexpr double kChanged = 1.8, kRemoved = 1.2;

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

void addArrow(QPainterPath& arrows, Point tip, bool sideways, double width) {
  const double length = 5 + width * 1.2, half = length / 2;
  arrows.moveTo(tip.x, tip.y);
  arrows.lineTo(sideways ? QPointF(tip.x + length, tip.y - half) : QPointF(tip.x - half, tip.y - length));
  arrows.lineTo(sideways ? QPointF(tip.x + length, tip.y + half) : QPointF(tip.x + half, tip.y - length));
  arrows.closeSubpath();
}

}  // namespace

double wireWidth(double bytes) {
  return std::clamp(0.75 * std::log10(std::max(1.0, bytes)) - 1.25, 1.2, 6.0);
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

WireChange changeOf(const PaintJob& job, int group, int item) {
  if (!job.wireChanges || job.wireChanges->empty()) return WireChange::none;
  const auto found = job.wireChanges->find(wireKey(group, item));
  return found == job.wireChanges->end() ? WireChange::none : found->second;
}

/// Wires of one look.
struct WireBatch {
  explicit WireBatch(const WireLook& own) : look(own), strokes(own.width, own.stroke) {
    arrows.setFillRule(Qt::WindingFill);
  }
  WireLook look;
  WireStrokes strokes;
  QPainterPath whole;  // instead, for a file of strokes
  QPainterPath arrows;
};

void paintBatch(QPainter& painter, WireBatch& batch, const QColor& ground) {
  const WireLook& look = batch.look;
  batch.strokes.paint(painter, look.color);
  painter.setPen(wirePen(look.color, look.width, look.stroke));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(batch.whole);
  if (look.stroke == Stroke::doubled) {
    WireStrokes core = batch.strokes.thinner(look.width * kCore);
    core.paint(painter, ground);
    painter.setPen(wirePen(ground, look.width * kCore, Stroke::solid));
    painter.drawPath(batch.whole);
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(look.color);
  painter.drawPath(batch.arrows);
}

}  // namespace

/// One pixel thick, without corners or smoothing.
void ScenePainter::paintFarWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                                 Point origin) const {
  const Rect visible = job.visible.grown(8).moved(-origin.x, -origin.y);
  painter.save();
  painter.translate(origin.x, origin.y);
  PixelLines plain(painter.worldTransform(), visible), lit(painter.worldTransform(), visible);
  for (const PlacedWire& wire : layout.wires)
    if (wire.kind == WireKind::plain && wire.bounds.grown(1).intersects(visible) &&
        job.shows(wire.bounds.moved(origin.x, origin.y)))
      (carriesSelected(job, group, layout, wire) ? lit : plain).add(wire.points, wire.dotted);
  plain.paint(painter, Theme::blend(theme_(Token::canvas), theme_(Token::edge), 0.7));
  lit.paint(painter, theme_(Token::accent));
  painter.restore();
}

WireLook ScenePainter::wireLook(const PaintJob& job, const SceneGroup& holder, const PlacedWire& wire,
                                bool lit, WireChange change) const {
  const double width = wire.edge < 0 ? 1.2 : wireWidth(holder.edges[at(wire.edge)].bytes);
  const Stroke own = wire.dotted ? Stroke::dotted : Stroke::solid;
  if (change == WireChange::removed) return {colorOf(change, theme_), kRemoved, Stroke::dashed};
  if (lit) return {theme_(Token::accent), std::max(1.8, width), own};
  if (change != WireChange::none) return {colorOf(change, theme_), std::max(kChanged, width), Stroke::solid};
  if (!job.wiresByType || wire.edge < 0) return {theme_(Token::edge), width, own};
  const graph::Value* value =
      job.drawing->scene->graph->find_value(holder.edges[at(wire.edge)].values.front());
  if (!value) return {theme_(Token::edge), width, own};
  const Carried carried = carriedType(value->type.dtype);
  return {colorOf(carried, theme_), carried == Carried::f16 ? std::max(kDoubled, width) : width,
          strokeOf(carried)};
}

void ScenePainter::paintWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                              Point origin) const {
  if (job.detail == Detail::far) return paintFarWires(painter, job, group, layout, origin);
  const Rect visible = job.visible.grown(8).moved(-origin.x, -origin.y);
  const SceneGroup& holder = job.drawing->scene->groups[at(group)];
  const bool pixels = drawsPixels(painter);
  // By look: unlit before lit, broken first, then by width in tenths of a pixel.
  std::map<std::tuple<bool, WireChange, bool, Stroke, int, QRgb>, WireBatch> batches;
  for (size_t i = 0; i < layout.wires.size(); ++i) {
    const PlacedWire& wire = layout.wires[i];
    if (wire.kind != WireKind::plain || !wire.bounds.grown(1).intersects(visible)) continue;
    if (!job.shows(wire.bounds.moved(origin.x, origin.y))) continue;
    const bool lit = carriesSelected(job, group, layout, wire);
    const WireChange change = changeOf(job, group, static_cast<int>(i));
    const WireLook look = wireLook(job, holder, wire, lit, change);
    const int tenths = static_cast<int>(std::lround(look.width * 10));
    const auto key =
        std::tuple(lit, change, look.stroke != Stroke::dotted, look.stroke, tenths, look.color.rgb());
    WireBatch& batch =
        batches.try_emplace(key, WireLook{look.color, tenths / 10.0, look.stroke}).first->second;
    std::vector<Point> points = wire.points;
    if (wire.arrow && job.detail == Detail::near) {  // the line ends under the head
      (wire.atSide ? points.back().x : points.back().y) += (wire.atSide ? 1 : -1) * (3 + look.width);
      addArrow(batch.arrows, wire.points.back(), wire.atSide, batch.look.width);
    }
    if (pixels)
      batch.strokes.add(points, kCorner, visible);
    else
      batch.whole.addPath(roundedPath(points, kCorner));
  }
  painter.save();
  // The spine is a whole number of pixels: half a pixel aside, a thin line covers one of them instead of two
  // by halves.
  painter.translate(origin.x + 0.5 / job.scale, origin.y);
  painter.setRenderHint(QPainter::Antialiasing);
  for (auto& [key, batch] : batches) paintBatch(painter, batch, theme_(Token::canvas));
  painter.restore();
}

}  // namespace orrery::ui
