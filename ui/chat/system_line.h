// Above the conversation, while there is a system prompt: how it begins. A click edits it, the cross clears
// it.
#pragma once

#include "ui/widgets/buttons.h"

namespace orrery::ui {

class SystemLine : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  explicit SystemLine(const Theme& theme, QWidget* parent = nullptr);
  /// Empty: hidden.
  void setPrompt(const QString& prompt);
  IconButton* clearButton() const { return clear_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {80, sizeHint().height()}; }

 signals:
  void clearAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  Theme theme_;
  IconButton* clear_;
};

}  // namespace orrery::ui
