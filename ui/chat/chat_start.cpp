#include "ui/chat/chat_start.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr const char* kQuestions[] = {"Why is the sky dark at night?", "Write a haiku about brass gears",
                                      "Explain attention in one line"};

}  // namespace

SuggestionButton::SuggestionButton(const Theme& theme, const QString& text, QWidget* parent)
    : QAbstractButton(parent), theme_(theme) {
  setText(text);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void SuggestionButton::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize SuggestionButton::sizeHint() const {
  const int words = static_cast<int>(QFontMetricsF(theme_.textFont(12.5)).horizontalAdvance(text()));
  return {words + 60, static_cast<int>(theme_.scaled(30))};
}

void SuggestionButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme_.scaled(5), theme_(underMouse() ? Token::hover : Token::raised),
           theme_(Token::border));
  if (hasFocus()) paintFocus(painter, rect(), theme_.scaled(5), theme_);
  painter.setFont(theme_.textFont(12.5));
  painter.setPen(theme_(Token::text));
  painter.drawText(rect().adjusted(12, 0, -32, 0), Qt::AlignVCenter | Qt::AlignLeft, text());
  paintIcon(painter, u"send", QRectF(width() - 27, (height() - 14) / 2.0, 14, 14), theme_(Token::text3));
}

ChatStart::ChatStart(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      title_(new Text(theme, {Token::text, 15, QFont::DemiBold}, {}, this)),
      hint_(new Text(theme, {Token::text3, 12}, {}, this)),
      questions_(new QWidget(this)) {
  auto* list = new QVBoxLayout(questions_);
  list->setContentsMargins(0, 8, 0, 0);
  list->setSpacing(6);
  for (const char* question : kQuestions) {
    auto* button = new SuggestionButton(theme, question, questions_);
    connect(button, &QAbstractButton::clicked, this, [this, button] { emit suggested(button->text()); });
    list->addWidget(button);
  }
  hint_->setWrap(true);
  questions_->setMaximumWidth(300);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(18, 12, 18, 8);
  layout->setSpacing(2);
  layout->addWidget(title_);
  layout->addWidget(hint_);
  layout->addWidget(questions_);
  layout->addStretch(1);
}

void ChatStart::setState(const QString& title, const QString& hint, bool suggestions) {
  title_->setText(title);
  hint_->setText(hint);
  questions_->setVisible(suggestions);
}

}  // namespace orrery::ui
