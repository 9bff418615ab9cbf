// True labels down, predicted across; cells in heat.
#pragma once

#include <QWidget>

#include "ui/classify/classify_model.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class ConfusionView : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ConfusionView(const Theme& theme, QWidget* parent = nullptr);
  void setMatrix(const ConfusionMatrix& matrix);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  ConfusionMatrix matrix_;
};

}  // namespace orrery::ui
