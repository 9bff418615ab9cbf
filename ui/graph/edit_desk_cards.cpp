// The editor's desk: cards, where they stand and what they tell.
#include <algorithm>

#include "ui/graph/edit_desk.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/wires.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kGap = 12;
/// Beside the thing, and inside of the view.
void placeBeside(QWidget* card, const QRectF& thing, const QRect& room) {
  card->resize(card->sizeHint());
  QPoint corner(qRound(thing.right()) + kGap, qRound(thing.top()));
  if (corner.x() + card->width() > room.right()) corner.setX(qRound(thing.left()) - kGap - card->width());
  if (corner.x() < room.left()) corner = QPoint(qRound(thing.left()), qRound(thing.bottom()) + kGap);
  corner.setX(std::clamp(corner.x(), room.left(), std::max(room.left(), room.right() - card->width())));
  corner.setY(std::clamp(corner.y(), room.top(), std::max(room.top(), room.bottom() - card->height())));
  card->move(corner);
}

}  // namespace

void EditDesk::annotate() {
  frames = framesOf(view->drawing);
  notes = notesOf(view->drawing, *view->arrangement,
                  [this](const QString& words) { return layer.noteHeight(words); });
}

void EditDesk::tellLegend() const {
  view->strip->wires()->setShown(byType, diff != nullptr);
  view->strip->place();
  update();
}

void EditDesk::placeCards() {
  const QRect room = view->q->rect().adjusted(8, 8, -8, -8);
  refusalCard->setVisible(tried.has_value());
  if (tried) {
    const QPointF corner = toView({tried->box.x, tried->box.y});
    placeBeside(refusalCard, QRectF(corner, QSizeF(tried->box.w, tried->box.h) * view->scale), room);
    refusalCard->raise();
  }
  const bool several =
      q->editable() && !gesture && chosenCount() > 1 && !chosenThings.empty() && view->detail != Detail::far;
  bar->setVisible(several);
  if (!several) return;
  bar->setCount(chosenCount());
  bar->resize(bar->sizeHint());
  const Rect bounds = boundsOf(chosenThings)->grown(6);
  const QPointF foot = toView({bounds.x, bounds.bottom()});
  QPoint corner(qRound(foot.x()), qRound(foot.y()) + 4);
  corner.setX(std::clamp(corner.x(), room.left(), std::max(room.left(), room.right() - bar->width())));
  corner.setY(std::clamp(corner.y(), room.top(), std::max(room.top(), room.bottom() - bar->height())));
  bar->move(corner);
}

WireFacts EditDesk::factsOf(ValueId id, const QString& ends) const {
  const graph::Value& value = view->drawing.scene->graph->value(id);
  const double bytes = graph::bytes_of(value.type, view->bindings);
  WireFacts facts;
  facts.ends = ends;
  facts.shape = text(shapeText(value.type.shape, view->bindings));
  facts.dtype = text(std::string(name_of(value.type.dtype)));
  facts.bytes = bytes > 0 ? format::bytes(bytes) : QString();
  facts.kind = carriedType(value.type.dtype);
  if (rangeOf) facts.range = rangeOf(id);
  return facts;
}

void EditDesk::showWireCard() {
  const PlacedWire* wire = wireOf(view->drawing, wireHit);
  const LaidOut holder = laidOut(view->drawing, wireHit.holder);
  if (!wire || !holder || gesture) return;
  const SceneGraph& scene = *view->drawing.scene;
  const std::vector<ValueId> values = valuesOf(scene, wireHit.holder, *holder.layout, *wire);
  if (values.empty()) return;
  const graph::Graph& graph = *scene.graph;
  const QString from = text(graph.node(graph.value(values.front()).producer).name);
  QStringList to;
  for (const graph::Use& use : usesOf(scene, wireHit.holder, *holder.layout, *wire))
    if (const QString name = text(graph.node(use.node).name); !to.contains(name)) to << name;
  QString ends =
      to.isEmpty() ? GraphEditor::tr("%1 → result").arg(from) : from + QStringLiteral(" → ") + to.front();
  if (to.size() > 1) ends += GraphEditor::tr(" and %1 more").arg(to.size() - 1);
  WireFacts facts = factsOf(values.front(), ends);
  facts.more = static_cast<int>(values.size()) - 1;
  wireCard->setFacts(facts);
  placeBeside(wireCard, QRectF(pointer - QPointF(2, 2), QSizeF(4, 4)),
              view->q->rect().adjusted(8, 8, -8, -8));
  wireCard->show();
  wireCard->raise();
}

QString EditDesk::portWords(const Port& port) const {
  QString words = text(port.name);
  const auto type = port.gives() || port.draft == 0 ? typeOf(port) : std::nullopt;
  if (type) words += ' ' + text(shapeText(type->shape, view->bindings));
  if (const QString range = rangeOf && port.value.valid() ? rangeOf(port.value) : QString(); !range.isEmpty())
    words += QStringLiteral("  ") + range;
  if (port.open()) words += port.optional ? GraphEditor::tr(", optional") : GraphEditor::tr(", needed");
  return words;
}

}  // namespace orrery::ui
