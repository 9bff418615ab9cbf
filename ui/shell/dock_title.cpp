#include "ui/shell/dock_title.h"

#include <QHBoxLayout>
#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kTitleHeight = 32;
constexpr int kMiddle = 3, kCorner = 4;  // places in the layout

}  // namespace

DockTitle::DockTitle(const Theme& theme, const QString& title, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      subtitle_(new Text(theme, {Token::text3, 11}, {}, this)),
      layout_(new QHBoxLayout(this)) {
  layout_->setContentsMargins(12, 0, 6, 0);
  layout_->setSpacing(8);
  auto* name = new Text(theme, {Token::text, 12, QFont::DemiBold}, title, this);
  name->reserve(title);
  layout_->addWidget(name);
  layout_->addWidget(subtitle_);
  layout_->addStretch(1);
  layout_->addStretch(1);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(0);
  auto* detach = new IconButton(theme, "float", "Detach or attach", this);
  auto* close = new IconButton(theme, "close", "Close; View opens it again", this);
  detach->setToken(Token::text3);
  close->setToken(Token::text3);
  buttons->addWidget(detach);
  buttons->addWidget(close);
  layout_->addLayout(buttons);
  connect(detach, &QAbstractButton::clicked, this, &DockTitle::floatAsked);
  connect(close, &QAbstractButton::clicked, this, &DockTitle::closeAsked);
  setTheme(theme);
}

void DockTitle::setMiddle(QWidget* widget) {
  middle_ = widget;
  layout_->insertWidget(kMiddle, widget);
}

void DockTitle::setSubtitle(const QString& text) {
  subtitle_->setText(text);
  showWhatFits();
}

int DockTitle::leastWidth() const {
  int width = layout_->minimumSize().width();
  for (const QWidget* extra : {static_cast<QWidget*>(subtitle_), middle_})
    if (extra && !extra->isHidden()) width -= extra->minimumSizeHint().width() + layout_->spacing();
  return width;
}

void DockTitle::showWhatFits() {
  int room = width() - leastWidth();
  for (QWidget* extra : {static_cast<QWidget*>(subtitle_), middle_}) {
    if (!extra) continue;
    room -= extra->sizeHint().width() + layout_->spacing();
    extra->setVisible(room >= 0);
  }
}

QSize DockTitle::minimumSizeHint() const { return {leastWidth(), height()}; }

void DockTitle::resizeEvent(QResizeEvent*) { showWhatFits(); }

void DockTitle::setCorner(QWidget* widget) {
  layout_->insertWidget(std::min(layout_->count() - 1, kCorner + (layout_->count() > 5 ? 1 : 0)), widget);
  widget->show();
}

void DockTitle::setTheme(const Theme& theme) {
  theme_ = theme;
  setFixedHeight(static_cast<int>(theme.scaled(kTitleHeight)));
  update();
}

void DockTitle::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
