// F1: every command with its keys, so that the list is always true. Clicking the keys of a command asks for
// others; what another one has is refused by its name.
#pragma once

#include <QDialog>

#include "ui/theme/theme.h"
#include "ui/widgets/buttons.h"

class QGridLayout;
class QKeySequence;

namespace orrery::ui {

class Commands;
class Text;

/// The keys of one command; after a click, the next ones that are pressed. Esc leaves them as they are,
/// Backspace takes them away.
class KeyButton : public QAbstractButton {
  Q_OBJECT
 public:
  KeyButton(const Theme& theme, QWidget* parent);
  void setKeys(const QString& keys);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }
  bool asking() const { return asking_; }

 signals:
  void asked();
  void pressedKeys(const QKeySequence& keys);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void ask(bool asking);

  Theme theme_;
  QString keys_;
  bool asking_ = false;
};

class KeysDialog : public QDialog {
  Q_OBJECT
 public:
  KeysDialog(const Theme& theme, Commands& commands, QWidget* parent = nullptr);

  /// Of a command, by its id.
  KeyButton* button(const QString& id) const;
  /// What was refused, or how keys are changed.
  QString note() const;

 private:
  void addCommands(QGridLayout* grid, const Theme& theme);
  void addFixed(QGridLayout* grid, const Theme& theme);
  void change(const QString& id, const QKeySequence& keys);
  void showKeys();

  Commands& commands_;
  Text* note_;
  Button* reset_;
};

}  // namespace orrery::ui
