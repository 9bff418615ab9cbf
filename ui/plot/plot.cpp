#include "ui/plot/plot.h"

#include <utility>

namespace orrery::ui {

Plot::Plot(QWidget* parent) : QCustomPlot(parent) { setAutoAddPlottableToLegend(false); }

void Plot::redraw() {
  stale_ = !isVisible();
  if (!stale_) replot(rpQueuedReplot);
}

void Plot::showEvent(QShowEvent* event) {
  QCustomPlot::showEvent(event);
  if (std::exchange(stale_, false)) replot(rpQueuedRefresh);  // with this picture, not the next
}

}  // namespace orrery::ui
