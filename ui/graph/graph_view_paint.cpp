// Drawing of the view: the ground with its dots, the graph, the picture that fades out after a fold.
#include <QGraphicsScene>
#include <cmath>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {

namespace {

/// The dots of the ground: one row of them, copied.
void paintDots(QPainter& painter, const QRectF& rect, const QColor& ground, const QColor& dot, int side) {
  constexpr double kStep = 24;
  const QTransform toPixels = painter.worldTransform();
  const QRect area = toPixels.mapRect(rect).toAlignedRect();
  const auto first = [](double from) { return std::floor(from / kStep) * kStep; };
  QPixmap row(area.width() + side, side);
  row.fill(ground);
  QPainter dots(&row);
  for (double x = first(rect.left()); x < rect.right(); x += kStep)
    dots.fillRect(qRound(toPixels.map(QPointF(x, 0)).x()) - side / 2 - area.left(), 0, side, side, dot);
  dots.end();
  painter.setWorldTransform(QTransform());
  for (double y = first(rect.top()); y < rect.bottom(); y += kStep)
    painter.drawPixmap(area.left(), qRound(toPixels.map(QPointF(0, y)).y()) - side / 2, row);
  painter.setWorldTransform(toPixels);
}

}  // namespace

PaintJob GraphView::Private::job(const QRectF& visible) const {
  PaintJob job;
  job.drawing = &drawing;
  job.heat = &heat;
  job.places = &places;
  job.marks = &marks;
  job.editedBefore = &editedBefore;
  job.bindings = &bindings;
  job.pages = &pages;
  job.blocks = blocks;
  job.litShape = litShape;
  if (motion.from.size() == pages.layers().size() && motion.run.state() == QAbstractAnimation::Running) {
    job.moving = &motion.from;
    job.ahead = 1 - motion.run.currentValue().toDouble();
  }
  job.visible = {visible.x(), visible.y(), visible.width(), visible.height()};
  job.detail = detail;
  job.scale = scale;
  job.wiresByType = editor && editor->wiresByType();
  job.changeWords = editor ? editor->changeWords() : nullptr;
  job.wireChanges = editor ? editor->wireChanges() : nullptr;
  if (running && !reducedMotion) job.running = static_cast<double>(clock.elapsed() % 1200) / 1200;
  return job;
}

void GraphView::Private::placeDivergence() {
  const bool shown = drawing && divergence && heat.mode() == HeatMode::ratio &&
                     q->viewport()->width() > 2 * divergenceCard->sizeHint().width();
  divergenceCard->setVisible(shown);
  divergenceCard->resize(divergenceCard->sizeHint());
  divergenceCard->move(q->viewport()->width() - divergenceCard->width() - 12, 8);
}

/// A line from the card to the node, or to what hides it, and a dot there.
void GraphView::Private::paintDivergence(QPainter& painter) const {
  if (!divergenceCard->isVisible()) return;
  const SceneNode* node = drawing.scene->find(divergence->node);
  const auto box = node ? boxOfNode(drawing, node->position) : std::nullopt;
  if (!box) return;
  const QPointF from = q->mapFromScene(QPointF(box->x + box->w, box->y + box->h / 2));
  const QRectF card = divergenceCard->geometry();
  painter.save();
  painter.resetTransform();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme(Token::warn), 1.5));
  if (from.x() < card.center().x() && from.y() > card.bottom())
    painter.drawPolyline(
        QPolygonF({from, QPointF(card.center().x(), from.y()), QPointF(card.center().x(), card.bottom())}));
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme(Token::warn));
  painter.drawEllipse(from, 4, 4);
  painter.restore();
}

void GraphView::drawBackground(QPainter* painter, const QRectF& rect) {
  Private& d = *d_;
  painter->fillRect(rect, d.theme(Token::canvas));
  painter->save();
  if (d.scale >= 0.5)  // below the dots would be grey
    paintDots(*painter, rect, d.theme(Token::canvas),
              Theme::blend(d.theme(Token::canvas), d.theme(Token::edge), 0.28),
              d.detail == Detail::near ? 2 : 1);
  d.marks.focused = hasFocus();
  d.painter.paint(*painter, d.job(rect));
  d.editor->paint(*painter);
  painter->restore();
  d.paintDivergence(*painter);
  d.paintLens(*painter);
  if (d.faded.isNull()) return;
  painter->save();
  painter->resetTransform();
  const bool started = d.fade.state() == QAbstractAnimation::Running;
  painter->setOpacity(started ? 1 - d.fade.currentValue().toDouble() : 1);
  painter->drawPixmap(0, 0, d.faded);
  painter->restore();
}

}  // namespace orrery::ui
