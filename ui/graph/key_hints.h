// Keys of the drawing with what they do, at its upper right corner.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/theme/theme.h"

namespace orrery::ui {

class KeyHints : public QWidget {
  Q_OBJECT
 public:
  KeyHints(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  struct Hint {
    QString keys, word;
  };
  void setHints(std::vector<Hint> hints);
  bool empty() const { return hints_.empty(); }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  Theme theme_;
  std::vector<Hint> hints_;
};

}  // namespace orrery::ui
