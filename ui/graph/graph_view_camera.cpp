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
  minimap->setView(visibleScene());
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
  const double margin = 40 / scale;
  const QRectF seen = visibleScene().adjusted(margin, margin, -margin, -margin);
  const QRectF target(box.x, box.y, box.w, std::min(box.h, seen.height()));
  if (seen.contains(target) && detail != Detail::far) return;
  const double next = detail == Detail::far ? 0.9 : scale;
  moveCamera(next, target.center());
}

GraphView::Private::View GraphView::Private::viewIn(const QRectF& area) const {
  const Rect box = drawing.bounds();
  const double fits = std::min(area.width() / std::max(1.0, box.w), area.height() / std::max(1.0, box.h));
  const double next = std::clamp(fits, kLeastScale, 1.5);
  const QPointF aside = area.center() - QRectF(q->viewport()->rect()).center();
  return {next, QPointF(box.x + box.w / 2, box.y + box.h / 2) - aside / next};
}

/// Of the outermost boxes and frames some lie under the card.
bool GraphView::Private::covers(const View& view, const QRectF& card) const {
  const QPointF middle = QRectF(q->viewport()->rect()).center();
  const QPointF corner = view.centre + (card.topLeft() - middle) / view.scale;
  const Rect under{corner.x(), corner.y(), card.width() / view.scale, card.height() / view.scale};
  const std::vector<Placed>& items = drawing.layout->items;
  return std::any_of(items.begin(), items.end(),
                     [&under](const Placed& item) { return item.box.intersects(under); });
}

/// The largest view that has nothing below what floats: some of it beside the drawing, some above or below.
/// Where that is much smaller than a view without regard to it, the latter.
GraphView::Private::View GraphView::Private::wholeView() const {
  constexpr double kMargin = 24, kGap = 8, kSmallest = 0.6;
  const QRectF all(q->viewport()->rect());
  std::vector<QRectF> floating;
  std::vector<double> lefts{kMargin}, tops{kMargin}, rights{kMargin},
      bottoms{kMargin};  // to leave at the sides
  for (const QWidget* card : cards()) {
    const QRectF area = floating.emplace_back(card->geometry());
    if (area.center().x() < all.center().x())
      lefts.push_back(area.right() + kGap);
    else
      rights.push_back(all.right() - area.left() + kGap);
    if (area.center().y() < all.center().y())
      tops.push_back(area.bottom() + kGap);
    else
      bottoms.push_back(all.bottom() - area.top() + kGap);
  }
  const View whole = viewIn(all.adjusted(kMargin, kMargin, -kMargin, -kMargin));
  std::optional<View> best;
  const auto attempt = [&](const QRectF& area) {
    if (area.width() < 1 || area.height() < 1) return;
    const View view = viewIn(area);
    if (view.scale < kSmallest * whole.scale || (best && view.scale <= best->scale)) return;
    if (std::none_of(floating.begin(), floating.end(),
                     [&](const QRectF& card) { return covers(view, card); }))
      best = view;
  };
  for (const double left : lefts)
    for (const double right : rights)
      for (const double top : tops)
        for (const double bottom : bottoms) attempt(all.adjusted(left, top, -right, -bottom));
  return best.value_or(whole);
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
