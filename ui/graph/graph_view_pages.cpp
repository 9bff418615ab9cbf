// Pages of columns in the view: how many columns, and what stands still when layers go to others.
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"
#include "ui/graph/scene_graph.h"
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
      return d_->open.contains(scene.groups[at(group)].path);
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

/// Arrows go through a page as it is read: from layer to layer, and from the last op of one to the first of
/// the next; to the sides into the next column.
bool GraphView::Private::walkPage(int key) {
  const int layer = marks.node >= 0 ? pages.layerOfNode(marks.node) : pages.layerOf(marks.group);
  if (layer < 0) return false;
  const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right;
  const int step = key == Qt::Key_Down || key == Qt::Key_Right ? 1 : -1;
  const int next = pages.neighbour(layer, sideways ? 0 : step, sideways ? step : 0);
  if (marks.node < 0 || blocks) {
    if (next < 0) return false;
    setSelection({}, drawing.scene->groups[at(pages.layers()[at(next)].group)].path);
    notifySelection();
    reveal(pages.layers()[at(next)].box);
    return true;
  }
  const std::optional<Rect> from = boxOfNode(drawing, marks.node);
  const Hit* best = nullptr;
  double least = 0;
  const std::vector<Hit> order = walkOrder(drawing);
  for (const Hit& hit : order) {
    if (!from || layerOfHit(hit) != layer) continue;
    const double dx = hit.box.x + hit.box.w / 2 - from->x - from->w / 2, dy = hit.box.y - from->y;
    const bool ahead = sideways ? dx * step > 2 && std::abs(dy) < 20 : dy * step > 2;
    const double cost = sideways ? std::abs(dx) : std::abs(dy) + 0.4 * std::abs(dx);
    if (!ahead || (best && cost >= least)) continue;
    best = &hit;
    least = cost;
  }
  if (best) {
    selectHit(*best);
    reveal(best->box);
    return true;
  }
  if (next < 0 || !from) return false;
  const Rect &here = pages.layers()[at(layer)].box, &there = pages.layers()[at(next)].box;
  const double y = sideways ? from->y - here.y : step > 0 ? 0 : there.h;
  chooseNear(next, {there.x + from->x - here.x, there.y + y});
  return true;
}

int GraphView::Private::layerOfHit(const Hit& hit) const {
  return hit.node >= 0 ? pages.layerOfNode(hit.node) : pages.layerAround(hit.group);
}

/// What of a layer is the nearest to a point.
void GraphView::Private::chooseNear(int layer, Point place) {
  std::optional<Hit> best;
  double least = 0;
  for (const Hit& hit : walkOrder(drawing)) {
    if (layerOfHit(hit) != layer) continue;
    const double away = std::abs(hit.box.y - place.y) + 0.1 * std::abs(hit.box.x - place.x);
    if (best && away >= least) continue;
    best = hit;
    least = away;
  }
  if (!best) return;
  selectHit(*best);
  reveal(best->box);
}

/// Each layer goes straight from where it is on the screen to its new cell; more than a hundred at once would
/// be a swarm.
void GraphView::Private::beginMotion(bool wasPaged, const std::unordered_map<std::string, QPointF>& seen) {
  constexpr size_t kMostMoving = 100;
  motion.from.clear();
  if (reducedMotion || detail != Detail::far || pages.layers().size() > kMostMoving || !wasPaged) return;
  const QPointF corner = visibleScene().topLeft();
  for (const PageLayer& layer : pages.layers()) {
    const auto known = layer.group < 0 ? seen.end() : seen.find(drawing.scene->groups[at(layer.group)].path);
    const QPointF now(layer.box.x, layer.box.y);
    const QPointF then = known == seen.end() ? now : corner + known->second / scale;
    motion.from.push_back({then.x() - now.x(), then.y() - now.y()});
  }
  faded = {};
  motion.run.start();
}

/// By the path of each layer: its corner on the screen.
std::unordered_map<std::string, QPointF> GraphView::Private::layersOnScreen() const {
  std::unordered_map<std::string, QPointF> seen;
  const QPointF corner = visibleScene().topLeft();
  for (const PageLayer& layer : pages.layers())
    if (layer.group >= 0)
      seen[drawing.scene->groups[at(layer.group)].path] =
          (QPointF(layer.box.x, layer.box.y) - corner) * scale;
  return seen;
}

bool GraphView::canBePage(const QString& scope) const {
  const int group = d_->groupsOf(scope).first;
  const int run = group < 0 ? -1 : d_->drawing.scene->groups[at(group)].run;
  if (run < 0) return false;
  const SceneRun& found = d_->drawing.scene->runs[at(run)];
  return found.follows && std::ssize(found.layers) >= kLeastPaged;
}

void GraphView::openPage(const QString& scope) {
  Private& d = *d_;
  const int group = d.groupsOf(scope).first;
  if (group < 0) return;
  const SceneGraph& scene = *d.drawing.scene;
  const int run = scene.groups[at(group)].run;
  if (run < 0) return;
  for (const int layer : scene.runs[at(run)].layers) {
    d.openAround(layer);
    d.openGroup(layer);
  }
  d.fadeFromNow();
  d.relayout(false);
}

}  // namespace orrery::ui
