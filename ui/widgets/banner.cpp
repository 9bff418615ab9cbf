#include "ui/widgets/banner.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QPainter>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr int kNoticeMilliseconds = 4000;

}  // namespace

Banner::Banner(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      title_(new Text(theme, {Token::text, 12.5, QFont::DemiBold}, {}, this)),
      body_(new Text(theme, {Token::text2, 12}, {}, this)),
      actions_(new QWidget(this)) {
  body_->setWrap(true);
  auto* close = new IconButton(theme, "close", "Close", this);
  connect(close, &QAbstractButton::clicked, this, &Banner::dismiss);
  auto* row = new QHBoxLayout(actions_);
  row->setContentsMargins(0, 2, 0, 0);
  row->setSpacing(8);
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(42, 8, 8, 8);
  layout->setSpacing(4);
  layout->addWidget(title_, 0, 0);
  layout->addWidget(close, 0, 1, Qt::AlignTop);
  layout->addWidget(body_, 1, 0, 1, 2);
  layout->addWidget(actions_, 2, 0, 1, 2, Qt::AlignLeft);
  layout->setColumnStretch(0, 1);
  hide_.setSingleShot(true);
  hide_.setInterval(kNoticeMilliseconds);
  connect(&hide_, &QTimer::timeout, this, &Banner::dismiss);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  hide();
}

void Banner::showError(const UiError& error) {
  present(Kind::error, error.title, error.body(), error.actions);
}

void Banner::showWarning(const QString& title, const QString& body, const QStringList& actions) {
  present(Kind::warning, title, body, actions);
}

void Banner::showNotice(const QString& text, const QStringList& actions) {
  if (isVisible() && kind_ != Kind::notice) return;  // good news never hides an error
  present(Kind::notice, text, {}, actions);
  if (actions.isEmpty()) hide_.start();
}

void Banner::ask(const QString& title, const QString& body, const QStringList& answers) {
  present(Kind::warning, title, body, answers);
  actions_->findChild<Button*>()->setFocus();
}

QStringList Banner::actions() const {
  QStringList texts;
  for (const Button* button : actions_->findChildren<Button*>()) texts += button->text();
  return texts;
}

void Banner::dismiss() {
  hide_.stop();
  hide();
}

void Banner::present(Kind kind, const QString& title, const QString& body, const QStringList& actions) {
  hide_.stop();
  kind_ = kind;
  title_->setText(title);
  body_->setText(body);
  body_->setVisible(!body.isEmpty());
  qDeleteAll(actions_->findChildren<Button*>());
  for (const QString& action : actions) {
    auto* button = new Button(theme_, action, Button::Kind::plain, actions_);
    connect(button, &QAbstractButton::clicked, this, [this, action] { emit actionChosen(action); });
    actions_->layout()->addWidget(button);
  }
  actions_->setVisible(!actions.isEmpty());
  setAccessibleName(title + ". " + body);
  show();
  update();
}

void Banner::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return dismiss();
  QWidget::keyPressEvent(event);
}

void Banner::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void Banner::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool notice = kind_ == Kind::notice, error = kind_ == Kind::error;
  const Token mark = error ? Token::error : notice ? Token::ok : Token::warn;
  const QColor ground = theme_(error ? Token::errorBg : notice ? Token::raised : Token::warnBg);
  const QColor line = notice ? theme_(Token::border) : Theme::blend(ground, theme_(mark), 0.55);
  paintBox(painter, rect(), theme_.scaled(5), ground, line);
  paintIcon(painter, error ? u"error" : notice ? u"check" : u"warn", QRectF(14, 12, 16, 16), theme_(mark));
}

}  // namespace orrery::ui
