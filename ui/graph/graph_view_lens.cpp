// The lens of the view: what opens, moves and closes it, and where in the drawing a point of it is.
#include <QKeyEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

constexpr int kRest = 250, kLensFade = 80;                       // ms
constexpr double kUsual = 1, kLeastTimes = 1.5, kMostTimes = 4;  // its scale; to that of the drawing
constexpr double kSmallest = 0.5, kLargest = 1.4;                // what the wheel reaches at any rate
constexpr double kMargin = 6;

}  // namespace

void GraphView::Private::makeLens() {
  lensRest.setSingleShot(true);
  lensRest.setInterval(kRest);
  QObject::connect(&lensRest, &QTimer::timeout, q, [this] { openLens(layerUnderPointer(), LensBy::rest); });
  lensFade.setDuration(kLensFade);
  lensFade.setStartValue(0.0);
  lensFade.setEndValue(1.0);
  QObject::connect(&lensFade, &QVariantAnimation::valueChanged, q, [this] { q->viewport()->update(); });
}

/// At the scales at which a layer's ops are blocks or are not seen.
bool GraphView::Private::lensFits() const {
  return drawing && parts.testFlag(Part::lens) && detail == Detail::far && !pages.empty();
}

int GraphView::Private::layerUnderPointer() const {
  if (!lensFits() || !pointer) return -1;
  const QPointF scene = visibleScene().topLeft() + *pointer / scale;
  return pages.layerAt({scene.x(), scene.y()});
}

void GraphView::Private::openLens(int layer, LensBy by) {
  if (layer < 0 || !lensFits() || pressed || !pages.layers()[at(layer)].open) return;
  const bool fresh = !lens;
  const int group = pages.layers()[at(layer)].group;
  lens = Lens{group, lens ? lens->scale : kUsual, by == LensBy::rest ? false : lens && lens->pinned,
              by == LensBy::key};
  lensRest.stop();
  if (fresh && !reducedMotion) lensFade.start();
  strip->minimap()->setLens(lensScene());
  q->viewport()->update();
}

void GraphView::Private::closeLens() {
  lensRest.stop();
  if (!lens) return;
  lens.reset();
  drawing.blocks = blocks;
  strip->minimap()->setLens({});
  q->viewport()->update();
}

const PageLayer* GraphView::Private::lensLayer() const {
  const int layer = lens ? pages.layerOf(lens->group) : -1;
  return layer < 0 || !pages.layers()[at(layer)].open ? nullptr : &pages.layers()[at(layer)];
}

/// Over the layer's own place, within the view.
QRectF GraphView::Private::lensFrame() const {
  const PageLayer* layer = lensLayer();
  if (!layer) return {};
  const double times = lensScale();
  const QSizeF size(layer->box.w * times, (layer->box.h - kCellHead) * times + kLensHead + kLensFoot);
  const QPointF middle =
      (QPointF(layer->box.x + layer->box.w / 2, layer->box.y + layer->box.h / 2) - visibleScene().topLeft()) *
      scale;
  const QRectF room = QRectF(q->viewport()->rect()).adjusted(kMargin, kMargin, -kMargin, -kMargin);
  QRectF frame(middle - QPointF(size.width() / 2, size.height() / 2), size);
  frame.moveLeft(
      std::round(std::clamp(frame.left(), room.left(), std::max(room.left(), room.right() - size.width()))));
  frame.moveTop(
      std::round(std::clamp(frame.top(), room.top(), std::max(room.top(), room.bottom() - size.height()))));
  return frame;
}

/// As large as was asked for, as far as the view is.
double GraphView::Private::lensScale() const {
  const PageLayer* layer = lensLayer();
  if (!layer) return 1;
  const QSizeF room =
      QSizeF(q->viewport()->size()) - QSizeF(2 * kMargin, 2 * kMargin + kLensHead + kLensFoot);
  const double fits = std::min(room.width() / layer->box.w, room.height() / (layer->box.h - kCellHead));
  return std::max(0.05, std::min(lens->scale, fits));
}

/// What of the drawing its layer is.
QRectF GraphView::Private::lensScene() const {
  const PageLayer* layer = lensLayer();
  return layer ? QRectF(layer->box.x, layer->box.y, layer->box.w, layer->box.h) : QRectF();
}

