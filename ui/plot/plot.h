// What the plots of all pages share.
#pragma once

#include <qcustomplot.h>

namespace orrery::ui {

/// Without QCustomPlot's legend, which is measured at each layout although no page shows it; and drawn only
/// while somebody sees it.
class Plot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit Plot(QWidget* parent = nullptr);

 protected:
  /// Soon; of a plot that is hidden or behind another tab, when it is seen.
  void redraw();
  void paintEvent(QPaintEvent* event) override;

 private:
  bool stale_ = false;
};

}  // namespace orrery::ui
