// The heads of an attention, each on or off. Arrows walk, the space bar switches.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/widgets/themed.h"

namespace orrery::ui {

class HeadToggles : public QWidget, public Themed {
  Q_OBJECT
 public:
  HeadToggles(const Theme& theme, int heads, QWidget* parent = nullptr);
  void setOff(const std::vector<bool>& off);
  const std::vector<bool>& off() const { return off_; }
  QRect rectOf(int head) const;
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 signals:
  void changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int columns(int width) const;
  void toggle(int head);

  Theme theme_;
  std::vector<bool> off_;
  int current_ = 0;
};

}  // namespace orrery::ui
