#include "ui/widgets/themed.h"

#include <QPainter>

namespace orrery::ui {

void propagateTheme(QWidget* root, const Theme& theme) {
  if (auto* themed = dynamic_cast<Themed*>(root)) themed->setTheme(theme);
  for (QWidget* child : root->findChildren<QWidget*>())
    if (auto* themed = dynamic_cast<Themed*>(child)) themed->setTheme(theme);
}

void paintBox(QPainter& painter, const QRectF& rect, double radius, const QColor& fill,
              const QColor& outline) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(outline.isValid() ? QPen(outline, 1) : QPen(Qt::NoPen));
  painter.setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
  const QRectF box = outline.isValid() ? rect.adjusted(0.5, 0.5, -0.5, -0.5) : rect;
  painter.drawRoundedRect(box, radius, radius);
}

QColor controlOutline(const Theme& theme) {
  return Theme::blend(theme(Token::border), theme(Token::text3), 0.12);
}

void paintFocus(QPainter& painter, const QRectF& rect, double radius, const Theme& theme) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme(Token::accent), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), radius, radius);
}

Ground::Ground(const Theme& theme, Token token, QWidget* parent, int lines)
    : QWidget(parent), theme_(theme), token_(token), lines_(lines) {
  setAttribute(Qt::WA_OpaquePaintEvent);
}

void Ground::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void Ground::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(token_));
  const QColor line = theme_(Token::border);
  if (lines_ & topLine) painter.fillRect(0, 0, width(), 1, line);
  if (lines_ & bottomLine) painter.fillRect(0, height() - 1, width(), 1, line);
  if (lines_ & leftLine) painter.fillRect(0, 0, 1, height(), line);
}

}  // namespace orrery::ui
