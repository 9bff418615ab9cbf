#include "ui/graph/graph_view.h"

#include <QEventLoop>
#include <QGraphicsScene>
#include <QResizeEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
namespace {

constexpr double kZoomStep = 1.2;

}  // namespace

GraphView::GraphView(const Theme& theme, QWidget* parent) : QGraphicsView(parent) {
  Private::makeAccess();  // first: Qt keeps the interface that it made when it is first told of a view
  setScene(new QGraphicsScene(this));
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTransformationAnchor(QGraphicsView::NoAnchor);
  setResizeAnchor(QGraphicsView::NoAnchor);
  setViewportUpdateMode(QGraphicsView::FullViewportUpdate);
  setMouseTracking(true);
  viewport()->setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Graph"));
  setMinimumSize(160, 120);
  d_ = std::make_unique<Private>(this, theme);
  d_->editor = std::make_unique<GraphEditor>(this);
  setAcceptDrops(true);
  viewport()->setAcceptDrops(true);
}

GraphView::~GraphView() = default;

GraphEditor* GraphView::editor() const { return d_->editor.get(); }

void GraphView::setGraph(graph::GraphVersion graph, std::unordered_set<NodeId> edited, const QString& name) {
  Private& d = *d_;
  const bool same = graph == d.graph;
  d.graph = std::move(graph);
  d.edited = std::move(edited);
  if (!name.isEmpty() && name != d.name) {  // another model: nothing of the last one's view means anything
    if (!d.name.isEmpty()) d.forget();
    d.name = name;
  }
  if (!d.graph) {
    d.worker->cancel();
    d.forget();
    d.drawing = {};
    d.pages.setDrawing({}, {});
    d.heat.setScene(nullptr);
    d.places.setScene(nullptr, d.bindings);
    d.marks = {};
    d.editor->sceneChanged();
    d.refreshStrips();
    viewport()->update();
    return;
  }
  if (same && d.drawing) {
    d.restoreMarks();
    viewport()->update();
    return;
  }
  d.relayout(true, !d.everShown);
}

void GraphView::setTimings(Figures figures) {
  d_->heat.setFigures(std::move(figures));
  d_->moveBar();
  d_->figuresChanged();
  d_->heatChanged();
}

void GraphView::setEdits(std::vector<std::unordered_set<NodeId>> edits) {
  Private& d = *d_;
  if (edits == d.edits) return;
  d.edits = std::move(edits);
  d.pages.setDrawing(d.drawing, d.edits);
  d.figuresChanged();
  viewport()->update();
}

void GraphView::setPlaces(Places places) {
  d_->places.setPlaces(std::move(places));
  d_->refreshStrips();
  viewport()->update();
}

void GraphView::resetScale() {
  d_->heat.resetScale();
  d_->figuresChanged();
  d_->heatChanged();
}

void GraphView::setHeatMode(HeatMode mode) {
  if (mode == d_->heat.mode()) return;
  d_->heat.setMode(mode);
  d_->figuresChanged();
  d_->refreshStrips();
  viewport()->update();
}

HeatMode GraphView::heatMode() const { return d_->heat.mode(); }

void GraphView::setSides(const SideLooks& sides, const std::optional<Divergence>& divergence) {
  d_->heat.setSides(sides);
  d_->divergence = divergence;
  if (divergence) d_->divergenceCard->setDivergence(*divergence);
  d_->figuresChanged();
  d_->refreshStrips();
  viewport()->update();
}

const std::optional<Divergence>& GraphView::divergence() const { return d_->divergence; }

void GraphView::setRunning(bool running) {
  d_->running = running;
  d_->moveBar();
  viewport()->update();
}

void GraphView::setReducedMotion(bool reduced) {
  d_->reducedMotion = reduced;
  if (!reduced) return;
  d_->moveBar();
  d_->fade.stop();
  d_->faded = {};
}

void GraphView::setTheme(const Theme& theme) {
  d_->theme = theme;
  d_->painter = ScenePainter(theme);
  d_->strip->setTheme(theme);
  d_->step->setTheme(theme);
  d_->divergenceCard->setTheme(theme);
  d_->hints->setTheme(theme);
  d_->editor->setTheme(theme);
  d_->placeStrips();
  d_->refreshShapes();
  viewport()->update();
}

void GraphView::setParts(Parts shown) {
  d_->parts = shown;
  d_->placeStrips();
}

GraphView::Parts GraphView::parts() const { return d_->parts; }

void GraphView::fit() {
  if (!d_->drawing) return;
  const Private::View view = d_->wholeView();
  d_->moveCamera(view.scale, view.centre);
  d_->fitted = true;
}

