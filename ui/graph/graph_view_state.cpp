// The view's inner steps: layouts that arrive, what is chosen, what floats above.
#include <QGraphicsScene>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
namespace {

constexpr int kMotion = 180;  // ms
constexpr int kHeatMilliseconds = 100;
size_t at(int index) { return static_cast<size_t>(index); }

}  // namespace

GraphView::Private::Private(GraphView* view, const Theme& look)
    : q(view),
      theme(look),
      painter(look),
      breadcrumb(new Breadcrumb(look, view)),
      legend(new Legend(look, view)),
      deviceLegend(new DeviceLegend(look, view)),
      wireLegend(new WireLegend(look, view)),
      hints(new KeyHints(look, view)),
      minimap(new Minimap(look, view)),
      divergenceCard(new DivergenceCard(look, view)),
      worker(std::make_unique<LayoutWorker>(view, painter.textWidths(),
                                            [this](LayoutReply reply) { show(std::move(reply)); })) {
  clock.start();
  repaint.setSingleShot(true);
  bar.setInterval(33);
  settled.setSingleShot(true);
  settled.setInterval(300);
  QObject::connect(&settled, &QTimer::timeout, q, [this] {
    if (plan.columns == 0) relayoutPages(PagePlan::Change::resized);
  });
  QObject::connect(&repaint, &QTimer::timeout, q, [this] {
    repaintedAt = clock.elapsed();
    q->viewport()->update();
    refreshOverlays();
  });
  QObject::connect(&bar, &QTimer::timeout, q, [this] { q->viewport()->update(); });
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
    figuresChanged();
    refreshOverlays();
    minimap->refresh();
    q->viewport()->update();
  });
  for (const FloatingCard* card :
       {static_cast<FloatingCard*>(legend), static_cast<FloatingCard*>(deviceLegend),
        static_cast<FloatingCard*>(wireLegend)})
    QObject::connect(card, &FloatingCard::closeAsked, q,
                     [this] { showOverlays(overlays & ~Overlays(Overlay::legend)); });
  QObject::connect(minimap, &FloatingCard::closeAsked, q,
                   [this] { showOverlays(overlays & ~Overlays(Overlay::minimap)); });
  QObject::connect(minimap, &Minimap::goTo, q, [this](const QPointF& point) {
    touched = true;
    fitted = false;
    setCamera(scale, point, QRectF(q->viewport()->rect()).center());
  });
  QObject::connect(divergenceCard, &QAbstractButton::clicked, q, [this] {
    if (!divergence) return;
    q->select(divergence->node);
    notifySelection();
  });
  minimap->setPainter([this](QPainter& p, double s) {
    PaintJob whole = job(QRectF());
    whole.visible = drawing.bounds();
    whole.detail = Detail::far;
    whole.blocks = true;
    whole.scale = s;
    painter.paint(p, whole);
  });
  placeOverlays();
}

void GraphView::Private::forget() {
  everShown = touched = false;
  open.clear();
  onceOpened.clear();
  openedByFind.clear();
  selected = {};
  alsoSelected.clear();
  anchor.reset();
  revealAfter.reset();
  plan.pages.clear();
  litShape = -1;
  fitted = false;
  heat.setFigures({});
  editor->forget();
}

void GraphView::Private::relayout(bool newScene, bool choose) {
  LayoutRequest request;
  if (newScene || !drawing)
    request.graph = graph;
  else
    request.scene = drawing.scene;
  request.bindings = bindings;
  constexpr double kMargin = 24;  // as around all of it when it fits
  plan.viewWidth = q->viewport()->width() - 2 * kMargin;
  plan.viewHeight = q->viewport()->height() - 2 * kMargin;
  request.plan = plan;
  request.open = open;
  request.choose = choose;
  request.arrangement = arrangement;
  if (everShown) request.before = drawing;
  worker->request(std::move(request));
}

void GraphView::Private::show(LayoutReply reply) {
  const bool fresh = reply.drawing.scene != drawing.scene;
  const bool newPage = std::any_of(reply.plan.pages.begin(), reply.plan.pages.end(),
                                   [this](const auto& page) { return !plan.pages.contains(page.first); });
  const bool otherPages = reply.plan.pages != plan.pages;
  plan.pages = std::move(reply.plan.pages);
  plan.change = PagePlan::Change::keep;
  if (fresh && everShown && !anchor) anchorAt(marks.group, marks.node);
  drawing = std::move(reply.drawing);
  open = std::move(reply.open);
  arrangement = std::move(reply.arrangement);
  if (fresh) {
    heat.setScene(drawing.scene);
    places.setScene(drawing.scene, bindings);
    if (!needle.isEmpty()) search();
  }
  drawing.blocks = blocks;
  pages.setDrawing(drawing, edits);
  figuresChanged();
  restoreMarks();
  editor->sceneChanged();
  const Rect bounds = drawing.bounds();
  minimap->setBounds(QRectF(bounds.x, bounds.y, bounds.w, bounds.h));
  if (!everShown) {
    everShown = true;
    showFirst();
  } else if (newPage || (fitted && otherPages)) {
    showWhole();  // nothing is where it was
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
  if (!faded.isNull() && !reducedMotion) fade.start();
  q->viewport()->update();
  if (otherPages) emit q->pagesChanged();
  emit q->layoutFinished();
}

void GraphView::Private::figuresChanged() { pages.setFigures(heat); }

void GraphView::Private::restoreMarks() {
  if (!drawing) return;
  const SceneGraph& scene = *drawing.scene;
  editedBefore.assign(scene.nodes.size() + 1, 0);
  for (size_t i = 0; i < scene.nodes.size(); ++i)
    editedBefore[i + 1] = editedBefore[i] + (edited.contains(scene.nodes[i].id) ? 1 : 0);
  marks.hover = {};
  if (selected.node.valid() && !scene.find(selected.node)) selected = {};
  markSelection();
}

void GraphView::Private::anchorAt(int group, int node) {
  if (!drawing) return;
  touched = true;
  anchor.reset();
  const auto box = node >= 0 ? boxOfNode(drawing, node) : boxOfGroup(drawing, group);
  if (!box || (node < 0 && group <= 0)) return;
  anchor = Anchor{node < 0 ? drawing.scene->groups[at(group)].path : std::string(),
                  node >= 0 ? drawing.scene->nodes[at(node)].id : NodeId{},
                  QPointF(q->mapFromScene(QPointF(box->x + box->w / 2, box->y)))};
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
      parts << QString::fromStdString(
          foldedName(group, stack ? drawing.scene->groups[at(marks.lastGroup)] : group));
      scopes << (stack ? selected.scope : QString::fromStdString(group.path));
    }
    if (marks.node >= 0) {
      parts << QString::fromStdString(drawing.scene->nodes[at(marks.node)].name);
      scopes << QString();
    }
  }
  breadcrumb->setParts(parts, scopes);
}

