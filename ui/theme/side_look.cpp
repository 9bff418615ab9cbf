#include "ui/theme/side_look.h"

#include <QPainter>

namespace orrery::ui {

SideLooks sideLooks(const std::array<QString, 2>& names, const std::array<bool, 2>& devices) {
  const bool turned = devices[0] && !devices[1];
  return {SideLook{names[0], devices[0], turned ? Token::cuda : Token::cpu},
          SideLook{names[1], devices[1], turned ? Token::cpu : Token::cuda}};
}

void paintMark(QPainter& painter, const SideLook& side, const QPointF& centre, double size,
               const Theme& theme) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme(side.token));
  const QRectF mark(centre.x() - size / 2, centre.y() - size / 2, size, size);
  side.device ? painter.drawRect(mark) : painter.drawEllipse(mark);
}

}  // namespace orrery::ui
