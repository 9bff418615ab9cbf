// What lies under the words of boxes, kept as pixels: most boxes of a screen look alike but for their words.
#pragma once

#include <QCache>
#include <QPixmap>
#include <functional>

#include "ui/graph/node_painter.h"

namespace orrery::ui {

class NodeSprites {
 public:
  /// Paints into scene coordinates.
  using Paint = std::function<void(QPainter&, const NodeLook&)>;

  /// Moves `box` by less than a pixel, to where it starts and ends on one.
  static void align(const QPainter& painter, QRectF& box);
  /// A copy of what `paint` makes of the look, whose box is aligned. False, and nothing drawn, when the
  /// painter makes no pixels or the box is too large to keep.
  bool draw(QPainter& painter, const NodeLook& look, double margin, const Paint& paint);

 private:
  struct Key {
    double scale = 1, ratio = 1;
    int width = 0, height = 0;
    QRgb body = 0;
    uint32_t traits = 0;
    bool operator==(const Key&) const = default;
    friend size_t qHash(const Key& key, size_t seed) {
      return qHashMulti(seed, key.scale, key.ratio, key.width, key.height, key.body, key.traits);
    }
  };
  static uint32_t traitsOf(const NodeLook& look);

  static constexpr qsizetype kMostBytes = 32 << 20;  // several screens full
  QCache<Key, QPixmap> known_{kMostBytes};
};

}  // namespace orrery::ui
