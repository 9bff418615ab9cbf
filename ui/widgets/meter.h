// A horizontal bar on a sunken ground.
#pragma once

#include <QWidget>

#include "ui/widgets/themed.h"

namespace orrery::ui {

/// Paints the bar into any painter: `share` 0 to 1 of the width, in `fill`.
void paintMeter(QPainter& painter, const QRectF& rect, double share, const QColor& fill, const Theme& theme);

class Meter : public QWidget, public Themed {
  Q_OBJECT
 public:
  Meter(const Theme& theme, Token token, QWidget* parent = nullptr, double height = 6);
  void setShare(double share);
  void setToken(Token token);
  /// A dotted line across the bar; negative: none.
  void setMark(double share);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  Token token_;
  double height_, share_ = 0, mark_ = -1;
};

}  // namespace orrery::ui
