#include "ui/widgets/icon_label.h"

#include <QPainter>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kLabelIcon = 20;

}  // namespace

IconLabel::IconLabel(const Theme& theme, const QString& icon, QWidget* parent)
    : QWidget(parent), theme_(theme), icon_(icon) {}

void IconLabel::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize IconLabel::sizeHint() const {
  const QMargins margins = contentsMargins();
  const int side = qRound(theme_.scaled(kLabelIcon));
  return {side + margins.left() + margins.right(), side + margins.top() + margins.bottom()};
}

void IconLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double side = theme_.scaled(kLabelIcon);
  QRectF area(0, 0, side, side);
  area.moveCenter(QRectF(contentsRect()).center());
  paintIcon(painter, icon_, area, theme_(Token::text2));
}

}  // namespace orrery::ui
