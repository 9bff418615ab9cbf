// A field over a thing in the drawing: its new name, a frame's title, a note's text, a missing attribute.
// Enter takes what is written (in a note Ctrl+Enter), Esc leaves it; so does going elsewhere, but of a note,
// whose text is kept.
#pragma once

#include <QPlainTextEdit>
#include <functional>

#include "ui/theme/theme.h"

namespace orrery::ui {

class InlineField : public QPlainTextEdit {
  Q_OBJECT
 public:
  enum class Kind : uint8_t { name, title, note, attribute };
  InlineField(const Theme& theme, QWidget* view);
  void setTheme(const Theme& theme);

  /// `hint`: what is to be written, while nothing is.
  void open(Kind kind, const QString& text, const QString& hint, const QRect& place);
  Kind kind() const { return kind_; }
  /// What is written cannot be taken, for this reason.
  void refuse(const QString& reason);

 signals:
  void taken(const QString& text);
  void left();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void take();
  void leave();
  void setLine(Token token);

  Theme theme_;
  Kind kind_ = Kind::name;
  QString before_;
};

}  // namespace orrery::ui
