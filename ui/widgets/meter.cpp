#include "ui/widgets/meter.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace orrery::ui {

void paintMeter(QPainter& painter, const QRectF& rect, double share, const QColor& fill, const Theme& theme) {
  const double radius = rect.height() / 2;
  paintBox(painter, rect, radius, theme(Token::sunken), QColor());
  if (!(share > 0)) return;
  QRectF bar = rect;
  bar.setWidth(std::max(rect.height(), rect.width() * std::min(share, 1.0)));
  paintBox(painter, bar, radius, fill, QColor());
}

Meter::Meter(const Theme& theme, Token token, QWidget* parent, double height)
    : QWidget(parent), theme_(theme), token_(token), height_(height) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Meter::setShare(double share) {
  share_ = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  update();
}

void Meter::setToken(Token token) {
  token_ = token;
  update();
}

void Meter::setMark(double share) {
  mark_ = share;
  update();
}

void Meter::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

QSize Meter::sizeHint() const { return {60, static_cast<int>(std::ceil(height_)) + 4}; }

void Meter::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintMeter(painter, QRectF(0, (height() - height_) / 2, width(), height_), share_, theme_(token_), theme_);
  if (mark_ < 0) return;
  QPen pen(theme_(Token::text2), 1, Qt::DotLine);
  painter.setPen(pen);
  painter.drawLine(QPointF(width() * mark_, 0), QPointF(width() * mark_, height()));
}

}  // namespace orrery::ui
