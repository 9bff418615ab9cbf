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

constexpr double kLeastScale = 0.0005, kMostScale = 4, kZoomStep = 1.2;
constexpr int kMotion = 180;  // ms
size_t at(int index) { return static_cast<size_t>(index); }

}  // namespace

GraphView::GraphView(const Theme& theme, QWidget* parent) : QGraphicsView(parent) {
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
}

GraphView::~GraphView() = default;

void GraphView::setGraph(graph::GraphVersion graph, std::unordered_set<NodeId> edited, const QString& name) {
  Private& d = *d_;
  const bool same = graph == d.graph;
  d.graph = std::move(graph);
  d.edited = std::move(edited);
  if (!name.isEmpty()) d.name = name;
  if (!d.graph) {
    d.worker->cancel();
    d.drawing = {};
    d.everShown = false;
    d.heat.setScene(nullptr);
    d.marks = {};
    d.selectedNode = {};
    d.selectedScope.clear();
    d.refreshOverlays();
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

void GraphView::setBindings(const Bindings& bindings) {
  if (bindings == d_->bindings) return;
  d_->bindings = bindings;
  if (d_->graph) d_->relayout(true, !d_->everShown);
}

void GraphView::setTimings(Figures figures, double stepUs) {
  d_->heat.setFigures(figures, stepUs, static_cast<double>(d_->clock.elapsed()) / 1e3);
  if (!d_->legend->isVisible()) d_->refreshOverlays();
  d_->heatChanged();
}

void GraphView::resetTimings() {
  d_->heat.reset();
  d_->heat.updateDigits();
  d_->heatChanged();
}

void GraphView::setHeatMode(HeatMode mode) {
  if (mode == d_->heat.mode()) return;
  d_->heat.setMode(mode);
  d_->refreshOverlays();
  viewport()->update();
}

HeatMode GraphView::heatMode() const { return d_->heat.mode(); }

void GraphView::setRunning(bool running) {
  d_->running = running;
  running && !d_->reducedMotion ? d_->bar.start() : d_->bar.stop();
  viewport()->update();
}

void GraphView::setReducedMotion(bool reduced) {
  d_->reducedMotion = reduced;
  if (!reduced) return;
  d_->bar.stop();
  d_->fade.stop();
  d_->faded = {};
}

void GraphView::setTheme(const Theme& theme) {
  d_->theme = theme;
  d_->painter = ScenePainter(theme);
  d_->breadcrumb->setTheme(theme);
  d_->legend->setTheme(theme);
  d_->minimap->setTheme(theme);
  d_->placeOverlays();
  viewport()->update();
}

void GraphView::fit() {
  if (!d_->drawing) return;
  const Rect box = d_->drawing.bounds();
  d_->moveCamera(d_->fitScale(), QPointF(box.x + box.w / 2, box.y + box.h / 2));
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
  d.open.clear();
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
NodeId GraphView::selectedNode() const { return d_->selectedNode; }
QString GraphView::selectedScope() const { return QString::fromStdString(d_->selectedScope); }

QString GraphView::scopeOfSelection() const {
  if (!d_->selectedNode.valid()) return selectedScope();
  const graph::Node* node = d_->graph ? d_->graph->find(d_->selectedNode) : nullptr;
  return node ? QString::fromStdString(node->scope) : QString();
}

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
  const QPointF centre = d_->visibleScene().center();
  QGraphicsView::resizeEvent(event);
  if (event->oldSize().isValid() && d_->drawing)
    d_->setCamera(d_->scale, centre, QRectF(viewport()->rect()).center());
  d_->placeOverlays();
}

void GraphView::scrollContentsBy(int dx, int dy) {
  QGraphicsView::scrollContentsBy(dx, dy);
  if (d_) d_->minimap->setView(d_->visibleScene());
}

GraphView::Private::Private(GraphView* view, const Theme& look)
    : q(view),
      theme(look),
      painter(look),
      breadcrumb(new Breadcrumb(look, view)),
      legend(new Legend(look, view)),
      minimap(new Minimap(look, view)),
      worker(std::make_unique<LayoutWorker>(view, [this](LayoutReply reply) { show(std::move(reply)); })) {
  clock.start();
  repaint.setInterval(100);
  repaint.setSingleShot(true);
  digits.setInterval(250);
  digits.setSingleShot(true);
  bar.setInterval(33);
  QObject::connect(&repaint, &QTimer::timeout, q, [this] {
    q->viewport()->update();
    minimap->refresh();
  });
  QObject::connect(&digits, &QTimer::timeout, q, [this] {
    heat.updateDigits();
    refreshOverlays();
    q->viewport()->update();
  });
  QObject::connect(&bar, &QTimer::timeout, q, [this] {
    if (heat.slow()) q->viewport()->update();
  });
  for (QVariantAnimation* animation : {&camera, &fade}) {
    animation->setDuration(kMotion);
    animation->setEasingCurve(QEasingCurve::OutCubic);
    animation->setStartValue(0.0);
    animation->setEndValue(1.0);
  }
  QObject::connect(&camera, &QVariantAnimation::valueChanged, q, [this](const QVariant& value) {
    const double t = value.toDouble();
    const double s = cameraScale[0] * std::pow(cameraScale[1] / cameraScale[0], t);
    setCamera(s, cameraCentre[0] + (cameraCentre[1] - cameraCentre[0]) * t,
              QRectF(q->viewport()->rect()).center());
  });
  QObject::connect(&fade, &QVariantAnimation::valueChanged, q, [this] { q->viewport()->update(); });
  QObject::connect(&fade, &QVariantAnimation::finished, q, [this] { faded = {}; });
  QObject::connect(breadcrumb, &Breadcrumb::scopeClicked, q, [this](const QString& scope) {
    scope.isEmpty() ? q->fit() : q->selectScope(scope);
    if (!scope.isEmpty()) notifySelection();
  });
  QObject::connect(legend, &Legend::logarithmicChanged, q, [this](bool logarithmic) {
    heat.setLogarithmic(logarithmic);
    refreshOverlays();
    minimap->refresh();
    q->viewport()->update();
  });
  QObject::connect(minimap, &Minimap::goTo, q, [this](const QPointF& point) {
    setCamera(scale, point, QRectF(q->viewport()->rect()).center());
  });
  minimap->setPainter([this](QPainter& p, double s) {
    PaintJob whole = job(QRectF());
    whole.visible = drawing.bounds();
    whole.detail = Detail::far;
    whole.scale = s;
    painter.paint(p, whole);
  });
  placeOverlays();
}

void GraphView::Private::relayout(bool newScene, bool choose) {
  LayoutRequest request;
  if (newScene || !drawing)
    request.graph = graph;
  else
    request.scene = drawing.scene;
  request.bindings = bindings;
  request.open = open;
  request.choose = choose;
  worker->request(std::move(request));
}

void GraphView::Private::show(LayoutReply reply) {
  const bool fresh = reply.drawing.scene != drawing.scene;
  if (fresh && everShown && !anchor) anchorAt(marks.group, marks.node);
  drawing = std::move(reply.drawing);
  open = std::move(reply.open);
  if (fresh) {
    heat.setScene(drawing.scene);
    if (!needle.isEmpty()) search();
  }
  restoreMarks();
  const Rect bounds = drawing.bounds();
  minimap->setBounds(QRectF(bounds.x, bounds.y, bounds.w, bounds.h));
  if (!everShown) {
    everShown = true;
    showFirst();
  } else {
    std::optional<Rect> box;
    if (anchor && anchor->node.valid()) {
      if (const SceneNode* node = drawing.scene->find(anchor->node)) box = boxOfNode(drawing, node->position);
    } else if (anchor) {
      box = boxOfGroup(drawing, drawing.scene->group(anchor->scope));
    }
    if (box)
      setCamera(scale, QPointF(box->x + box->w / 2, box->y), anchor->screen);
    else
      setCamera(scale, centre(), QRectF(q->viewport()->rect()).center());
  }
  anchor.reset();
  if (revealAfter) {
    const auto [node, scope] = *revealAfter;
    revealAfter.reset();
    const SceneNode* found = drawing.scene->find(node);
    const auto box =
        found ? boxOfNode(drawing, found->position) : boxOfGroup(drawing, drawing.scene->group(scope));
    if (box) reveal(*box);
  }
  refreshOverlays();
  placeOverlays();
  if (!faded.isNull() && !reducedMotion) fade.start();
  q->viewport()->update();
  emit q->layoutFinished();
}

void GraphView::Private::restoreMarks() {
  if (!drawing) return;
  const SceneGraph& scene = *drawing.scene;
  editedBefore.assign(scene.nodes.size() + 1, 0);
  for (size_t i = 0; i < scene.nodes.size(); ++i)
    editedBefore[i + 1] = editedBefore[i] + (edited.contains(scene.nodes[i].id) ? 1 : 0);
  marks.hover = {};
  marks.node = marks.group = marks.lastGroup = -1;
  if (selectedNode.valid()) {
    if (const SceneNode* node = scene.find(selectedNode))
      marks.node = node->position;
    else
      selectedNode = {};
  }
  if (!selectedScope.empty())
    std::tie(marks.group, marks.lastGroup) = groupsOf(QString::fromStdString(selectedScope));
  updateBreadcrumb();
}

void GraphView::Private::anchorAt(int group, int node) {
  if (!drawing) return;
  anchor.reset();
  const auto box = node >= 0 ? boxOfNode(drawing, node) : boxOfGroup(drawing, group);
  if (!box || (node < 0 && group <= 0)) return;
  anchor = Anchor{node < 0 ? drawing.scene->groups[at(group)].path : std::string(),
                  node >= 0 ? drawing.scene->nodes[at(node)].id : NodeId{},
                  QPointF(q->mapFromScene(QPointF(box->x + box->w / 2, box->y)))};
}

void GraphView::Private::setCamera(double wanted, QPointF scenePoint, QPointF screen) {
  const double next = std::clamp(wanted, kLeastScale, kMostScale);
  const Rect box = drawing.bounds();
  const QSizeF size = q->viewport()->size();
  // Room for one whole view around the drawing, and whatever the point asks for.
  QRectF world =
      QRectF(box.x, box.y, box.w, box.h)
          .adjusted(-size.width() / next, -size.height() / next, size.width() / next, size.height() / next);
  const QPointF corner = scenePoint - screen / next;
  world |= QRectF(corner, size / next);
  q->setSceneRect(world);
  const bool zoomed = next != scale;
  scale = next;
  q->setTransform(QTransform::fromScale(next, next));
  q->horizontalScrollBar()->setValue(qRound(corner.x() * next));
  q->verticalScrollBar()->setValue(qRound(corner.y() * next));
  detail = detailAt(next, detail);
  minimap->setView(visibleScene());
  if (zoomed) emit q->zoomChanged(next);
}

void GraphView::Private::moveCamera(double wanted, QPointF centrePoint) {
  const double next = std::clamp(wanted, kLeastScale, kMostScale);
  camera.stop();
  if (reducedMotion || !q->isVisible())
    return setCamera(next, centrePoint, QRectF(q->viewport()->rect()).center());
  cameraScale[0] = scale;
  cameraScale[1] = next;
  cameraCentre[0] = centre();
  cameraCentre[1] = centrePoint;
  camera.start();
}

QPointF GraphView::Private::centre() const {
  if (camera.state() == QAbstractAnimation::Running) return cameraCentre[1];
  return visibleScene().center();
}

QRectF GraphView::Private::visibleScene() const {
  const QPointF corner(q->horizontalScrollBar()->value() / scale, q->verticalScrollBar()->value() / scale);
  return {corner, QSizeF(q->viewport()->size()) / scale};
}

void GraphView::Private::reveal(const Rect& box) {
  const double margin = 40 / scale;
  const QRectF seen = visibleScene().adjusted(margin, margin, -margin, -margin);
  const QRectF target(box.x, box.y, box.w, std::min(box.h, seen.height()));
  if (seen.contains(target) && detail != Detail::far) return;
  const double next = detail == Detail::far ? 0.9 : scale;
  moveCamera(next, target.center());
}

double GraphView::Private::fitScale() const {
  const Rect box = drawing.bounds();
  const QSizeF size = q->viewport()->size();
  constexpr double kMargin = 24;
  return std::clamp(std::min((size.width() - 2 * kMargin) / std::max(1.0, box.w),
                             (size.height() - 2 * kMargin) / std::max(1.0, box.h)),
                    kLeastScale, 1.5);
}

void GraphView::Private::showFirst() {
  // As large as reads well: the top, or everything where that fits.
  const double next = std::clamp(fitScale(), 0.85, 1.0);
  const Rect box = drawing.bounds();
  const double height = q->viewport()->height();
  const double y = box.h * next <= height ? (height - box.h * next) / 2 : 24;
  setCamera(next, QPointF(0, 0), QPointF(q->viewport()->width() / 2.0, y));
}

std::pair<int, int> GraphView::Private::groupsOf(const QString& scope) const {
  if (!drawing || scope.isEmpty()) return {-1, -1};
  if (const int exact = drawing.scene->group(scope.toStdString()); exact >= 0) return {exact, exact};
  const qsizetype dash = scope.lastIndexOf('-'), dot = scope.lastIndexOf('.');
  if (dash < dot || dot < 0) return {-1, -1};
  const int first = drawing.scene->group(scope.left(dash).toStdString());
  const int last = drawing.scene->group((scope.left(dot + 1) + scope.mid(dash + 1)).toStdString());
  return first >= 0 && last >= first ? std::pair(first, last) : std::pair(-1, -1);
}

void GraphView::Private::openAround(int group) {
  for (const int index : drawing.scene->chain(group))
    if (index > 0) open.insert(drawing.scene->groups[at(index)].path);
}

void GraphView::Private::openGroup(int group) {
  constexpr int kSmall = 40;  // nodes: a layer opens with what is in it, but folds and opens as it was later
  const SceneGraph& scene = *drawing.scene;
  const SceneGroup& wanted = scene.groups[at(group)];
  open.insert(wanted.path);
  if (!onceOpened.insert(wanted.path).second || wanted.nodeCount() > kSmall) return;
  for (const SceneChild& child : wanted.children)
    if (child.isGroup) openGroup(child.index);
}

void GraphView::Private::setSelection(NodeId node, const std::string& scope) {
  selectedNode = node;
  selectedScope = scope;
  if (drawing) {
    const SceneNode* found = node.valid() ? drawing.scene->find(node) : nullptr;
    marks.node = found ? found->position : -1;
    std::tie(marks.group, marks.lastGroup) = groupsOf(QString::fromStdString(scope));
  }
  updateBreadcrumb();
  q->viewport()->update();
}

void GraphView::Private::notifySelection() {
  if (selectedNode.valid())
    emit q->nodeSelected(selectedNode);
  else if (!selectedScope.empty())
    emit q->scopeSelected(QString::fromStdString(selectedScope));
  else
    emit q->selectionCleared();
}

void GraphView::Private::updateBreadcrumb() {
  QStringList parts, scopes;
  if (drawing) {
    parts << (name.isEmpty() ? tr("graph") : name);
    scopes << QString();
    const int inner = marks.node >= 0 ? drawing.scene->nodes[at(marks.node)].group : marks.group;
    for (const int index : drawing.scene->chain(inner)) {
      if (index == 0) continue;
      const SceneGroup& group = drawing.scene->groups[at(index)];
      const bool stack = index == marks.group && marks.lastGroup > marks.group;
      parts << (stack ? QString::fromStdString(group.name) + QStringLiteral("–") +
                            QString::number(drawing.scene->groups[at(marks.lastGroup)].number)
                      : QString::fromStdString(group.name));
      scopes << (stack ? QString::fromStdString(selectedScope) : QString::fromStdString(group.path));
    }
    if (marks.node >= 0) {
      parts << QString::fromStdString(drawing.scene->nodes[at(marks.node)].name);
      scopes << QString();
    }
  }
  breadcrumb->setParts(parts, scopes);
}

void GraphView::Private::refreshOverlays() {
  const bool scaleKnown = drawing && heat.mode() != HeatMode::off && heat.high() > 0;
  legend->setVisible(scaleKnown);
  if (scaleKnown) legend->setScale(heat.title(), heat.ticks(), heat.isLogarithmic());
  minimap->setVisible(bool(drawing));
  breadcrumb->setVisible(bool(drawing));
  minimap->refresh();
}

void GraphView::Private::placeOverlays() {
  const int width = q->width(), height = q->height();
  breadcrumb->move(10, 6);
  legend->resize(legend->sizeHint());
  legend->move(12, height - legend->height() - 12);
  minimap->resize(minimap->sizeHint());
  minimap->move(width - minimap->width() - 12, height - minimap->height() - 12);
  const bool roomy = width > 3 * minimap->width() && height > 2 * minimap->height();
  minimap->setVisible(roomy && bool(drawing));
  minimap->setView(visibleScene());
}

void GraphView::Private::heatChanged() {
  if (!repaint.isActive()) repaint.start();
  if (!digits.isActive()) digits.start();
}

void GraphView::Private::fadeFromNow() {
  if (reducedMotion || !q->isVisible()) return;
  faded = QPixmap(q->viewport()->size() * q->devicePixelRatioF());
  faded.setDevicePixelRatio(q->devicePixelRatioF());
  q->viewport()->render(&faded, {}, {}, {});
  fade.stop();
}

}  // namespace orrery::ui
