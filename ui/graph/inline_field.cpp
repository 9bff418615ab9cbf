#include "ui/graph/inline_field.h"

#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>

namespace orrery::ui {

InlineField::InlineField(const Theme& theme, QWidget* view) : QPlainTextEdit(view), theme_(theme) {
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTabChangesFocus(true);
  hide();
  connect(this, &QPlainTextEdit::textChanged, this, [this] { setLine(Token::accent); });
  setTheme(theme);
}

void InlineField::setTheme(const Theme& theme) {
  theme_ = theme;
  setFont(kind_ == Kind::note ? theme.textFont(11.5) : theme.textFont(12));
  setLine(Token::accent);
}

void InlineField::setLine(Token token) {
  setStyleSheet(QString("QPlainTextEdit { background: %1; color: %2; border: 2px solid %3; border-radius: "
                        "5px; padding: 1px 3px; }")
                    .arg(theme_(Token::sunken).name(), theme_(Token::text).name(), theme_(token).name()));
  setToolTip({});
}

void InlineField::open(Kind kind, const QString& text, const QString& hint, const QRect& place) {
  kind_ = kind;
  before_ = text;
  setTheme(theme_);
  setLineWrapMode(kind == Kind::note ? QPlainTextEdit::WidgetWidth : QPlainTextEdit::NoWrap);
  setPlaceholderText(hint);
  setAccessibleName(hint);
  setPlainText(text);
  selectAll();
  const QRect room = parentWidget()->rect().adjusted(4, 4, -4, -4);
  QRect box(place.topLeft(), place.size().boundedTo(room.size()));
  box.moveLeft(std::clamp(box.left(), room.left(), room.right() + 1 - box.width()));
  box.moveTop(std::clamp(box.top(), room.top(), room.bottom() + 1 - box.height()));
  setGeometry(box);
  show();
  raise();
  setFocus(Qt::PopupFocusReason);
}

void InlineField::refuse(const QString& reason) {
  if (!isVisible()) {
    show();
    setFocus(Qt::PopupFocusReason);
  }
  setLine(Token::error);
  setToolTip(reason);
  setAccessibleDescription(reason);
  QToolTip::showText(mapToGlobal(QPoint(0, height())), reason, this);
}

void InlineField::take() {
  const QString text = toPlainText().trimmed();
  parentWidget()->setFocus();
  hide();
  emit taken(text);
}

void InlineField::leave() {
  if (!isVisible()) return;
  parentWidget()->setFocus();
  hide();
  emit left();
}

bool InlineField::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {  // letters, Esc, Ctrl+C are the field's
    event->accept();
    return true;
  }
  return QPlainTextEdit::event(event);
}

void InlineField::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (event->key() == Qt::Key_Escape) return leave();
  if (enter && (kind_ != Kind::note || (event->modifiers() & Qt::ControlModifier))) return take();
  QPlainTextEdit::keyPressEvent(event);
}

void InlineField::focusOutEvent(QFocusEvent* event) {
  QPlainTextEdit::focusOutEvent(event);
  if (!isVisible() || event->reason() == Qt::PopupFocusReason ||
      event->reason() == Qt::ActiveWindowFocusReason)
    return;
  kind_ == Kind::note&& toPlainText().trimmed() != before_ ? take() : leave();
}

}  // namespace orrery::ui
