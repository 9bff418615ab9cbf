#include "ui/theme/side_look.h"

#include <QPainter>

namespace orrery::ui {

SideLooks sideLooks(const std::array<QString, 2>& names, const std::array<bool, 2>& devices) {
  const auto own = [&](size_t side) { return devices[side] ? Token::cuda : Token::cpu; };
  return {SideLook{names[0], devices[0], own(0)},
          SideLook{names[1], devices[1], devices[0] == devices[1] ? Token::edited : own(1)}};
}

void paintMark(QPainter& painter, const SideLook& side, const QPointF& centre, double size,
               const Theme& theme) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme(side.token));
  const QRectF mark(centre.x() - size / 2, centre.y() - size / 2, size, size);
  side.device ? painter.drawRect(mark) : painter.drawEllipse(mark);
}

}  // namespace orrery::ui
