#include "ui/graph/device_mark.h"

namespace orrery::ui {

DeviceMark markOf(const QString& device) {
  if (device.isEmpty()) return DeviceMark::none;
  return device.startsWith(QLatin1String("CUDA")) ? DeviceMark::cuda : DeviceMark::cpu;
}

QColor markColor(DeviceMark mark, const Theme& theme) {
  switch (mark) {
    case DeviceMark::cpu:
      return theme(Token::cpu);
    case DeviceMark::cuda:
      return theme(Token::cuda);
    case DeviceMark::none:
    case DeviceMark::mixed:
      break;
  }
  return theme(Token::text2);
}

void paintDeviceMark(QPainter& painter, DeviceMark mark, QPointF centre, double size, const Theme& theme) {
  if (mark == DeviceMark::none) return;
  if (mark == DeviceMark::mixed) {
    const QPointF off(0.42 * size, 0);
    paintDeviceMark(painter, DeviceMark::cpu, centre - off, 0.75 * size, theme);
    return paintDeviceMark(painter, DeviceMark::cuda, centre + off, 0.75 * size, theme);
  }
  const double half = size / 2;
  painter.setPen(Qt::NoPen);
  painter.setBrush(markColor(mark, theme));
  const QRectF box(centre.x() - half, centre.y() - half, size, size);
  mark == DeviceMark::cpu
      ? painter.drawEllipse(box)
      : painter.drawRect(box.adjusted(0.06 * size, 0.06 * size, -0.06 * size, -0.06 * size));
}

}  // namespace orrery::ui
