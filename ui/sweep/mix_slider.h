// A size, chosen under the curve of what sizes cost: a knob on a line, the same axis for both.
#pragma once

#include <QWidget>

#include "engine/api/mix.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class MixSlider : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit MixSlider(const Theme& theme, QWidget* parent = nullptr);

  /// From the smallest to the largest; empty: there is nothing to choose.
  void setCurve(std::vector<api::Mix> curve);
  /// What the mix of that size costs.
  void setMix(uint64_t bytes, double distance);
  uint64_t bytes() const { return bytes_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 signals:
  void bytesChosen(quint64 bytes);  // by the person

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QRectF ground() const;  // of the curve
  double xOf(uint64_t bytes) const;
  double yOf(double distance) const;
  void take(double x);
  void choose(uint64_t bytes);

  Theme theme_;
  std::vector<api::Mix> curve_;
  uint64_t bytes_ = 0;
  double distance_ = 0;
  double low_ = 0, high_ = 0;  // of the distances
};

}  // namespace orrery::ui
