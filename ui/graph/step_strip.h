// The step at the right edge of the graph, from its first op down to its last one. What is pointed at or
// chosen here is so in the drawing, and the other way round.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <optional>

#include "ui/graph/step_model.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

inline constexpr double kStepWidth = 76;  // at body 13

class StepStrip : public QWidget {
  Q_OBJECT

 public:
  explicit StepStrip(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  /// `ratio`: heat is of two sides.
  void setParts(std::vector<StepPart> parts, bool ratio);
  /// What the drawing has chosen and under the pointer, as positions; empty: nothing.
  void setMarks(std::optional<Span> chosen, std::optional<Span> hovered);
  QSize sizeHint() const override;

 signals:
  /// A part by its positions, and its group or node; -1 for both: the pointer left.
  void hovered(int group, int node);
  void chosen(int group, int node);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent*) override;
  bool event(QEvent* event) override;

 private:
  double px(double length) const { return theme_.scaled(length); }
  double top() const { return px(24); }
  double yOf(double us) const;
  QRectF barOf(const StepPart& part) const;
  const StepPart* partAt(const QPointF& point) const;
  void paintParts(QPainter& painter) const;
  void paintPart(QPainter& painter, const StepPart& part) const;
  void paintTicks(QPainter& painter) const;
  void paintFrame(QPainter& painter, Span span, const QColor& color, double width) const;

  Theme theme_;
  std::vector<StepPart> parts_;
  bool ratio_ = false;
  double total_ = 0;
  std::optional<Span> chosen_, hovered_;
  const StepPart* under_ = nullptr;
  QPixmap picture_;
};

}  // namespace orrery::ui
