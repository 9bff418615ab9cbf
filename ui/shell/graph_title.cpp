#include "ui/shell/graph_title.h"

namespace orrery::ui {

GraphTitle::GraphTitle(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      place_(new Breadcrumb(theme, this)),
      summary_(new Text(theme, {Token::text3, 11}, {}, this)) {
  connect(place_, &Breadcrumb::scopeClicked, this, &GraphTitle::scopeAsked);
}

void GraphTitle::setPlace(const QStringList& parts, const QStringList& scopes) {
  inside_ = parts.size() > 1;
  place_->setParts(parts, scopes);
  place();
}

void GraphTitle::setSummary(const QString& summary) {
  summary_->setText(summary);
  place();
}

void GraphTitle::setTheme(const Theme& theme) {
  theme_ = theme;
  place_->setTheme(theme);
  place();
}

/// The summary goes first where there is not room for both.
void GraphTitle::place() {
  constexpr int kGap = 6;
  place_->setRoom(width());
  place_->move(0, (height() - place_->height()) / 2);
  place_->setVisible(width() >= theme_.scaled(72));
  const QSize wanted = summary_->sizeHint();
  const int left = place_->width() + kGap;
  summary_->setVisible(!inside_ && left + wanted.width() <= width());
  summary_->setGeometry(left, (height() - wanted.height()) / 2 + 1, wanted.width(), wanted.height());
}

void GraphTitle::resizeEvent(QResizeEvent*) { place(); }

}  // namespace orrery::ui
