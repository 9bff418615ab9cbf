// The camera: which part of the drawing is seen, and how large.
#include <QGraphicsScene>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
namespace {

constexpr double kLeastScale = 0.0005, kMostScale = 4;

}  // namespace

void GraphView::Private::setCamera(double wanted, QPointF scenePoint, QPointF screen) {
  const double next = std::clamp(wanted, kLeastScale, kMostScale);
  const Rect box = drawing.bounds();
  const QSizeF size = q->viewport()->size();
  // Room for one whole view around the drawing, and whatever the point asks for.
  QRectF world =
      QRectF(box.x, box.y, box.w, box.h)
          .adjusted(-size.width() / next, -size.height() / next, size.width() / next, size.height() / next);
  const QPointF corner = scenePoint - screen / next;
  world |= QRectF(corner, size / next);
  q->setSceneRect(world);
  const bool zoomed = next != scale;
  scale = next;
  q->setTransform(QTransform::fromScale(next, next));
  q->horizontalScrollBar()->setValue(qRound(corner.x() * next));
  q->verticalScrollBar()->setValue(qRound(corner.y() * next));
  detail = detailAt(next, detail);
  drawing.blocks = blocks = layersAreBlocks(next, blocks);
  strip->minimap()->setView(visibleScene());
  if (lens && !(lensFits() && lens->pinned)) closeLens();
  if (editor) editor->cameraMoved();
  if (zoomed) emit q->zoomChanged(next);
}

void GraphView::Private::moveCamera(double wanted, QPointF centrePoint) {
  const double next = std::clamp(wanted, kLeastScale, kMostScale);
  camera.stop();
  touched = true;
  fitted = false;
  if (reducedMotion || !q->isVisible())
    return setCamera(next, centrePoint, QRectF(q->viewport()->rect()).center());
  cameraScale[0] = scale;
  cameraScale[1] = next;
  cameraCentre[0] = centre();
  cameraCentre[1] = centrePoint;
  camera.start();
}

QPointF GraphView::Private::centre() const {
  if (camera.state() == QAbstractAnimation::Running) return cameraCentre[1];
  return visibleScene().center();
}

QRectF GraphView::Private::visibleScene() const {
  const QPointF corner(q->horizontalScrollBar()->value() / scale, q->verticalScrollBar()->value() / scale);
  return {corner, QSizeF(q->viewport()->size()) / scale};
}

void GraphView::Private::reveal(const Rect& box) {
  const double margin = fitted ? 0 : 40 / scale;
  const QRectF seen = visibleScene().adjusted(margin, margin, -margin, -margin);
  const QRectF target(box.x, box.y, box.w, std::min(box.h, seen.height()));
  // On a page a layer is known from far, and an op as long as layers are not blocks.
  const bool known = detail != Detail::far || (!pages.empty() && (!blocks || marks.node < 0));
  if (known && seen.contains(target)) return;
  moveCamera(known ? scale : 0.9, target.center());
}

GraphView::Private::View GraphView::Private::viewIn(const QRectF& area) const {
  const Rect box = drawing.bounds();
  const double fits = std::min(area.width() / std::max(1.0, box.w), area.height() / std::max(1.0, box.h));
  const double next = std::clamp(fits, kLeastScale, 1.5);
  const QPointF aside = area.center() - QRectF(q->viewport()->rect()).center();
  return {next, QPointF(box.x + box.w / 2, box.y + box.h / 2) - aside / next};
}

GraphView::Private::View GraphView::Private::wholeView() const {
  constexpr double kMargin = 16;
  return viewIn(QRectF(q->viewport()->rect()).adjusted(kMargin, kMargin, -kMargin, -kMargin));
}

void GraphView::Private::showWhole() {
  const View view = wholeView();
  setCamera(view.scale, view.centre, QRectF(q->viewport()->rect()).center());
  fitted = true;
}

void GraphView::Private::showFirst() {
  // As large as reads well: the top, or everything where that fits.
  const double next = std::clamp(viewIn(q->viewport()->rect()).scale, 0.85, 1.0);
  const Rect box = drawing.bounds();
  const double height = q->viewport()->height();
  const double y = box.h * next <= height ? (height - box.h * next) / 2 : 24;
  setCamera(next, QPointF(0, 0), QPointF(q->viewport()->width() / 2.0, y));
}

}  // namespace orrery::ui
