#include "ui/widgets/segmented.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kCellPadding = 12, kMark = 16, kChevron = 14;

}  // namespace

Segmented::Segmented(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Segmented::addChoice(const QString& text, Mark mark, Token markColor) {
  choices_.push_back({text, {}, {}, mark, markColor, nullptr});
  updateGeometry();
}

void Segmented::setRefused(int choice, const QString& reason) {
  choices_.at(static_cast<size_t>(choice)).refused = reason;
  update();
}

void Segmented::setText(int choice, const QString& text) {
  choices_.at(static_cast<size_t>(choice)).text = text;
  updateGeometry();
  update();
}

void Segmented::setTip(int choice, const QString& tip) { choices_.at(static_cast<size_t>(choice)).tip = tip; }

void Segmented::setMenu(int choice, QMenu* menu) {
  choices_.at(static_cast<size_t>(choice)).menu = menu;
  updateGeometry();
  update();
}

void Segmented::setCurrent(int choice) {
  current_ = choice;
  update();
}

void Segmented::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

double Segmented::widthOf(const Choice& choice) const {
  const double text = textWidth(choice.text, theme_.textFont(12.5, QFont::Medium));
  return std::ceil(text + 2 * theme_.scaled(kCellPadding) + (choice.mark == Mark::none ? 0 : kMark - 4) +
                   (choice.menu ? theme_.scaled(kChevron) : 0));
}

QSize Segmented::sizeHint() const {
  double width = 0;
  for (const Choice& choice : choices_) width += widthOf(choice);
  return {static_cast<int>(width), static_cast<int>(std::ceil(theme_.scaled(28)))};
}

double Segmented::leftOf(int choice) const {
  double left = 0;
  for (int i = 0; i < choice; ++i) left += widthOf(choices_[static_cast<size_t>(i)]);
  return left;
}

int Segmented::choiceAt(const QPoint& position) const {
  double left = 0;
  for (size_t i = 0; i < choices_.size(); ++i) {
    left += widthOf(choices_[i]);
    if (position.x() < left) return static_cast<int>(i);
  }
  return -1;
}

void Segmented::choose(int choice) {
  if (choice < 0 || choice >= static_cast<int>(choices_.size())) return;
  const Choice& wanted = choices_[static_cast<size_t>(choice)];
  if (!wanted.refused.isEmpty()) return;
  if (wanted.menu)
    return wanted.menu->popup(mapToGlobal(QPoint(static_cast<int>(leftOf(choice)), height() + 2)));
  if (choice == current_) return;
  current_ = choice;
  update();
  emit chosen(choice);
}

void Segmented::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double radius = theme_.scaled(5);
  paintBox(painter, rect(), radius, theme_(Token::sunken), theme_(Token::border));
  double left = 0;
  for (size_t i = 0; i < choices_.size(); ++i) {
    const Choice& choice = choices_[i];
    const QRectF cell(left, 0, widthOf(choice), height());
    left += cell.width();
    const bool on = static_cast<int>(i) == current_, refused = !choice.refused.isEmpty();
    if (on)
      paintBox(painter, cell, radius, theme_(Token::hover),
               Theme::blend(theme_(Token::hover), theme_(Token::borderStrong), 0.6));
    double x = cell.left() + theme_.scaled(kCellPadding);
    if (choice.mark != Mark::none) {
      const QRectF dot(x - 2, height() / 2.0 - 3.5, 7, 7);
      painter.setPen(refused ? QPen(theme_(Token::disabled), 1) : QPen(Qt::NoPen));
      painter.setBrush(refused ? QBrush(Qt::NoBrush) : QBrush(theme_(choice.color)));
      choice.mark == Mark::circle ? painter.drawEllipse(dot) : painter.drawRect(dot);
      x += kMark - 4;
    }
    painter.setPen(theme_(refused ? Token::disabled : on ? Token::text : Token::text2));
    painter.setFont(theme_.textFont(12.5, on ? QFont::Medium : QFont::Normal));
    painter.drawText(QRectF(x, 0, cell.right() - x, height()), Qt::AlignVCenter | Qt::AlignLeft, choice.text);
    if (choice.menu) {
      const double size = theme_.scaled(11);
      paintIcon(painter, u"down", QRectF(cell.right() - size - 7, (height() - size) / 2, size, size),
                theme_(refused ? Token::disabled : Token::text3));
    }
  }
  if (hasFocus()) paintFocus(painter, rect(), radius, theme_);
}

void Segmented::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) choose(choiceAt(event->pos()));
}

void Segmented::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left) return choose(current_ - 1);
  if (event->key() == Qt::Key_Right) return choose(current_ + 1);
  QWidget::keyPressEvent(event);
}

bool Segmented::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    const int choice = choiceAt(help->pos());
    QString words = toolTip();
    if (choice >= 0) {
      const Choice& under = choices_[static_cast<size_t>(choice)];
      if (!under.tip.isEmpty()) words = under.tip;
      if (!under.refused.isEmpty()) words = under.refused;
    }
    QToolTip::showText(help->globalPos(), words, this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace orrery::ui
