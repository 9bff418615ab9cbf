#include "ui/graph/node_sprites.h"

#include <cmath>

#include "ui/theme/sprites.h"

namespace orrery::ui {
namespace {

constexpr int kLargest = 1200;  // pixels of a side: of larger ones few are seen

double ratioOf(const QPainter& painter) {
  return painter.deviceTransform().m11() / painter.worldTransform().m11();
}

}  // namespace

void NodeSprites::align(const QPainter& painter, QRectF& box) {
  const QTransform world = painter.worldTransform();
  const double ratio = ratioOf(painter), scale = world.m11() * ratio;
  const QPointF corner = world.map(box.topLeft()) * ratio;
  const QPointF off(std::round(corner.x()) - corner.x(), std::round(corner.y()) - corner.y());
  box = QRectF(box.topLeft() + off / scale,
               QSizeF(std::round(box.width() * scale), std::round(box.height() * scale)) / scale);
}

uint32_t NodeSprites::traitsOf(const NodeLook& look) {
  uint32_t traits = static_cast<uint32_t>(look.family);
  const auto add = [&traits](uint32_t value, int bits) { traits = (traits << bits) | value; };
  add(static_cast<uint32_t>(look.mark), 2);
  add(static_cast<uint32_t>(look.source), 2);
  add(static_cast<uint32_t>(look.plates), 2);
  for (const bool trait : {look.body.isValid(), look.group, look.fused, look.edited, look.bypassed,
                           look.fellBack, look.transfer})
    add(trait, 1);
  return traits;
}

bool NodeSprites::draw(QPainter& painter, const NodeLook& look, double margin, const Paint& paint) {
  if (!drawsPixels(painter)) return false;
  const QTransform world = painter.worldTransform();
  const double ratio = ratioOf(painter), scale = world.m11() * ratio;
  const int edge = static_cast<int>(std::ceil(margin * scale));
  const Key key{scale,
                ratio,
                qRound(look.box.width() * scale),
                qRound(look.box.height() * scale),
                look.body.isValid() ? look.body.rgb() : 0,
                traitsOf(look)};
  const QSize size(key.width + 2 * edge, key.height + 2 * edge);
  if (std::max(size.width(), size.height()) > kLargest) return false;
  const QPixmap* sprite = known_.object(key);
  QPixmap made;
  if (!sprite) {
    made = QPixmap(size);
    made.fill(Qt::transparent);
    QPainter into(&made);
    into.translate(edge, edge);
    into.scale(scale, scale);
    NodeLook own = look;
    own.box.moveTo(0, 0);
    paint(into, own);
    into.end();
    made.setDevicePixelRatio(ratio);
    known_.insert(key, new QPixmap(made), qsizetype{4} * size.width() * size.height());
    sprite = &made;
  }
  const QPointF corner = world.map(look.box.topLeft()) * ratio;
  painter.setWorldTransform(QTransform());
  painter.drawPixmap(QPointF(std::round(corner.x()) - edge, std::round(corner.y()) - edge) / ratio, *sprite);
  painter.setWorldTransform(world);
  return true;
}

}  // namespace orrery::ui
