// The editor's desk: where things are and what is chosen.
#include "ui/graph/edit_desk.h"

#include <algorithm>
#include <set>

#include "ui/graph/scene_graph.h"
#include "ui/graph/wire_route.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

constexpr double kDraftPort = 30;  // between a draft's inputs

WireEnd::Way wayOf(const Port& port) {
  switch (port.side) {
    case Port::Side::foot:
      return WireEnd::Way::down;
    case Port::Side::left:
      return WireEnd::Way::left;
    case Port::Side::right:
      return WireEnd::Way::right;
    case Port::Side::top:
      break;
  }
  return WireEnd::Way::up;
}

}  // namespace

EditDesk::EditDesk(GraphEditor* editor, GraphView* owner)
    : q(editor),
      view(owner->d_.get()),
      layer(view->theme),
      refusalCard(new RefusalCard(view->theme, owner)),
      wireCard(new WireCard(view->theme, owner)),
      palette(new PickPalette(view->theme, owner)),
      field(new InlineField(view->theme, owner)),
      bar(new SelectionBar(view->theme, owner)) {}

QPointF EditDesk::toView(Point point) const {
  return (QPointF(point.x, point.y) - view->visibleScene().topLeft()) * view->scale;
}

Hit EditDesk::hitAt(QPointF position) const { return view->hitAt(position); }

std::vector<Port> EditDesk::portsNear(Point point, double within) const {
  std::vector<Port> ports;
  for (const Hit& thing : thingsNear(view->drawing, point, within))
    for (Port& port : portsOf(view->drawing, thing)) ports.push_back(std::move(port));
  for (const Draft& draft : drafts.all())
    if (boxOfDraft(draft).grown(within).contains(point))
      for (Port& port : portsOfDraft(draft)) ports.push_back(std::move(port));
  return ports;
}

std::optional<Port> EditDesk::portAt(QPointF position) const {
  if (!near() || !view->drawing) return std::nullopt;
  const Point point = toScene(position);
  const std::vector<Port> ports = portsNear(point, reach(kHitPort));
  const Port* port = nearest(ports, point, reach(kHitPort));
  return port ? std::optional(*port) : std::nullopt;
}

Rect EditDesk::boxOfDraft(const Draft& draft) const {
  const LaidOut frame =
      view->drawing ? laidOut(view->drawing, view->drawing.scene->group(draft.scope)) : LaidOut{};
  return draft.box.moved(frame.origin.x, frame.origin.y);
}

const Draft* EditDesk::draftAt(Point point) const {
  for (const Draft& draft : drafts.all())
    if (boxOfDraft(draft).contains(point)) return &draft;
  return nullptr;
}

std::vector<Port> EditDesk::portsOfDraft(const Draft& draft) const {
  const Rect box = boxOfDraft(draft);
  std::vector<Port> ports;
  const auto add = [&](Port::Kind kind, Port::Side side, double x, double y, size_t place,
                       const std::string& name) {
    Port port;
    port.kind = kind;
    port.side = side;
    port.draft = draft.id;
    port.place = static_cast<int>(place);
    port.at = {x, y};
    port.name = name;
    ports.push_back(std::move(port));
  };
  const auto spread = [&](size_t index, size_t count) {
    const double apart = std::min(kDraftPort, box.w / static_cast<double>(count + 1));
    return box.x + box.w / 2 + apart * (static_cast<double>(index) - static_cast<double>(count - 1) / 2);
  };
  const graph::OpSchema& op = *draft.op;
  for (size_t i = 0; i < op.outputs.size(); ++i)
    add(Port::Kind::output, Port::Side::foot, spread(i, op.outputs.size()), box.bottom(), i, op.outputs[i]);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    add(Port::Kind::input, Port::Side::top, spread(i, op.inputs.size()), box.y, i, op.inputs[i].name);
    ports.back().optional = op.inputs[i].optional || op.inputs[i].variadic;
    ports.back().connected = !draft.inputs[i].empty();
  }
  return ports;
}

