// Where the person writes: grows with the text to six lines, Enter sends, Shift+Enter breaks the line, Escape
// stops.
#pragma once

#include <QPlainTextEdit>
#include <QWidget>

#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class MessageEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit MessageEdit(QWidget* parent = nullptr);

 signals:
  void sendAsked();
  void stopAsked();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
};

class ChatInput : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ChatInput(const Theme& theme, QWidget* parent = nullptr);

  QString text() const { return edit_->toPlainText(); }
  void setText(const QString& text);
  void clear() { edit_->clear(); }
  void setPlaceholder(const QString& text);
  /// "118 / 8 192 tokens"
  void setCounter(const QString& text);
  void setRunning(bool running);
  void setTheme(const Theme& theme) override;
  MessageEdit* edit() const { return edit_; }

 signals:
  void sendAsked(const QString& text);
  void stopAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void send();
  void adjustHeight();

  Theme theme_;
  MessageEdit* edit_;
  Text* counter_;
  IconButton* button_;
  bool running_ = false;
};

}  // namespace orrery::ui
