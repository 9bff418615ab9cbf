// Over its parent while files are dragged over the window: what dropping them would do, or why it cannot.
#pragma once

#include "ui/shell/openable.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class DropPreview : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit DropPreview(const Theme& theme, QWidget* parent);
  void showPlan(const OpenPlan& plan);
  QString title() const { return title_->text(); }
  QString body() const { return body_->text(); }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  bool possible_ = true;
  Text *title_, *body_;
};

}  // namespace orrery::ui
