// How many things are chosen in the drawing, and what can be done with them, as icons.
#pragma once

#include <QWidget>
#include <array>

#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class SelectionBar : public QWidget, public Themed {
  Q_OBJECT
 public:
  SelectionBar(const Theme& theme, QWidget* view);
  void setCount(size_t count);
  IconButton* bypass() const { return buttons_[0]; }
  IconButton* remove() const { return buttons_[1]; }
  IconButton* duplicate() const { return buttons_[2]; }
  IconButton* frame() const { return buttons_[3]; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;

 private:
  Theme theme_;
  Text* count_;
  std::array<IconButton*, 4> buttons_;
};

}  // namespace orrery::ui
