// An icon to look at, 20 px, in a colour of the theme.
#pragma once

#include "ui/widgets/themed.h"

namespace orrery::ui {

class IconLabel : public QWidget, public Themed {
  Q_OBJECT
 public:
  IconLabel(const Theme& theme, const QString& icon, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  QString icon_;
};

}  // namespace orrery::ui