void GraphView::zoomIn() { zoomTo(d_->scale * kZoomStep); }
void GraphView::zoomOut() { zoomTo(d_->scale / kZoomStep); }
void GraphView::zoomTo(double scale) { d_->moveCamera(scale, d_->centre()); }
double GraphView::zoom() const { return d_->scale; }

void GraphView::expandScope(const QString& scope) {
  Private& d = *d_;
  if (!d.drawing) return;
  const auto [first, last] = d.groupsOf(scope);
  if (first <= 0) return;
  d.anchorAt(first);
  d.openAround(d.drawing.scene->groups[at(first)].parent);
  d.openGroup(first);
  d.fadeFromNow();
  d.relayout(false);
}

void GraphView::collapseScope(const QString& scope) {
  Private& d = *d_;
  if (!d.drawing || !d.open.contains(scope.toStdString())) return;
  d.anchorAt(d.drawing.scene->group(scope.toStdString()));
  d.open.erase(scope.toStdString());
  d.fadeFromNow();
  d.relayout(false);
}

void GraphView::toggleScope(const QString& scope) {
  isExpanded(scope) ? collapseScope(scope) : expandScope(scope);
}

void GraphView::expandAll() {
  Private& d = *d_;
  if (!d.drawing) return;
  d.anchorAt(d.marks.group, d.marks.node);
  for (const SceneGroup& group : d.drawing.scene->groups) d.open.insert(group.path);
  d.fadeFromNow();
  d.relayout(false);
}

void GraphView::collapseAll() {
  Private& d = *d_;
  if (!d.drawing) return;
  d.anchorAt(d.marks.group, d.marks.node);
  d.open = d.openedNodes;  // an opened node folds into itself only
  d.fadeFromNow();
  d.relayout(false);
}

bool GraphView::isExpanded(const QString& scope) const {
  return scope.isEmpty() || d_->open.contains(scope.toStdString());
}

void GraphView::select(NodeId node) {
  Private& d = *d_;
  d.setSelection(node, {});
  const SceneNode* found = d.drawing ? d.drawing.scene->find(node) : nullptr;
  if (!found) return;
  const size_t before = d.open.size();
  d.openAround(found->group);
  d.revealAfter = {{node, {}}};
  if (d.open.size() != before) {
    d.relayout(false);
  } else if (!d.worker->busy()) {
    if (const auto box = boxOfNode(d.drawing, found->position)) d.reveal(*box);
    d.revealAfter.reset();
  }
}

void GraphView::selectScope(const QString& scope) {
  Private& d = *d_;
  d.setSelection({}, scope.toStdString());
  if (!d.drawing) return;
  const auto [first, last] = d.groupsOf(scope);
  if (first <= 0) return;
  const size_t before = d.open.size();
  d.openAround(d.drawing.scene->groups[at(first)].parent);
  d.revealAfter = {{NodeId{}, d.drawing.scene->groups[at(first)].path}};
  if (d.open.size() != before) {
    d.relayout(false);
  } else if (!d.worker->busy()) {
    if (const auto box = boxOfGroup(d.drawing, first)) d.reveal(*box);
    d.revealAfter.reset();
  }
}

void GraphView::clearSelection() { d_->setSelection({}, {}); }
NodeId GraphView::selectedNode() const { return d_->selected.node; }
QString GraphView::selectedScope() const { return d_->selected.scope; }

bool GraphView::waitForLayout(int ms) {
  QEventLoop loop;
  QTimer limit;
  limit.setSingleShot(true);
  connect(this, &GraphView::layoutFinished, &loop, &QEventLoop::quit);
  connect(&limit, &QTimer::timeout, &loop, &QEventLoop::quit);
  limit.start(ms);
  while (d_->worker->busy() && limit.isActive()) loop.exec(QEventLoop::ExcludeUserInputEvents);
  return !d_->worker->busy();
}

void GraphView::resizeEvent(QResizeEvent* event) {
  Private& d = *d_;
  const QPointF centre = d.visibleScene().center();
  QGraphicsView::resizeEvent(event);
  if (d.drawing && !d.touched)
    d.showFirst();
  else if (d.drawing && d.fitted)
    d.showWhole();
  else if (d.drawing)
    d.setCamera(d.scale, centre, QRectF(viewport()->rect()).center());
  d.placeStrips();
  if (!d.pages.empty()) d.settled.start();
}

void GraphView::scrollContentsBy(int dx, int dy) {
  QGraphicsView::scrollContentsBy(dx, dy);
  if (!d_) return;
  d_->strip->minimap()->setView(d_->visibleScene());
  if (d_->editor) d_->editor->cameraMoved();
}

}  // namespace orrery::ui
