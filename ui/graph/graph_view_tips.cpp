// What the view says of the thing under the pointer.
#include <QHelpEvent>
#include <QToolTip>
#include <cmath>

#include "ui/graph/graph_view_private.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString crossingLine(const Crossing& crossing) {
  if (crossing.bytes <= 0) return GraphView::tr("changes devices: reads a copy that is there already");
  const QString bytes = format::bytes(crossing.bytes);
  if (crossing.to == DeviceMark::mixed)
    return GraphView::tr("changes devices: %1 per token, both ways").arg(bytes);
  return crossing.to == DeviceMark::cuda
             ? GraphView::tr("changes devices: %1 per token, to the card").arg(bytes)
             : GraphView::tr("changes devices: %1 per token, to the CPU").arg(bytes);
}

}  // namespace

QString GraphView::Private::valueLine(const graph::Value& value) const {
  const double bytes = graph::bytes_of(value.type, bindings);
  const QString line = text(shapeText(value.type.shape, bindings)) + QStringLiteral("  ") +
                       text(std::string(name_of(value.type.dtype)));
  return bytes > 0 ? line + QStringLiteral("  ") + format::bytes(bytes) : line;
}

QString GraphView::Private::nodeTip(int position) const {
  const SceneGraph& scene = *drawing.scene;
  const graph::Node& node = scene.graph->node(scene.nodes[at(position)].id);
  QStringList lines{text(node.path()), text(std::string(node.op->name))};
  if (node.is_source()) return (lines << text(scene.nodes[at(position)].type)).join('\n');
  if (const QString kernel = heat.kernel(position); !kernel.isEmpty()) lines << tr("kernel %1").arg(kernel);
  for (const ValueId id : node.inputs)
    if (const graph::Value* value = id.valid() ? scene.graph->find_value(id) : nullptr)
      lines << tr("in   %1  %2").arg(text(scene.graph->node(value->producer).name), valueLine(*value));
  for (const ValueId id : node.outputs)
    if (const graph::Value* value = scene.graph->find_value(id))
      lines << tr("out  %1  %2").arg(text(value->name), valueLine(*value));
  if (const auto share = shares.find(node.id); share != shares.end())
    lines << tr("%1 of the work of %2, modelled").arg(format::percent(share->second), text(node.scope));
  if (const std::string& precision = scene.nodes[at(position)].precision; !precision.empty())
    lines << tr("asked to compute in %1").arg(text(precision));
  if (const NodePlace* place = places.fellBack(position))
    lines << tr("asked for %1; runs on %2: %3").arg(place->asked, place->device, place->reason);
  else if (places.several())
    lines << tr("runs on %1").arg(places.device(position));
  return lines.join('\n');
}

/// What it carries is told by the editor's card.
QString GraphView::Private::wireTip(const Hit& hit) const {
  const GroupLayout* layout = laidOut(drawing, hit.holder).layout;
  if (!layout) return {};
  const PlacedWire& wire = layout->wires[at(hit.item)];
  if (wire.edge < 0) return tr("Bypassed: passes through");
  const Crossing crossing = crossingOf(places, hit.holder, *layout, wire);
  return crossing.values.empty() ? QString() : crossingLine(crossing);
}

QString GraphView::Private::groupTip(const Hit& hit) const {
  const SceneGraph& scene = *drawing.scene;
  const Span span{scene.groups[at(hit.group)].begin, scene.groups[at(hit.lastGroup)].end};
  const int count = span.end - span.begin;
  QString tip = scopeOf(hit) + QStringLiteral("\n") + format::counted(count, "node");
  if (std::isfinite(heat.us(span))) tip += QStringLiteral(", ") + heat.timeText(span);
  if (const int away = places.away(span))
    tip += QStringLiteral("\n") + tr("%1 on %2, %3 on %4")
                                      .arg(format::count(away), places.devices().last(),
                                           format::count(count - away), places.devices().first());
  if (const int fellBack = places.fellBack(span))
    tip += QStringLiteral("\n") + tr("%1 not where asked").arg(format::count(fellBack));
  return tip;
}

QString GraphView::Private::toolTipAt(const QPoint& position) const {
  if (!drawing) return {};
  const Hit hit = hitAt(position);
  if (hit.kind == Hit::Kind::node) return nodeTip(hit.node);
  if (hit.kind == Hit::Kind::wire) return wireTip(hit);
  return hit.group >= 0 ? groupTip(hit) : QString();
}

bool GraphView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip && d_) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = d_->toolTipAt(help->pos());
    if (text.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), text, viewport());
    return true;
  }
  return QGraphicsView::viewportEvent(event);
}

}  // namespace orrery::ui
