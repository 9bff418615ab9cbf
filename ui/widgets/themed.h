// Widgets that paint themselves from the theme. A theme change reaches every one of them below a window.
#pragma once

#include <QFont>
#include <QWidget>
#include <cmath>

#include "ui/theme/theme.h"

class QPainter;

namespace orrery::ui {

class Themed {
 public:
  virtual ~Themed() = default;
  virtual void setTheme(const Theme& theme) = 0;
};

/// The whole pixels that hold a length.
inline int ceilInt(double value) { return static_cast<int>(std::ceil(value)); }

/// Calls setTheme of `root` and of every Themed widget below it.
void propagateTheme(QWidget* root, const Theme& theme);

/// Fills a rounded rectangle with a 1 px outline inside `rect`; an invalid colour leaves that part out.
void paintBox(QPainter& painter, const QRectF& rect, double radius, const QColor& fill,
              const QColor& outline);
/// The outline of what is raised: the border mixed with text3, so that it shows on raised and on panel.
QColor controlOutline(const Theme& theme);
/// The focus ring: accent, 2 px, just inside `rect`.
void paintFocus(QPainter& painter, const QRectF& rect, double radius, const Theme& theme);

/// A widget with one ground colour of the theme, and optionally a hairline at its top or bottom.
class Ground : public QWidget, public Themed {
  Q_OBJECT
 public:
  enum Line { noLine = 0, topLine = 1, bottomLine = 2, leftLine = 4 };
  Ground(const Theme& theme, Token token, QWidget* parent = nullptr, int lines = noLine);
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  Theme theme_;

 private:
  Token token_;
  int lines_;
};

}  // namespace orrery::ui
