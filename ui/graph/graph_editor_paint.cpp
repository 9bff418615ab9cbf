// What the editor draws over the scene.
#include <algorithm>

#include "ui/graph/edit_desk.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wire_route.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

class Overlay {
 public:
  Overlay(const EditDesk& desk, QPainter& painter) : d_(desk), layer_(desk.layer), painter_(painter) {
    const QRectF seen = desk.view->visibleScene();
    visible_ = Rect{seen.x(), seen.y(), seen.width(), seen.height()}.grown(40);
  }

  void paint() {
    for (const FrameMark& frame : d_.frames)
      if (frame.box.intersects(visible_)) layer_.paintFrame(painter_, frame, false);
    paintGhosts();
    for (const NoteMark& note : d_.notes)
      if (note.box.intersects(visible_)) layer_.paintNote(painter_, note);
    for (const NodeId id : d_.pending) paintPending(id);
    paintSelection();
    paintDrafts();
    if (d_.near()) paintPorts();
    paintTried();
    if (d_.dropWire) paintTarget(*d_.dropWire);
    if (d_.spot && d_.spot->giver) paintOpening();
    if (d_.wireFrom && d_.focusPort)
      layer_.paintDrag(painter_, d_.routeTo(*d_.wireFrom, d_.focusPort->at, &*d_.focusPort), false);
    if (d_.gesture) d_.gesture->paint(painter_);
  }

 private:
  void paintGhosts() {
    if (!d_.diff || d_.view->detail == Detail::far) return;
    const SceneGraph& scene = *d_.view->drawing.scene;
    for (const NodeId id : d_.diff->removed) {
      const SceneNode* node = scene.find(id);
      if (!node || node->id != id) continue;
      const Hit thing = describeAt(d_.view->drawing, node->position, -1);
      if (!thing.box.intersects(visible_)) continue;
      if (thing.kind == Hit::Kind::node)
        layer_.paintGhost(painter_, thing.box, text(node->name), node->family, text(node->op));
      else if (allRemoved(thing))
        layer_.paintGhost(painter_, thing.box,
                          text(foldedName(scene.groups[at(thing.group)], scene.groups[at(thing.lastGroup)])),
                          node->family, GraphEditor::tr("all of it"));
    }
  }
  bool allRemoved(const Hit& thing) const {
    const SceneGraph& scene = *d_.view->drawing.scene;
    for (int i = scene.groups[at(thing.group)].begin; i < scene.groups[at(thing.lastGroup)].end; ++i)
      if (!d_.diff->removed.contains(scene.nodes[at(i)].id)) return false;
    return true;
  }

  void paintPending(NodeId id) {
    const SceneNode* node = d_.view->drawing.scene->find(id);
    const auto box = node ? boxOfNode(d_.view->drawing, node->position) : std::nullopt;
    if (box && box->intersects(visible_) && d_.view->detail != Detail::far)
      layer_.paintPending(painter_, *box);
  }

  void paintSelection() {
    if (d_.gesture || d_.chosenCount() < 2) return;
    if (const auto bounds = d_.boundsOf(d_.chosenThings)) layer_.paintSelection(painter_, bounds->grown(6));
  }

  void paintDrafts() {
    for (const Draft& draft : d_.drafts.all()) {
      const Rect box = d_.boxOfDraft(draft);
      QStringList missing;
      for (const std::string& what : d_.drafts.missing(*d_.model(), draft)) missing << text(what);
      for (size_t i = 0; i < draft.inputs.size(); ++i) paintDraftWire(draft, i);
      if (box.intersects(visible_))
        layer_.paintDraft(painter_, draft, box, missing, draft.id == d_.chosenDraft);
      for (const Port& port : d_.portsOfDraft(draft))
        layer_.paintPort(painter_, port, port.open() ? PortLook::open : PortLook::plain);
    }
  }

