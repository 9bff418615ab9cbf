// The empty conversation: whom one asks, and three questions to begin with.
#pragma once

#include <QWidget>

#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

/// A question with an arrow at its right end.
class SuggestionButton : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  SuggestionButton(const Theme& theme, const QString& text, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  Theme theme_;
};

class ChatStart : public QWidget {
  Q_OBJECT
 public:
  explicit ChatStart(const Theme& theme, QWidget* parent = nullptr);
  /// With suggestions for a model that chats; without for one that does not.
  void setState(const QString& title, const QString& hint, bool suggestions);

 signals:
  void suggested(const QString& question);

 private:
  Text *title_, *hint_;
  QWidget* questions_;
};

}  // namespace orrery::ui
