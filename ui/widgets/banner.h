// Errors stay in the page until closed: a title, what and where and what to do, and buttons. Good news is a
// notice that goes after 4 s, or stays with what it offers. A question takes the focus; Esc closes it.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/session/ui_error.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class Banner : public QWidget, public Themed {
  Q_OBJECT
 public:
  enum class Kind { error, warning, notice };
  explicit Banner(const Theme& theme, QWidget* parent = nullptr);

  void showError(const UiError& error);
  void showWarning(const QString& title, const QString& body, const QStringList& actions = {});
  void showNotice(const QString& text, const QStringList& actions = {});
  void ask(const QString& title, const QString& body, const QStringList& answers);
  QStringList actions() const;
  void dismiss();
  QString title() const { return title_->text(); }
  QString body() const { return body_->text(); }
  Kind kind() const { return kind_; }
  void setTheme(const Theme& theme) override;

 signals:
  void actionChosen(const QString& action);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void present(Kind kind, const QString& title, const QString& body, const QStringList& actions);

  Theme theme_;
  Kind kind_ = Kind::notice;
  Text* title_;
  Text* body_;
  QWidget* actions_;
  QTimer hide_;
};

}  // namespace orrery::ui
