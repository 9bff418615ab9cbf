#include "ui/graph/selection_bar.h"

#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kCount = 16, kHeight = 30, kButton = 28, kBarInset = 3;

}  // namespace

SelectionBar::SelectionBar(const Theme& theme, QWidget* view)
    : QWidget(view),
      theme_(theme),
      count_(new Text(theme, {Token::accent, 10.5, QFont::Medium}, {}, this)),
      buttons_{new IconButton(theme, "bypass", tr("Bypass them: what enters also leaves"), this),
               new IconButton(theme, "trash", tr("Delete them and reconnect"), this),
               new IconButton(theme, "copy", tr("Duplicate them"), this),
               new IconButton(theme, "frame", tr("Put a frame around them"), this)} {
  hide();
  for (IconButton* button : buttons_) button->setFocusPolicy(Qt::NoFocus);
}

void SelectionBar::setCount(size_t count) { count_->setText(tr("%1 selected").arg(count)); }

void SelectionBar::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

QSize SelectionBar::sizeHint() const {
  return {qRound(theme_.scaled(2 * kBarInset + 4 * kButton)), qRound(theme_.scaled(kCount + kHeight))};
}

void SelectionBar::resizeEvent(QResizeEvent*) {
  const int top = qRound(theme_.scaled(kCount)), side = qRound(theme_.scaled(kButton));
  count_->setGeometry(2, 0, width() - 4, top);
  for (size_t i = 0; i < buttons_.size(); ++i)
    buttons_[i]->setGeometry(qRound(theme_.scaled(kBarInset)) + static_cast<int>(i) * side, top + 1, side,
                             height() - top - 2);
}

void SelectionBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double top = theme_.scaled(kCount);
  paintBox(painter, QRectF(0, top, width(), height() - top), theme_.scaled(5.5), theme_(Token::raised),
           controlOutline(theme_));
}

}  // namespace orrery::ui
