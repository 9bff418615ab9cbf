// Pages of columns in the view: how many columns, and what stands still when layers go to others.
#include <algorithm>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {

void GraphView::setColumns(int columns) {
  Private& d = *d_;
  const int wanted = std::clamp(columns, 0, kMostColumns);
  if (wanted == d.plan.columns) return;
  d.plan.columns = wanted;
  d.relayoutPages(PagePlan::Change::arrange);
}

int GraphView::columns() const { return d_->plan.columns; }

GraphView::PageSize GraphView::pageSize() const {
  PageSize largest;
  for (const PagePlace& place : d_->pages.pages()) {
    const auto& layers = d_->pages.layers();
    const auto begin = layers.begin() + place.first;
    const int count = static_cast<int>(
        std::count_if(begin, begin + place.count, [](const PageLayer& layer) { return layer.group >= 0; }));
    if (count <= largest.layers) continue;
    largest = {static_cast<int>(place.page->columns.size()), place.page->rows, count};
  }
  return largest;
}

void GraphView::arrangePages() { d_->relayoutPages(PagePlan::Change::arrange); }
void GraphView::closeCells() { d_->relayoutPages(PagePlan::Change::close); }

void GraphView::Private::relayoutPages(PagePlan::Change change) {
  if (!drawing || pages.empty()) return;
  plan.change = change;
  if (!fitted) anchorAtCentre();
  if (change == PagePlan::Change::arrange) fadeFromNow();
  relayout(false);
}

/// The layer in the middle of the view, or the nearest to it.
void GraphView::Private::anchorAtCentre() {
  const QPointF middle = centre();
  int nearest = -1;
  double least = 0;
  for (const PageLayer& layer : pages.layers()) {
    if (layer.group < 0) continue;
    const double dx = layer.box.x + layer.box.w / 2 - middle.x(),
                 dy = layer.box.y + layer.box.h / 2 - middle.y();
    const double away = dx * dx + dy * dy;
    if (nearest >= 0 && away >= least) continue;
    nearest = layer.group;
    least = away;
  }
  if (nearest >= 0) anchorAt(nearest);
}

}  // namespace orrery::ui
