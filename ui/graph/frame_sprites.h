// Frames with round corners, from four kept corners and plain rectangles: filling one as a path costs as much
// as the boxes in it.
#pragma once

#include <QCache>
#include <QPainter>
#include <QPixmap>

namespace orrery::ui {

class FrameSprites {
 public:
  /// A frame with a line of one pixel, its radius in pixels of the screen. False, and nothing drawn, when the
  /// painter makes no pixels.
  bool draw(QPainter& painter, const QRectF& box, double radius, const QColor& ground, const QColor& line);

 private:
  struct Key {
    int side;
    double ratio;
    QRgb ground, line;
    bool operator==(const Key&) const = default;
    friend size_t qHash(const Key& key, size_t seed) {
      return qHashMulti(seed, key.side, key.ratio, key.ground, key.line);
    }
  };
  const QPixmap& whole(const Key& key);

  QCache<Key, QPixmap> known_{64};
};

}  // namespace orrery::ui
