#include "ui/plot/plot.h"

#include <utility>

namespace orrery::ui {

Plot::Plot(QWidget* parent) : QCustomPlot(parent) { setAutoAddPlottableToLegend(false); }

void Plot::redraw() {
  stale_ = visibleRegion().isEmpty();  // Qt calls a dock visible that is behind another tab
  if (!stale_) replot(rpQueuedReplot);
}

void Plot::paintEvent(QPaintEvent* event) {
  if (std::exchange(stale_, false)) replot(rpQueuedRefresh);
  QCustomPlot::paintEvent(event);
}

}  // namespace orrery::ui
