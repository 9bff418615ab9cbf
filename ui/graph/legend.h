// What the colours of the graph mean.
#pragma once

#include <vector>

#include "ui/graph/strip_section.h"
#include "ui/theme/side_look.h"

namespace orrery::ui {

/// The heat scale with its switch between logarithmic and linear.
class Legend : public StripSection {
  Q_OBJECT

 public:
  explicit Legend(const Theme& theme, QWidget* parent);
  void setScale(const QString& title, const std::vector<QString>& ticks, bool logarithmic);
  /// The map of two sides, which is always logarithmic: the side that is faster at either end.
  void setRatio(const SideLooks& ends, const std::vector<QString>& ticks);
  /// There is no scale: nothing was measured, or colours are the families'.
  void setNone(const QString& title, const QString& note);
  QSize sizeHint() const override;

 signals:
  void logarithmicChanged(bool logarithmic);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  enum class Kind : uint8_t { none, scale, ratio };
  QRectF bar() const;
  QRectF switchRect() const;
  void paintSwitch(QPainter& painter) const;
  void paintEnds(QPainter& painter) const;
  void paintScale(QPainter& painter) const;

  Kind kind_ = Kind::none;
  QString title_, note_;
  std::vector<QString> ticks_;
  SideLooks ends_;
  bool logarithmic_ = true;
};

}  // namespace orrery::ui
