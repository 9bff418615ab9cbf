// A scroll area whose ground is a colour of the theme: what is in it stands in one column and scrolls down.
#pragma once

#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/theme/theme.h"

namespace orrery::ui {

class GroundScroll : public QScrollArea {
  Q_OBJECT
 public:
  GroundScroll(const Theme& theme, Token ground, QWidget* parent = nullptr);
  /// What is added here scrolls.
  QVBoxLayout* column() const { return column_; }

 private:
  QVBoxLayout* column_;
};

}  // namespace orrery::ui
