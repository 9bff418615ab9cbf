// Fusion with our own check boxes, radio buttons and combo boxes: Fusion's outlines vanish on dark grounds.
#pragma once

#include <QProxyStyle>

#include "ui/theme/theme.h"

namespace orrery::ui {

class OrreryStyle : public QProxyStyle {
  Q_OBJECT

 public:
  explicit OrreryStyle(const Theme& theme);

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                         const QWidget* widget) const override;
  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                       const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;

 private:
  Theme theme_;
};

}  // namespace orrery::ui
