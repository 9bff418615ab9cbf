// What the person does with pointer and keys.
#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "ui/graph/graph_view_private.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }
constexpr double kGrab = 4;  // pixels from a wire that still are on it

}  // namespace

Point GraphView::Private::toScene(QPointF viewportPoint) const {
  const QPointF p = visibleScene().topLeft() + viewportPoint / scale;
  return {p.x(), p.y()};
}

QString GraphView::Private::scopeOf(const Hit& hit) const {
  if (!drawing || hit.group < 0) return {};
  const SceneGroup& first = drawing.scene->groups[at(hit.group)];
  if (hit.kind != Hit::Kind::stack) return QString::fromStdString(first.path);
  return QString::fromStdString(stackScope(first, drawing.scene->groups[at(hit.lastGroup)]));
}

void GraphView::Private::selectHit(const Hit& hit) {
  if (hit.kind == Hit::Kind::node)
    setSelection(drawing.scene->nodes[at(hit.node)].id, {});
  else if (hit.group >= 0)
    setSelection({}, scopeOf(hit).toStdString());
  else
    setSelection({}, {});
  notifySelection();
}

void GraphView::Private::setHover(const Hit& hit) {
  if (hit == marks.hover) return;
  marks.hover = hit;
  const bool hand = hit.kind == Hit::Kind::open && hit.header;
  q->viewport()->setCursor(hand ? Qt::PointingHandCursor : Qt::ArrowCursor);
  q->viewport()->update();
}

void GraphView::Private::toggle(const Hit& hit) {
  if (hit.group < 0) return;
  if (hit.kind == Hit::Kind::stack) {  // the layer that opens is what is chosen now
    setSelection({}, drawing.scene->groups[at(hit.group)].path);
    notifySelection();
  }
  q->toggleScope(QString::fromStdString(drawing.scene->groups[at(hit.group)].path));
}

void GraphView::wheelEvent(QWheelEvent* event) {
  Private& d = *d_;
  if (!d.drawing) return event->ignore();
  d.camera.stop();
  d.touched = true;
  if (event->modifiers() & Qt::ShiftModifier) {  // sideways, as everywhere
    const QPoint delta = event->angleDelta();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() -
                                    (delta.x() != 0 ? delta.x() : delta.y()) / 2);
    return event->accept();
  }
  const QPointF screen = event->position();
  const Point scene = d.toScene(screen);
  d.setCamera(d.scale * std::pow(1.0015, event->angleDelta().y()), QPointF(scene.x, scene.y), screen);
  event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event) {
  Private& d = *d_;
  setFocus(Qt::MouseFocusReason);
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return event->ignore();
  d.camera.stop();
  d.touched = true;
  d.pressed = true;
  d.dragging = false;
  d.pressedAt = d.lastDrag = event->position().toPoint();
  event->accept();
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
  Private& d = *d_;
  const QPoint position = event->position().toPoint();
  if (!d.pressed) return d.setHover(hitTest(d.drawing, d.toScene(event->position()), kGrab / d.scale));
  if (!d.dragging && (position - d.pressedAt).manhattanLength() < QApplication::startDragDistance()) return;
  d.dragging = true;
  viewport()->setCursor(Qt::ClosedHandCursor);
  horizontalScrollBar()->setValue(horizontalScrollBar()->value() - (position.x() - d.lastDrag.x()));
  verticalScrollBar()->setValue(verticalScrollBar()->value() - (position.y() - d.lastDrag.y()));
  d.lastDrag = position;
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
  Private& d = *d_;
  const bool click = d.pressed && !d.dragging && event->button() == Qt::LeftButton;
  d.pressed = d.dragging = false;
  viewport()->setCursor(Qt::ArrowCursor);
  if (!click || !d.drawing) return;
  const Hit hit = hitTest(d.drawing, d.toScene(event->position()), kGrab / d.scale);
  // A click on the chevron folds; anywhere else it chooses.
  const bool chevron =
      hit.kind == Hit::Kind::open && hit.header && d.toScene(event->position()).x < hit.box.x + 24;
  const bool unfold = (hit.kind == Hit::Kind::folded || hit.kind == Hit::Kind::stack) &&
                      d.detail == Detail::near && d.toScene(event->position()).x < hit.box.x + 26;
  if (chevron || unfold)
    d.toggle(hit);
  else
    d.selectHit(hit);
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  Private& d = *d_;
  if (event->button() != Qt::LeftButton || !d.drawing) return;
  const Hit hit = hitTest(d.drawing, d.toScene(event->position()), kGrab / d.scale);
  if (hit.kind == Hit::Kind::open && !hit.header) return d.selectHit(hit);
  d.toggle(hit);
}

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  Private& d = *d_;
  Hit hit;
  QPoint global = event->globalPos();
  if (event->reason() == QContextMenuEvent::Keyboard) {
    const auto box =
        d.marks.node >= 0 ? boxOfNode(d.drawing, d.marks.node) : boxOfGroup(d.drawing, d.marks.group);
    if (box) {
      const QPointF corner((box->x - d.visibleScene().x()) * d.scale,
                           (box->bottom() - d.visibleScene().y()) * d.scale);
      global = viewport()->mapToGlobal(corner.toPoint());
    }
    emit contextMenuAsked(d.selectedNode, d.selectedNode.valid() ? scopeOfSelection() : selectedScope(),
                          global);
    return;
  }
  hit = hitTest(d.drawing, d.toScene(event->pos()), kGrab / d.scale);
  if (d.drawing) d.selectHit(hit);
  const bool node = hit.kind == Hit::Kind::node;
  const NodeId id = node ? d.drawing.scene->nodes[at(hit.node)].id : NodeId{};
  emit contextMenuAsked(id, node ? scopeOfSelection() : d.scopeOf(hit), global);
}