  void paintDraftWire(const Draft& draft, size_t input) {
    if (draft.inputs[input].empty()) return;
    std::optional<Point> from;
    if (const Draft* other = d_.drafts.making(draft.inputs[input])) {
      const Rect box = d_.boxOfDraft(*other);
      from = Point{box.x + box.w / 2, box.bottom()};
    } else if (const ValueId value = findValue(*d_.model(), draft.inputs[input]); value.valid()) {
      const graph::Node& producer = d_.model()->node(d_.model()->value(value).producer);
      const SceneGraph& scene = *d_.view->drawing.scene;
      const SceneNode* node = scene.draws(producer.id) ? scene.find(producer.id) : nullptr;
      const auto box = node ? boxOfNode(d_.view->drawing, node->position) : std::nullopt;
      if (box) from = Point{box->x + box->w / 2, box->bottom()};
    }
    if (!from) return;
    for (const Port& port : d_.portsOfDraft(draft))
      if (port.kind == Port::Kind::input && at(port.place) == input)
        layer_.paintTarget(painter_,
                           routeWire({*from, WireEnd::Way::down}, {port.at, WireEnd::Way::up},
                                     d_.boxesAround(d_.boxOfDraft(draft).grown(200))),
                           true);
  }

  QColor colorOfPort(const Port& port) const {
    if (!d_.byType || !port.value.valid()) return {};
    const graph::Value* value = d_.view->drawing.scene->graph->find_value(port.value);
    return value ? colorOf(carriedType(value->type.dtype), d_.view->theme) : QColor();
  }

  void paintPorts() {
    const auto paintAll = [&](const std::vector<Port>& ports, PortLook look) {
      for (const Port& port : ports) {
        if (port.kind == Port::Kind::source && !d_.gesture && look != PortLook::hovered) continue;
        layer_.paintPort(painter_, port, port.open() ? PortLook::open : look,
                         port.open() ? QColor() : colorOfPort(port));
      }
    };
    paintAll(d_.chosenPorts, PortLook::selected);
    if (d_.chosenPorts.empty() || d_.hoverPorts.empty() ||
        d_.hoverPorts.front().thing != d_.chosenPorts.front().thing)
      paintAll(d_.hoverPorts, PortLook::hovered);
    if (d_.wireFrom) layer_.paintPort(painter_, *d_.wireFrom, PortLook::from);
    if (d_.focusPort)
      layer_.paintPort(painter_, *d_.focusPort,
                       d_.wireFrom && d_.tried ? PortLook::refuses : PortLook::focused);
    const std::optional<Port>& told = d_.focusPort ? d_.focusPort : d_.hoverPort;
    if (told && !d_.gesture) layer_.paintChip(painter_, *told, d_.portWords(*told));
  }

  void paintTried() {
    if (!d_.tried || d_.gesture) return;
    if (!d_.tried->wire.empty()) layer_.paintTry(painter_, d_.tried->wire);
    if (d_.tried->box.h > 8) layer_.paintErrorOutline(painter_, d_.tried->box);
    if (d_.tried->port) layer_.paintPort(painter_, *d_.tried->port, PortLook::refuses);
  }

  void paintTarget(const Hit& hit) {
    const PlacedWire* wire = wireOf(d_.view->drawing, hit);
    if (!wire) return;
    std::vector<Point> points = wire->points;
    const Point origin = laidOut(d_.view->drawing, hit.holder).origin;
    for (Point& point : points) point = {point.x + origin.x, point.y + origin.y};
    layer_.paintTarget(painter_, points, true);
  }

  /// The wire stays drawn to where the palette stands.
  void paintOpening() {
    const Port& giver = *d_.spot->giver;
    layer_.paintDrag(painter_, d_.routeTo(giver, d_.spot->at, nullptr), true);
    layer_.paintPort(painter_, giver, PortLook::from);
  }

  const EditDesk& d_;
  const EditLayer& layer_;
  QPainter& painter_;
  Rect visible_;
};

}  // namespace

void GraphEditor::paint(QPainter& painter) {
  const EditDesk& d = *d_;
  if (!d.model()) return;
  if (editable() && d.model()->order().empty() && d.drafts.all().empty() && !d.palette->isVisible())
    d.layer.paintBeginning(painter, d.view->q->viewport()->rect(), tr("An empty graph"),
                           {tr("Tab or a double click: put down an input, then ops that read it"),
                            tr("Drag from port to port: a wire"),
                            tr("The page Values gives the inputs numbers and runs it (F5)")});
  if (!d.view->drawing) return;
  Overlay(d, painter).paint();
}

}  // namespace orrery::ui
