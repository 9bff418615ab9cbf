#include "ui/theme/sprites.h"

#include <QPaintEngine>

namespace orrery::ui {

bool drawsPixels(const QPainter& painter) {
  if (!painter.paintEngine() || painter.paintEngine()->type() != QPaintEngine::Raster) return false;
  const QTransform transform = painter.deviceTransform();
  return transform.type() <= QTransform::TxScale && transform.m11() > 0 &&
         qFuzzyCompare(transform.m11(), transform.m22());
}

}  // namespace orrery::ui
