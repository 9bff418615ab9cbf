// What the person does with pointer and keys.
#include <QApplication>
#include <QDragEnterEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <cmath>
#include <utility>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
Point GraphView::Private::toScene(QPointF viewportPoint) const {
  if (inLens(viewportPoint)) return sceneInLens(viewportPoint);
  const QPointF p = visibleScene().topLeft() + viewportPoint / scale;
  return {p.x(), p.y()};
}

Hit GraphView::Private::hitAt(QPointF viewportPoint) const {
  return hitTest(drawing, toScene(viewportPoint), kGrab / (inLens(viewportPoint) ? lensScale() : scale));
}

void GraphView::Private::setHover(const Hit& hit) {
  if (hit == marks.hover) return;
  marks.hover = hit;
  const bool hand = hit.kind == Hit::Kind::open && hit.header;
  q->viewport()->setCursor(hand ? Qt::PointingHandCursor : Qt::ArrowCursor);
  refreshMarks();
  q->viewport()->update();
}

void GraphView::Private::toggle(const Hit& hit) {
  if (askOpening(hit) || hit.group < 0) return;
  if (hit.kind == Hit::Kind::stack) {  // the layer that opens is what is chosen now
    setSelection({}, drawing.scene->groups[at(hit.group)].path);
    notifySelection();
  }
  q->toggleScope(QString::fromStdString(drawing.scene->groups[at(hit.group)].path));
}

void GraphView::wheelEvent(QWheelEvent* event) {
  Private& d = *d_;
  if (!d.drawing) return event->ignore();
  if (d.wheelInLens(*event)) return event->accept();
  d.camera.stop();
  d.touched = true;
  d.fitted = false;
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
  d.pansNow = event->button() == Qt::MiddleButton || d.spaceHeld || !d.editor->editable();
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
  d.pointLens(event->position());
  if (!d.pressed) {
    d.setHover(d.hitAt(event->position()));
    return d.editor->hover(position);
  }
  if (!d.dragging && (position - d.pressedAt).manhattanLength() < QApplication::startDragDistance()) return;
  if (!d.dragging && !d.pansNow) d.editor->beginDrag(d.pressedAt, position, event->modifiers());
  const bool pans = d.pansNow || !d.editor->dragging();
  if (!std::exchange(d.dragging, true) && pans) d.spaceUsed = true;
  d.closeLens();
  if (!pans) return d.editor->drag(position, event->modifiers());
  d.fitted = false;
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
  if (d.editor->drop() || !click || !d.drawing) return;
  if (d.editor->click(event->position().toPoint(), event->modifiers())) return;
  const Hit hit = d.hitAt(event->position());
  // A click on the chevron folds; anywhere else it chooses.
  const bool chevron =
      hit.kind == Hit::Kind::open && hit.header && d.toScene(event->position()).x < hit.box.x + 24;
  const bool unfold = (hit.kind == Hit::Kind::folded || hit.kind == Hit::Kind::stack) &&
                      d.detail == Detail::near && d.toScene(event->position()).x < hit.box.x + 26;
  if (chevron || unfold)
    d.toggle(hit);
  else
    d.selectHit(hit, event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier));
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  Private& d = *d_;
  if (event->button() != Qt::LeftButton || !d.drawing) return;
  if (d.editor->doubleClick(event->position().toPoint())) return;
  const Hit hit = d.hitAt(event->position());
  if (hit.kind == Hit::Kind::open && !hit.header) return d.selectHit(hit);
  if (hit.kind == Hit::Kind::node) d.activate(d.drawing.scene->nodes[at(hit.node)].id);
  d.toggle(hit);
}

void GraphView::leaveEvent(QEvent* event) {
  d_->pointLens(std::nullopt);
  d_->setHover({});
  d_->editor->leave();
  QGraphicsView::leaveEvent(event);
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  Private& d = *d_;
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && !d.editor->busy()) d.activate(d.selected.node);
  if (d.editor->keyPress(event)) return;
  if (d.keyInLens(*event)) return;
  switch (event->key()) {
    case Qt::Key_Space:  // held, a drag moves the drawing; a tap fits it
      if (!event->isAutoRepeat()) d.spaceUsed = false;
      d.spaceHeld = true;
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoomIn();
    case Qt::Key_Minus:
      return zoomOut();
    case Qt::Key_0:
      return zoomTo(1);
    case Qt::Key_M:
      return d.showParts(d.parts ^ (event->modifiers() & Qt::ShiftModifier ? Part::strip : Part::minimap));
    case Qt::Key_Backspace:
      return d.upALevel();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (d.marks.group > 0 && d.openedNodes.contains(d.drawing.scene->groups[at(d.marks.group)].path))
        return emit openingAsked(QString::fromStdString(d.drawing.scene->groups[at(d.marks.group)].path),
                                 false);
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

void GraphView::keyReleaseEvent(QKeyEvent* event) {
  if (d_->editor->keyRelease(event)) return;
  d_->releaseInLens(*event);
  if (event->key() != Qt::Key_Space || event->isAutoRepeat()) return QGraphicsView::keyReleaseEvent(event);
  const bool pressedHere = std::exchange(d_->spaceHeld, false);  // not in a field over the drawing
  if (pressedHere && !d_->spaceUsed) fit();
}

/// Esc ends what the editor is about before it stops what runs.
bool GraphView::event(QEvent* event) {
  if (event->type() == QEvent::FocusOut && d_) d_->spaceHeld = false;
  if (event->type() == QEvent::ShortcutOverride && d_ && d_->editor->busy() &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  return QGraphicsView::event(event);
}

void GraphView::dragEnterEvent(QDragEnterEvent* event) {
  if (!d_->editor->dragOver(event)) event->ignore();
}

void GraphView::dragMoveEvent(QDragMoveEvent* event) {
  if (!d_->editor->dragOver(event)) event->ignore();
}

void GraphView::dragLeaveEvent(QDragLeaveEvent*) { d_->editor->dragLeft(); }

void GraphView::dropEvent(QDropEvent* event) {
  if (!d_->editor->dropped(event)) event->ignore();
}

}  // namespace orrery::ui
