// The view's inner steps: layouts that arrive, what stays as it was in them.
#include <QGraphicsScene>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
namespace {

constexpr int kMotion = 180;  // ms
constexpr int kHeatMilliseconds = 100;

}  // namespace

GraphView::Private::Private(GraphView* view, const Theme& look)
    : q(view),
      theme(look),
      painter(look),
      strip(new GraphStrip(look, view)),
      step(new StepStrip(look, view)),
      hints(new KeyHints(look, view)),
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
    refreshStrips();
  });
  QObject::connect(&bar, &QTimer::timeout, q, [this] { q->viewport()->update(); });
  for (QVariantAnimation* animation : {&camera, &fade, &motion.run}) {
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
  QObject::connect(&motion.run, &QVariantAnimation::valueChanged, q, [this] { q->viewport()->update(); });
  QObject::connect(&motion.run, &QVariantAnimation::finished, q, [this] {
    motion.from.clear();
    q->viewport()->update();
  });
  QObject::connect(&fade, &QVariantAnimation::finished, q, [this] { faded = {}; });
  QObject::connect(divergenceCard, &QAbstractButton::clicked, q, [this] {
    if (!divergence) return;
    q->select(divergence->node);
    notifySelection();
  });
  makeStrips();
  makeLens();
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
  litLayer.clear();
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
  const bool wasPaged = !pages.empty();
  const auto seen = otherPages ? layersOnScreen() : std::unordered_map<std::string, QPointF>();
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
  strip->minimap()->setBounds(QRectF(bounds.x, bounds.y, bounds.w, bounds.h));
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
  if (otherPages) beginMotion(wasPaged, seen);
  refreshStrips();
  if (!faded.isNull() && !reducedMotion) fade.start();
  q->viewport()->update();
  if (otherPages) emit q->pagesChanged();
  emit q->layoutFinished();
}

void GraphView::Private::figuresChanged() {
  pages.setFigures(heat);
  const int layer = drawing && !litLayer.empty() ? pages.layerOf(drawing.scene->group(litLayer)) : -1;
  litShape = layer < 0 ? -1 : pages.layers()[at(layer)].shape;
}

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

void GraphView::Private::tellPlace() {
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
  emit q->placeChanged(parts, scopes);
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
  const QRect all = q->viewport()->rect();
  QPixmap now(all.size() * q->devicePixelRatioF());
  now.setDevicePixelRatio(q->devicePixelRatioF());
  QPainter painter(&now);
  q->QGraphicsView::render(&painter, all, all);  // a widget's render() would lay out each hidden page first
  painter.end();
  faded = now;
  fade.stop();
}

}  // namespace orrery::ui
