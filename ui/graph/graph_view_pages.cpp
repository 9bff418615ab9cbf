// Pages of columns in the view: how many columns, and what stands still when layers go to others.
#include <algorithm>

#include "ui/graph/graph_view_private.h"
#include "ui/theme/format.h"

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

QString GraphView::summary() const {
  if (!d_->drawing) return {};
  const SceneGraph& scene = *d_->drawing.scene;
  size_t layers = 0, open = 0;
  for (const SceneRun& run : scene.runs) {
    if (!run.follows || run.layers.size() <= layers) continue;
    layers = run.layers.size();
    open = static_cast<size_t>(std::count_if(run.layers.begin(), run.layers.end(), [&](int group) {
      return d_->open.contains(scene.groups[static_cast<size_t>(group)].path);
    }));
  }
  const QString nodes = format::counted(static_cast<qint64>(scene.nodes.size()), QStringLiteral("node"));
  if (layers == 0) return nodes;
  const QString how = open == layers ? tr("all open") : open == 0 ? tr("folded") : tr("%1 open").arg(open);
  return format::counted(static_cast<qint64>(layers), QStringLiteral("layer")) + ", " + nodes + ", " + how;
}

void GraphView::tellPlace() { d_->tellPlace(); }

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