void GraphView::leaveEvent(QEvent* event) {
  d_->setHover({});
  QGraphicsView::leaveEvent(event);
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  Private& d = *d_;
  switch (event->key()) {
    case Qt::Key_Space:
      return fit();
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoomIn();
    case Qt::Key_Minus:
      return zoomOut();
    case Qt::Key_0:
      return zoomTo(1);
    case Qt::Key_Backspace:
      return d.upALevel();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (d.marks.group > 0)
        toggleScope(QString::fromStdString(d.drawing.scene->groups[at(d.marks.group)].path));
      return;
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
      return d.moveSelection(event->key());
    case Qt::Key_Escape:
      d.setSelection({}, {});
      return d.notifySelection();
    default:
      QGraphicsView::keyPressEvent(event);
  }
}

void GraphView::Private::moveSelection(int key) {
  const std::vector<Hit> order = walkOrder(drawing);
  if (order.empty()) return;
  std::optional<Rect> from =
      marks.node >= 0 ? boxOfNode(drawing, marks.node) : boxOfGroup(drawing, marks.group);
  if (!from || (marks.node < 0 && marks.group < 0)) from = Rect{0, -1, 0, 0};
  const Hit* best = nullptr;
  double least = 0;
  const double x = from->x + from->w / 2,
               y = from->y + (marks.group >= 0 && marks.node < 0 ? 0 : from->h / 2);
  for (const Hit& hit : order) {
    const double dx = hit.box.x + hit.box.w / 2 - x, dy = hit.box.y + hit.box.h / 2 - y;
    const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right;
    const bool ahead = key == Qt::Key_Up     ? dy < -2
                       : key == Qt::Key_Down ? dy > 2
                       : key == Qt::Key_Left ? dx < -2 && std::abs(dy) < 40
                                             : dx > 2 && std::abs(dy) < 40;
    if (!ahead) continue;
    const double cost = sideways ? std::abs(dx) + 3 * std::abs(dy) : std::abs(dy) + 0.4 * std::abs(dx);
    if (best && cost >= least) continue;
    best = &hit;
    least = cost;
  }
  if (!best) return;
  selectHit(*best);
  reveal(best->box);
}

void GraphView::Private::upALevel() {
  if (!drawing) return;
  const int inner = marks.node >= 0    ? drawing.scene->nodes[at(marks.node)].group
                    : marks.group >= 0 ? drawing.scene->groups[at(marks.group)].parent
                                       : -1;
  setSelection({}, inner > 0 ? drawing.scene->groups[at(inner)].path : std::string());
  notifySelection();
  if (const auto box = boxOfGroup(drawing, inner); box && inner > 0) reveal(*box);
}

QString GraphView::Private::toolTipAt(const QPoint& position) const {
  if (!drawing) return {};
  const Hit hit = hitTest(drawing, toScene(position), kGrab / scale);
  const SceneGraph& scene = *drawing.scene;
  const auto valueLine = [&](const graph::Value& value) {
    const double bytes = bytesOf(value.type, bindings);
    QString line = QString::fromStdString(shapeText(value.type.shape, bindings)) + QStringLiteral("  ") +
                   QString::fromStdString(std::string(name_of(value.type.dtype)));
    return bytes > 0 ? line + QStringLiteral("  ") + format::bytes(bytes) : line;
  };
  if (hit.kind == Hit::Kind::node) {
    const graph::Node& node = scene.graph->node(scene.nodes[at(hit.node)].id);
    QStringList lines{QString::fromStdString(node.path()),
                      QString::fromStdString(std::string(node.op->name))};
    for (const ValueId id : node.inputs)
      if (const graph::Value* value = id.valid() ? scene.graph->find_value(id) : nullptr)
        lines << tr("in   %1  %2")
                     .arg(QString::fromStdString(scene.graph->node(value->producer).name), valueLine(*value));
    for (const ValueId id : node.outputs)
      if (const graph::Value* value = scene.graph->find_value(id))
        lines << tr("out  %1  %2").arg(QString::fromStdString(value->name), valueLine(*value));
    return lines.join('\n');
  }
  if (hit.kind == Hit::Kind::wire) {
    const GroupLayout* layout = drawing.layout.get();
    for (const int index : scene.chain(hit.holder)) {
      if (index == 0) continue;
      layout = layout->items[at(layout->itemOf[at(scene.groups[at(index)].child)])].inner.get();
      if (!layout) return {};
    }
    const int edge = layout->wires[at(hit.item)].edge;
    if (edge < 0) return tr("Bypassed: passes through");
    QStringList lines;
    for (const ValueId id : scene.groups[at(hit.holder)].edges[at(edge)].values)
      if (const graph::Value* value = scene.graph->find_value(id)) {
        lines << QString::fromStdString(scene.graph->node(value->producer).path()) + QStringLiteral(" → ") +
                     QString::fromStdString(value->name)
              << valueLine(*value);
        if (lines.size() > 10) break;
      }
    return lines.join('\n');
  }
  if (hit.group >= 0) {
    const Span span{scene.groups[at(hit.group)].begin, scene.groups[at(hit.lastGroup)].end};
    QString text =
        scopeOf(hit) + QStringLiteral("\n") + tr("%1 nodes").arg(format::count(span.end - span.begin));
    if (const double us = heat.us(span); std::isfinite(us)) text += QStringLiteral(", ") + format::time(us);
    return text;
  }
  return {};
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