bool GraphView::Private::inLens(QPointF viewportPoint) const {
  return lens && lensFrame().contains(viewportPoint);
}

Point GraphView::Private::sceneInLens(QPointF viewportPoint) const {
  const PageLayer& layer = *lensLayer();
  const QPointF local = viewportPoint - lensFrame().topLeft();
  const double times = lensScale();
  if (local.y() < kLensHead) return {layer.box.x + local.x() / times, layer.box.y + 1};
  return {layer.box.x + local.x() / times, layer.box.y + kCellHead + (local.y() - kLensHead) / times};
}

/// The pointer moved; outside: it left the view.
void GraphView::Private::pointLens(std::optional<QPointF> point) {
  pointer = point;
  if (lens && (!lensFits() || !lensLayer())) closeLens();
  const bool inside = point && inLens(*point);
  drawing.blocks = blocks && !inside;
  if (inside) return;
  const int under = layerUnderPointer();
  const bool own = lens && under >= 0 && pages.layers()[at(under)].group == lens->group;
  if (lens && !lens->pinned && !lens->held && !own) closeLens();
  if (lens && lens->held && under >= 0 && !own) return openLens(under, LensBy::key);
  if (!lens && under >= 0 && !pressed)
    lensRest.start();
  else if (under < 0)
    lensRest.stop();
}

bool GraphView::Private::wheelInLens(const QWheelEvent& event) {
  if (!inLens(event.position())) return false;
  const double least = std::max(kLeastTimes * scale, kSmallest),
               most = std::max(kMostTimes * scale, kLargest);
  lens->scale = std::clamp(lensScale() * std::pow(1.0015, event.angleDelta().y()), least, most);
  q->viewport()->update();
  return true;
}

/// Keys while it is open, and the one that opens it. False: the key is the drawing's.
bool GraphView::Private::keyInLens(const QKeyEvent& event) {
  if (event.key() == Qt::Key_Z && event.modifiers() == Qt::NoModifier) {
    if (event.isAutoRepeat()) return true;
    if (lens && lens->pinned)
      closeLens();
    else if (lens)
      lens->pinned = true;
    else
      openLens(layerUnderPointer() >= 0 ? layerUnderPointer()
               : marks.node >= 0        ? pages.layerOfNode(marks.node)
                                        : pages.layerAround(marks.group),
               LensBy::key);
    q->viewport()->update();
    return lensFits();
  }
  if (!lens) return false;
  switch (event.key()) {
    case Qt::Key_Escape:
      closeLens();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      zoomToLens();
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      moveLens(event.key() == Qt::Key_Down ? 1 : -1, 0);
      return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
      moveLens(0, event.key() == Qt::Key_Right ? 1 : -1);
      return true;
    default:
      return false;
  }
}

void GraphView::Private::releaseInLens(const QKeyEvent& event) {
  if (event.key() != Qt::Key_Z || event.isAutoRepeat() || !lens || !lens->held) return;
  if (!lens->pinned) closeLens();
}

/// To the next layer that is open; there it stays, wherever the pointer is.
void GraphView::Private::moveLens(int step, int columns) {
  int next = pages.layerOf(lens->group);
  do next = pages.neighbour(next, step, columns);
  while (next >= 0 && !pages.layers()[at(next)].open);
  if (next < 0) return;
  lens->pinned = true;
  openLens(next, lens->held ? LensBy::key : LensBy::keys);
}

void GraphView::Private::zoomToLens() {
  const PageLayer* layer = lensLayer();
  if (!layer) return closeLens();
  const QSizeF room = q->viewport()->size();
  const Rect box = layer->box;
  const double fits = std::min(room.width() / (box.w * 1.1), room.height() / (box.h * 1.1));
  closeLens();
  moveCamera(std::clamp(fits, 0.85, 1.2), QPointF(box.x + box.w / 2, box.y + box.h / 2));
}

void GraphView::Private::paintLens(QPainter& p) const {
  const PageLayer* layer = lensFits() ? lensLayer() : nullptr;
  if (!layer) return;
  const double times = lensScale();
  p.save();
  if (lensFade.state() == QAbstractAnimation::Running) p.setOpacity(lensFade.currentValue().toDouble());
  LensPainter(theme).paint(p, painter, job(QRectF()),
                           {lensFrame(), layer, times, times / scale, lens->pinned});
  p.restore();
}

}  // namespace orrery::ui