int EditDesk::groupAt(Point point) const {
  if (!view->drawing) return 0;
  int group = 0;
  Point origin;
  for (const GroupLayout* layout = view->drawing.layout.get(); layout;) {
    const GroupLayout* inner = nullptr;
    for (const Placed& placed : layout->items) {
      if (placed.kind != Placed::Kind::open || !placed.box.moved(origin.x, origin.y).contains(point))
        continue;
      group = view->drawing.scene->groups[at(group)].children[at(placed.first)].index;
      origin = innerOrigin(placed, origin);
      inner = placed.inner.get();
      break;
    }
    layout = inner;
  }
  return group;
}

std::string EditDesk::scopeAt(Point point, const std::string& otherwise) const {
  const int group = groupAt(point);
  return group > 0 ? view->drawing.scene->groups[at(group)].path : otherwise;
}

std::vector<Rect> EditDesk::boxesAround(const Rect& area) const {
  std::vector<Rect> boxes;
  for (const Hit& thing : thingsIn(view->drawing, area)) boxes.push_back(thing.box);
  return boxes;
}

Point EditDesk::freeBelow(Point top) const {
  constexpr double kStep = 50, kWide = 184, kHigh = 34, kClearing = 8;
  constexpr int kSteps = 40;
  for (int step = 0; step < kSteps; ++step, top.y += kStep) {
    const Rect place = Rect{top.x - kWide / 2, top.y, kWide, kHigh}.grown(kClearing);
    const auto& waiting = drafts.all();
    const bool taken = std::any_of(waiting.begin(), waiting.end(),
                                   [&](const Draft& draft) { return boxOfDraft(draft).intersects(place); });
    if (!taken && boxesAround(place).empty()) return top;
  }
  return top;
}

std::vector<Point> EditDesk::routeTo(const Port& from, Point to, const Port* target) const {
  const Rect span{std::min(from.at.x, to.x), std::min(from.at.y, to.y), std::abs(from.at.x - to.x),
                  std::abs(from.at.y - to.y)};
  return routeWire({from.at, wayOf(from)}, {to, target ? wayOf(*target) : WireEnd::Way::any},
                   boxesAround(span.grown(80)));
}

std::vector<std::string> EditDesk::chosenPaths() const {
  std::vector<std::string> paths;
  const graph::Graph* graph = model();
  for (const GraphView::Selected& one : view->q->selection()) {
    if (!one.scope.isEmpty()) paths.push_back(one.scope.toStdString());
    if (const graph::Node* node = graph && one.node.valid() ? graph->find(one.node) : nullptr)
      paths.push_back(node->path());
  }
  return paths;
}

void EditDesk::findChosen() {
  chosenThings.clear();
  if (!view->drawing) return;
  std::set<std::pair<int, int>> known;                                // several may be hidden by one
  for (const GraphView::Selected& selected : view->q->selection()) {  // not what is lit
    const Chosen one = view->chosenOf(selected);
    const Hit thing = describeAt(view->drawing, one.node, one.group);
    if (thing.kind != Hit::Kind::nothing && known.emplace(thing.holder, thing.item).second)
      chosenThings.push_back(thing);
  }
}

size_t EditDesk::chosenCount() const { return view->alsoSelected.size() + (view->selected.empty() ? 0 : 1); }

std::optional<Rect> EditDesk::boundsOf(const std::vector<Hit>& things) const {
  std::optional<Rect> bounds;
  for (const Hit& thing : things) {
    if (!bounds) {
      bounds = thing.box;
      continue;
    }
    const double x = std::min(bounds->x, thing.box.x), y = std::min(bounds->y, thing.box.y);
    bounds = Rect{x, y, std::max(bounds->right(), thing.box.right()) - x,
                  std::max(bounds->bottom(), thing.box.bottom()) - y};
  }
  return bounds;
}

QString EditDesk::chosenName() const {
  const std::vector<std::string> paths = chosenPaths();
  return paths.size() == 1 ? QString::fromStdString(paths.front())
                           : GraphEditor::tr("%1 things").arg(paths.size());
}

void EditDesk::begin(std::unique_ptr<Gesture> next) {
  forgetRefusal();
  wireCard->hide();
  wireTimer.stop();
  gesture = std::move(next);
  if (gesture) view->q->viewport()->setCursor(gesture->cursor());
  update();
}

}  // namespace orrery::ui