void GraphView::Private::refreshOverlays() {
  scaled = drawing && heat.mode() != HeatMode::off && heat.high() > 0;
  if (scaled && heat.mode() == HeatMode::ratio)
    legend->setRatio(heat.ends(), heat.ticks());
  else if (scaled)
    legend->setScale(heat.title(), heat.ticks(), heat.isLogarithmic());
  deviceLegend->setShown(drawing ? places.devices() : QStringList(), places.anyFellBack());
  minimap->refresh();
  placeOverlays();
}

/// Where we are at the top, the colours at the foot, the devices above them, the minimap opposite.
void GraphView::Private::placeOverlays() {
  constexpr int kMargin = 12, kGap = 8;
  const int width = q->width(), height = q->height();
  for (QWidget* card : {static_cast<QWidget*>(legend), static_cast<QWidget*>(deviceLegend),
                        static_cast<QWidget*>(wireLegend), static_cast<QWidget*>(minimap)})
    card->resize(card->sizeHint());
  const auto fits = [&](const QWidget* card, int across) {
    return bool(drawing) && width > across * card->width() && height > 2 * card->height();
  };
  legend->setVisible(overlays.testFlag(Overlay::legend) && scaled && fits(legend, 2));
  deviceLegend->setVisible(overlays.testFlag(Overlay::legend) && deviceLegend->tellsAnything() &&
                           fits(deviceLegend, 2));
  minimap->setVisible(overlays.testFlag(Overlay::minimap) && fits(minimap, 3));
  legend->move(kMargin, height - legend->height() - kMargin);
  const int foot = legend->isVisibleTo(q) ? legend->y() - kGap : height - kMargin;
  deviceLegend->move(kMargin, foot - deviceLegend->height());
  wireLegend->setVisible(overlays.testFlag(Overlay::legend) && wireLegend->tellsAnything() &&
                         fits(wireLegend, 2));
  const int above = deviceLegend->isVisibleTo(q) ? deviceLegend->y() - kGap : foot;
  wireLegend->move(kMargin, above - wireLegend->height());
  minimap->move(width - minimap->width() - kMargin, height - minimap->height() - kMargin);
  minimap->setView(visibleScene());
  placeDivergence();
  breadcrumb->setVisible(bool(drawing));
  breadcrumb->move(10, 6);
  constexpr int kLeastPath = 320;  // pixels, beside which the keys are told
  hints->resize(hints->sizeHint());
  hints->move(width - hints->width(), 8);
  hints->setVisible(bool(drawing) && !hints->empty() && !divergenceCard->isVisibleTo(q) &&
                    width > hints->width() + kLeastPath);
  const int right = divergenceCard->isVisibleTo(q) ? divergenceCard->x()
                    : hints->isVisibleTo(q)        ? hints->x()
                                                   : width;
  breadcrumb->setRoom(right - breadcrumb->x() - kGap);
}

std::vector<const QWidget*> GraphView::Private::cards() const {
  std::vector<const QWidget*> shown;
  for (const QWidget* card :
       {static_cast<const QWidget*>(breadcrumb), static_cast<const QWidget*>(legend),
        static_cast<const QWidget*>(deviceLegend), static_cast<const QWidget*>(wireLegend),
        static_cast<const QWidget*>(minimap), static_cast<const QWidget*>(divergenceCard)})
    if (card->isVisibleTo(q)) shown.push_back(card);
  return shown;
}

void GraphView::Private::showOverlays(Overlays shown) {
  q->setOverlays(shown);
  emit q->overlaysChanged(shown);
}

void GraphView::Private::moveBar() {
  const bool wanted = running && heat.slow() && !reducedMotion;
  if (wanted != bar.isActive()) wanted ? bar.start() : bar.stop();
}

void GraphView::Private::heatChanged() {
  if (!repaint.isActive())  // at once where the last is long ago, with whatever else is painted now
    repaint.start(static_cast<int>(std::max<qint64>(0, repaintedAt + kHeatMilliseconds - clock.elapsed())));
}

void GraphView::Private::fadeFromNow() {
  if (reducedMotion || !q->isVisible()) return;
  faded = QPixmap(q->viewport()->size() * q->devicePixelRatioF());
  faded.setDevicePixelRatio(q->devicePixelRatioF());
  q->viewport()->render(&faded, {}, {}, {});
  fade.stop();
}

}  // namespace orrery::ui
