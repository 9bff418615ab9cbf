// What stands around the drawing in the view: the strip under it, the step at its right.
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/graph/graph_view_private.h"
#include "ui/graph/scene_graph.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kGap = 5;  // as between the docks

/// Of an open layer's rows: how wide each is, and the hottest of its nodes.
struct Row {
  double width = 0, heat = std::nan("");
};

void addRows(const SceneGraph& scene, int group, const GroupLayout& layout, double top, int begin,
             const PageShape& shape, std::map<int, Row>& rows) {
  for (const Placed& placed : layout.items) {
    const double y = top + placed.box.y;
    if (placed.kind == Placed::Kind::open) {
      addRows(scene, scene.groups[at(group)].children[at(placed.first)].index, *placed.inner, y, begin, shape,
              rows);
      continue;
    }
    Row& row = rows[static_cast<int>(std::lround(y))];
    row.width += placed.box.w;
    const Span span = spanOf(scene, scene.groups[at(group)], placed);
    for (int position = span.begin; position < span.end; ++position)
      row.heat = std::fmax(row.heat, shape.medians[at(position - begin)]);
  }
}

}  // namespace

void GraphView::Private::makeStrips() {
  QObject::connect(strip->legend(), &Legend::logarithmicChanged, q, [this](bool logarithmic) {
    heat.setLogarithmic(logarithmic);
    figuresChanged();
    refreshStrips();
    q->viewport()->update();
  });
  QObject::connect(strip->shapes(), &ShapeList::chosen, q, [this](int shape) { lightShape(shape); });
  QObject::connect(strip->minimap(), &Minimap::closeAsked, q,
                   [this] { showParts(parts & ~Parts(Part::minimap)); });
  QObject::connect(strip->minimap(), &Minimap::goTo, q, [this](const QPointF& point) {
    touched = true;
    fitted = false;
    setCamera(scale, point, QRectF(q->viewport()->rect()).center());
  });
  strip->minimap()->setPainter([this](QPainter& p, double s) {
    PaintJob whole = job(QRectF());
    whole.visible = drawing.bounds();
    whole.detail = Detail::far;
    whole.blocks = true;
    whole.scale = s;
    painter.paint(p, whole);
  });
  QObject::connect(step, &StepStrip::hovered, q, [this](int group, int node) { hoverStep(group, node); });
  QObject::connect(step, &StepStrip::chosen, q, [this](int group, int node) {
    if (!drawing) return;
    if (node >= 0)
      q->select(drawing.scene->nodes[at(node)].id);
    else if (group >= 0)
      q->selectScope(QString::fromStdString(drawing.scene->groups[at(group)].path));
    notifySelection();
  });
  placeStrips();
}

void GraphView::Private::refreshStrips() {
  fillLegend(*strip->legend());
  refreshShapes();
  strip->devices()->setShown(drawing ? places.devices() : QStringList(), places.anyFellBack());
  const int columns = q->pageSize().columns;
  strip->minimap()->setWords(columns > 0 ? tr("Page") : tr("Map"),
                             columns > 0 ? format::counted(columns, QStringLiteral("column")) : QString());
  strip->minimap()->refresh();
  step->setParts(drawing ? stepParts(*drawing.scene, heat, pages) : std::vector<StepPart>(),
                 heat.mode() == HeatMode::ratio);
  refreshMarks();
  placeStrips();
}

void GraphView::Private::fillLegend(Legend& legend) const {
  const bool scaled = drawing && heat.mode() != HeatMode::off && heat.high() > 0;
  if (scaled && heat.mode() == HeatMode::ratio)
    legend.setRatio(heat.ends(), heat.ticks());
  else if (scaled)
    legend.setScale(heat.title(), heat.ticks(), heat.isLogarithmic());
  else if (heat.mode() == HeatMode::off)
    legend.setNone(tr("Families"), tr("Colours are those of the ops' families"));
  else
    legend.setNone(heat.title(), tr("Measured when it runs"));
}

void GraphView::Private::refreshShapes() {
  strip->shapes()->setEntries(shapeEntries(pages, theme));
  strip->shapes()->setLit(litShape);
  strip->setPaged(!pages.empty());
}

/// The usual shape first, then the others, then what is folded.
std::vector<ShapeList::Entry> GraphView::Private::shapeEntries(const PageModel& of, const Theme& look) const {
  std::vector<ShapeList::Entry> entries;
  const auto nameOf = [&of](const std::vector<int>& layers, const QString& several) {
    return layers.size() == 1 ? of.layers()[at(layers.front())].name
                              : QStringLiteral("%1 ").arg(layers.size()) + several;
  };
  for (const bool usual : {true, false})
    for (size_t i = 0; i < of.shapes().size(); ++i) {
      const PageShape& shape = of.shapes()[i];
      if (shape.usual != usual) continue;
      const bool placed = !shape.where.isEmpty() && !shape.edited;
      entries.push_back({nameOf(shape.layers, tr("alike")),
                         usual    ? shape.type
                         : placed ? shape.word + ' ' + shape.where
                                  : shape.word,
                         barsOf(of, shape, look), static_cast<int>(i), usual, shape.edited, false});
    }
  std::vector<int> folded;
  for (size_t i = 0; i < of.layers().size(); ++i)
    if (of.layers()[i].group >= 0 && !of.layers()[i].open) folded.push_back(static_cast<int>(i));
  if (folded.empty()) return entries;
  const int shape = of.layers()[at(folded.front())].shape;
  const bool usual = of.shapes()[at(shape)].usual;
  entries.push_back({nameOf(folded, tr("layers")),
                     usual ? tr("alike, folded") : tr("folded"),
                     {},
                     shape,
                     usual,
                     false,
                     true});
  return entries;
}

