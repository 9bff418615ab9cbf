#include "ui/graph/frame_sprites.h"

#include <cmath>

#include "ui/theme/sprites.h"

namespace orrery::ui {

/// The smallest frame of the look: its four corners side by side.
const QPixmap& FrameSprites::whole(const Key& key) {
  if (const QPixmap* kept = known_.object(key)) return *kept;
  auto* made = new QPixmap(2 * key.side, 2 * key.side);
  made->fill(Qt::transparent);
  QPainter painter(made);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(key.ratio, key.ratio);
  painter.setPen(QPen(QColor(key.line), 1));
  painter.setBrush(QColor(key.ground));
  const double size = 2 * key.side / key.ratio, radius = (key.side - 1) / key.ratio;
  painter.drawRoundedRect(QRectF(0.5, 0.5, size - 1, size - 1), radius - 0.5, radius - 0.5);
  painter.end();
  known_.insert(key, made);
  return *made;
}

bool FrameSprites::draw(QPainter& painter, const QRectF& box, double radius, const QColor& ground,
                        const QColor& line) {
  if (!drawsPixels(painter)) return false;
  const QTransform world = painter.worldTransform();
  const double ratio = painter.deviceTransform().m11() / world.m11();
  const QRectF mapped = world.mapRect(box);
  // Pixels of the device.
  const int left = qRound(mapped.left() * ratio), top = qRound(mapped.top() * ratio),
            right = qRound(mapped.right() * ratio), bottom = qRound(mapped.bottom() * ratio);
  const int side =
      std::min({static_cast<int>(std::ceil(radius * ratio)) + 1, (right - left) / 2, (bottom - top) / 2});
  if (side < 1) return false;
  const QPixmap& corners = whole({side, ratio, ground.rgb(), line.rgb()});
  const int pen = std::max(1, qRound(ratio));
  painter.setWorldTransform(QTransform());
  painter.setRenderHint(QPainter::Antialiasing, false);
  const auto fill = [&](int x, int y, int width, int height, const QColor& color) {
    painter.fillRect(QRectF(x / ratio, y / ratio, width / ratio, height / ratio), color);
  };
  const int wide = right - left, high = bottom - top;
  fill(left + side, top + pen, wide - 2 * side, high - 2 * pen, ground);
  fill(left + pen, top + side, side - pen, high - 2 * side, ground);
  fill(right - side, top + side, side - pen, high - 2 * side, ground);
  fill(left + side, top, wide - 2 * side, pen, line);
  fill(left + side, bottom - pen, wide - 2 * side, pen, line);
  fill(left, top + side, pen, high - 2 * side, line);
  fill(right - pen, top + side, pen, high - 2 * side, line);
  for (const bool east : {false, true})
    for (const bool south : {false, true})
      painter.drawPixmap(QRectF((east ? right - side : left) / ratio, (south ? bottom - side : top) / ratio,
                                side / ratio, side / ratio),
                         corners, QRectF(east ? side : 0, south ? side : 0, side, side));
  painter.setWorldTransform(world);
  painter.setRenderHint(QPainter::Antialiasing);
  return true;
}

}  // namespace orrery::ui
