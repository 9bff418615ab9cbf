// What the curves are: the mark of each beside its name.
#pragma once

#include <QWidget>

#include "ui/theme/side_look.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class DepthLegend : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit DepthLegend(const Theme& theme, QWidget* parent = nullptr);

  void show(const std::vector<SideLook>& looks);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  std::vector<SideLook> looks_;
};

/// The first curve is what the second stands beside: hollow, dashed.
void paintCurveMark(QPainter& painter, const SideLook& look, bool hollow, const QPointF& centre, double size,
                    const Theme& theme);

}  // namespace orrery::ui
