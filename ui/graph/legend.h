// What the colours of the graph mean.
#pragma once

#include <vector>

#include "ui/graph/floating_card.h"
#include "ui/theme/side_look.h"

namespace orrery::ui {

/// The heat scale with its switch between logarithmic and linear.
class Legend : public FloatingCard {
  Q_OBJECT

 public:
  explicit Legend(const Theme& theme, QWidget* parent);
  void setScale(const QString& title, const std::vector<QString>& ticks, bool logarithmic);
  /// The map of two sides, which is always logarithmic: the side that is faster at either end.
  void setRatio(const SideLooks& ends, const std::vector<QString>& ticks);
  QSize sizeHint() const override;

 signals:
  void logarithmicChanged(bool logarithmic);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  double headWidth() const;
  double scaleWidth() const;
  QRectF switchRect() const;
  void paintSwitch(QPainter& painter) const;
  void paintEnds(QPainter& painter) const;
  void paintScale(QPainter& painter) const;

  QString title_;
  std::vector<QString> ticks_;
  SideLooks ends_;
  bool logarithmic_ = true, ratio_ = false;
};

}  // namespace orrery::ui
