#include "ui/chat/chat_input.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int kMaximumLines = 6;

}  // namespace

MessageEdit::MessageEdit(QWidget* parent) : QPlainTextEdit(parent) {
  setFrameShape(QFrame::NoFrame);
  setTabChangesFocus(true);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setObjectName("messageEdit");
}

void MessageEdit::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && !(event->modifiers() & Qt::ShiftModifier)) return emit sendAsked();
  if (event->key() == Qt::Key_Escape) return emit stopAsked();
  QPlainTextEdit::keyPressEvent(event);
}

ChatInput::ChatInput(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      edit_(new MessageEdit(this)),
      counter_(new Text(theme, {Token::text3, 10.8, QFont::Normal, true}, {}, this)),
      button_(new IconButton(theme, "send", "Send (Enter)", this, 16)) {
  button_->setGround(true);
  counter_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 3, 5, 3);
  layout->setSpacing(10);
  layout->addWidget(edit_, 1);
  layout->addWidget(counter_, 0, Qt::AlignVCenter);
  layout->addWidget(button_, 0, Qt::AlignBottom);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setFocusProxy(edit_);
  edit_->installEventFilter(this);
  connect(edit_, &MessageEdit::sendAsked, this, &ChatInput::send);
  connect(edit_, &MessageEdit::stopAsked, this, &ChatInput::stopAsked);
  connect(edit_, &QPlainTextEdit::textChanged, this, &ChatInput::adjustHeight);
  connect(button_, &QAbstractButton::clicked, this, [this] { running_ ? emit stopAsked() : send(); });
  setTheme(theme);
}

void ChatInput::send() {
  const QString text = edit_->toPlainText().trimmed();
  if (running_ || text.isEmpty()) return;
  emit sendAsked(text);
}

void ChatInput::setText(const QString& text) {
  edit_->setPlainText(text);
  edit_->moveCursor(QTextCursor::End);
}

void ChatInput::setPlaceholder(const QString& text) {
  edit_->setPlaceholderText(text);
  edit_->setAccessibleName(text);
}

void ChatInput::setCounter(const QString& text) { counter_->setText(text); }

void ChatInput::setRunning(bool running) {
  running_ = running;
  button_->setIconName(running ? "stop" : "send");
  button_->setToken(running ? Token::error : Token::text2);
  button_->setToolTip(running ? "Stop (Esc)" : "Send (Enter)");
}

void ChatInput::setTheme(const Theme& theme) {
  theme_ = theme;
  edit_->setFont(theme.textFont(13));
  QPalette palette = edit_->palette();
  palette.setColor(QPalette::Base, theme(Token::sunken));
  palette.setColor(QPalette::Text, theme(Token::text));
  palette.setColor(QPalette::PlaceholderText, theme(Token::text3));
  edit_->setPalette(palette);
  edit_->setStyleSheet("QPlainTextEdit { background: transparent; border: none; padding: 0; }");
  adjustHeight();
  update();
}

void ChatInput::adjustHeight() {
  const QFontMetricsF metrics(edit_->font());
  const int lines = std::clamp(static_cast<int>(edit_->document()->size().height()), 1, kMaximumLines);
  const double margins = 2 * edit_->document()->documentMargin();
  edit_->setFixedHeight(static_cast<int>(std::ceil(lines * metrics.lineSpacing() + margins + 1)));
  edit_->setVerticalScrollBarPolicy(lines == kMaximumLines ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
  setFixedHeight(std::max(static_cast<int>(theme_.scaled(34)), edit_->height() + 8));
}

bool ChatInput::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  if (event->type() == QEvent::Resize) adjustHeight();
  return QWidget::eventFilter(object, event);
}

void ChatInput::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme_.scaled(6.5), theme_(Token::sunken), theme_(Token::borderStrong));
  if (edit_->hasFocus()) {
    painter.setPen(QPen(theme_(Token::accent), 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), theme_.scaled(6.5),
                            theme_.scaled(6.5));
  }
}

}  // namespace orrery::ui