/// The rows of the first open layer of the shape, each in the colour of its hottest op.
std::vector<ShapeList::Bar> GraphView::Private::barsOf(const PageModel& of, const PageShape& shape,
                                                       const Theme& look) const {
  std::vector<ShapeList::Bar> bars;
  for (const int layer : shape.layers) {
    const auto inner = of.innerOf(of.layers()[at(layer)]);
    if (!inner) continue;
    const int group = of.layers()[at(layer)].group;
    std::map<int, Row> rows;
    addRows(*drawing.scene, group, *inner, 0, drawing.scene->groups[at(group)].begin, shape, rows);
    for (const auto& [y, row] : rows) {
      const QColor color = std::isnan(row.heat)             ? look(Token::borderStrong)
                           : heat.mode() == HeatMode::ratio ? look.ratio(8 * row.heat - 4)
                                                            : look.heat(row.heat);
      bars.push_back({row.width / (inner->halfWidth * 2), color});
    }
    break;
  }
  return bars;
}

void GraphView::Private::lightShape(int shape) {
  litLayer.clear();
  if (shape >= 0) {
    const int group = pages.layers()[at(pages.shapes()[at(shape)].layers.front())].group;
    litLayer = drawing.scene->groups[at(group)].path;
  }
  litShape = shape;
  strip->shapes()->setLit(shape);
  q->viewport()->update();
}

std::optional<Span> GraphView::Private::spanOfChosen() const {
  if (!drawing) return std::nullopt;
  if (marks.node >= 0) return Span{marks.node, marks.node + 1};
  if (marks.group <= 0) return std::nullopt;
  return Span{drawing.scene->groups[at(marks.group)].begin, drawing.scene->groups[at(marks.lastGroup)].end};
}

std::optional<Span> GraphView::Private::spanOfHover() const {
  const Hit& hover = marks.hover;
  if (!drawing || hover.kind == Hit::Kind::wire) return std::nullopt;
  if (hover.node >= 0) return Span{hover.node, hover.node + 1};
  if (hover.group <= 0) return std::nullopt;
  return Span{drawing.scene->groups[at(hover.group)].begin,
              drawing.scene->groups[at(std::max(hover.group, hover.lastGroup))].end};
}

void GraphView::Private::refreshMarks() { step->setMarks(spanOfChosen(), spanOfHover()); }

/// What the pointer is on in the step is so in the drawing, as far as it is seen there.
void GraphView::Private::hoverStep(int group, int node) {
  Hit hit;
  if (drawing && node >= 0) {
    hit.kind = Hit::Kind::node;
    hit.node = node;
  } else if (drawing && group >= 0) {
    hit.kind = Hit::Kind::open;
    hit.group = hit.lastGroup = group;
  }
  marks.hover = hit;
  refreshMarks();
  q->viewport()->update();
}

/// Room is left for the strips where the view is large enough for them and the drawing.
void GraphView::Private::placeStrips() {
  const int high = qRound(theme.scaled(kStripHeight)), wide = qRound(theme.scaled(kStepWidth));
  const bool under = drawing && parts.testFlag(Part::strip) && q->height() >= 3 * high;
  const bool beside = drawing && parts.testFlag(Part::step) && q->width() >= 7 * wide;
  const int below = under ? high + kGap : 0, aside = beside ? wide + kGap : 0;
  if (q->viewportMargins() != QMargins(0, 0, aside, below)) q->setViewportMargins(0, 0, aside, below);
  strip->setVisible(under);
  strip->setGeometry(0, q->height() - high, q->width(), high);
  strip->setMinimapShown(parts.testFlag(Part::minimap));
  step->setVisible(beside);
  step->setGeometry(q->width() - wide, 0, wide, q->height() - below);
  strip->minimap()->setView(visibleScene());
  placeDivergence();
  placeHints();
}

/// At the upper right corner of the drawing, where nothing else is.
void GraphView::Private::placeHints() {
  const int width = q->viewport()->width();
  hints->resize(hints->sizeHint());
  hints->move(width - hints->width(), 8);
  hints->setVisible(drawing && !hints->empty() && !divergenceCard->isVisibleTo(q) &&
                    width > 2 * hints->width());
}

void GraphView::Private::showParts(Parts shown) {
  q->setParts(shown);
  emit q->partsChanged(shown);
}

}  // namespace orrery::ui
