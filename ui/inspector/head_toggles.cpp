#include "ui/inspector/head_toggles.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double kHeadWidth = 22, kHeadHeight = 24, kHeadGap = 4;

}  // namespace

HeadToggles::HeadToggles(const Theme& theme, int heads, QWidget* parent)
    : QWidget(parent), theme_(theme), off_(static_cast<size_t>(heads), false) {
  setFocusPolicy(Qt::StrongFocus);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Heads"));
}

void HeadToggles::setOff(const std::vector<bool>& off) {
  off_ = off;
  update();
}

int HeadToggles::columns(int width) const {
  const double step = theme_.scaled(kHeadWidth + kHeadGap);
  return std::max(1, static_cast<int>((width + theme_.scaled(kHeadGap)) / step));
}

QRect HeadToggles::rectOf(int head) const {
  const int across = columns(width());
  return QRectF(head % across * theme_.scaled(kHeadWidth + kHeadGap),
                head / across * theme_.scaled(kHeadHeight + kHeadGap), theme_.scaled(kHeadWidth),
                theme_.scaled(kHeadHeight))
      .toRect();
}

QSize HeadToggles::sizeHint() const {
  return {qRound(theme_.scaled(160)), heightForWidth(qRound(theme_.scaled(160)))};
}

int HeadToggles::heightForWidth(int width) const {
  const int across = columns(width), rows = (static_cast<int>(off_.size()) + across - 1) / across;
  return qRound(rows * theme_.scaled(kHeadHeight + kHeadGap) - theme_.scaled(kHeadGap));
}

void HeadToggles::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  for (int head = 0; head < static_cast<int>(off_.size()); ++head) {
    const bool off = off_[static_cast<size_t>(head)];
    const QRectF box = rectOf(head);
    paintBox(painter, box, theme_.scaled(4), off ? QColor() : theme_(Token::raised),
             off ? theme_(Token::borderStrong) : controlOutline(theme_));
    QFont font = theme_.monoFont(10.5);
    font.setStrikeOut(off);
    painter.setFont(font);
    painter.setPen(theme_(off ? Token::text3 : Token::text));
    painter.drawText(box, Qt::AlignCenter, QString::number(head));
    if (hasFocus() && head == current_) paintFocus(painter, box, theme_.scaled(4), theme_);
  }
}

void HeadToggles::toggle(int head) {
  off_[static_cast<size_t>(head)] = !off_[static_cast<size_t>(head)];
  update();
  emit changed();
}

void HeadToggles::mousePressEvent(QMouseEvent* event) {
  for (int head = 0; head < static_cast<int>(off_.size()); ++head)
    if (rectOf(head).contains(event->pos())) {
      current_ = head;
      return toggle(head);
    }
}

void HeadToggles::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(off_.size()) - 1, across = columns(width());
  const auto walk = [&](int by) {
    current_ = std::clamp(current_ + by, 0, last);
    update();
  };
  switch (event->key()) {
    case Qt::Key_Left:
      return walk(-1);
    case Qt::Key_Right:
      return walk(1);
    case Qt::Key_Up:
      return walk(-across);
    case Qt::Key_Down:
      return walk(across);
    case Qt::Key_Space:
      return toggle(current_);
    default:
      QWidget::keyPressEvent(event);
  }
}

void HeadToggles::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
