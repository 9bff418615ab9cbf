// What the editor makes of pointer and keys, before the view does.
#include <QDropEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <algorithm>
#include <cmath>

#include "ui/graph/edit_desk.h"
#include "ui/graph/op_mime.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

constexpr double kNotch = 15;  // of a box's corner, pixels of the scene

const FrameMark* frameAt(const std::vector<FrameMark>& frames, Point point) {
  const auto found = std::find_if(frames.rbegin(), frames.rend(),
                                  [point](const FrameMark& one) { return one.header().contains(point); });
  return found == frames.rend() ? nullptr : &*found;
}

const NoteMark* noteAt(const std::vector<NoteMark>& notes, Point point) {
  const auto found = std::find_if(notes.rbegin(), notes.rend(),
                                  [point](const NoteMark& one) { return one.box.contains(point); });
  return found == notes.rend() ? nullptr : &*found;
}

/// The fixed end of a wire that is grabbed, and the end that comes off: the nearer one.
struct Grabbed {
  Port fixed;
  std::optional<Port> moved;
};
std::optional<Grabbed> grabWire(const EditDesk& desk, const Hit& hit, Point point) {
  const PlacedWire* wire = wireOf(desk.view->drawing, hit);
  const auto place = desk.spotOnWire(hit, point);
  const LaidOut holder = laidOut(desk.view->drawing, hit.holder);
  if (!wire || !place || place->readers.empty()) return std::nullopt;
  const Point end{wire->points.back().x + holder.origin.x, wire->points.back().y + holder.origin.y};
  Port reader = *place->giver;
  reader.kind = Port::Kind::input;
  reader.side = wire->atSide ? Port::Side::right : Port::Side::top;
  reader.at = end;
  reader.uses = place->readers;
  const graph::Node& first = desk.model()->node(reader.uses.front().node);
  const graph::InputSpec& spec =
      first.op->inputs[std::min(at(reader.uses.front().input), first.op->inputs.size() - 1)];
  reader.name = spec.name;
  reader.optional = spec.optional || spec.variadic;
  if (wire->to >= 0)
    reader.thing =
        describePlaced(*desk.view->drawing.scene, hit.holder, *holder.layout, wire->to, holder.origin);
  const double toEnd = std::hypot(point.x - end.x, point.y - end.y);
  const double toStart = std::hypot(point.x - place->giver->at.x, point.y - place->giver->at.y);
  if (toEnd <= toStart) return Grabbed{*place->giver, reader};
  return Grabbed{reader, std::nullopt};
}

}  // namespace

bool GraphEditor::beginDrag(const QPoint& pressed, const QPoint& now, Qt::KeyboardModifiers keys) {
  EditDesk& d = *d_;
  if (!editable() || !d.view->drawing) return false;
  const Point point = d.toScene(pressed);
  if (d.cutting) {
    d.begin(cutStroke(d, point));
  } else if (const auto port = d.portAt(pressed)) {
    d.begin(wireDrag(d, *port, std::nullopt));
  } else if (const NoteMark* note = noteAt(d.notes, point)) {
    d.begin(noteDrag(d, note->node, point));
  } else if (const Draft* draft = d.draftAt(point)) {
    d.chosenDraft = draft->id;
    d.begin(draftDrag(d, draft->id, point));
  } else {
    beginThingDrag(pressed, point, keys);
  }
  if (d.gesture) {
    d.scrollTimer.start();
    drag(now, keys);
  }
  return d.gesture != nullptr;
}

void GraphEditor::beginThingDrag(const QPoint& pressed, Point point, Qt::KeyboardModifiers keys) {
  EditDesk& d = *d_;
  const Hit hit = d.hitAt(pressed);
  const bool frame =
      hit.kind == Hit::Kind::open && hit.header && d.view->drawing.scene->groups[at(hit.group)].number < 0;
  if (hit.kind == Hit::Kind::node || hit.kind == Hit::Kind::folded || hit.kind == Hit::Kind::stack || frame) {
    const GraphView::Selected thing = d.view->thingAt(hit);
    const auto chosen = d.view->q->selection();
    const bool among = std::find(chosen.begin(), chosen.end(), thing) != chosen.end();
    if (!among) d.view->selectHit(hit);
    return d.begin(nodeDrag(d, among ? d.chosenThings : std::vector<Hit>{hit}, point));
  }
  if (const FrameMark* mark = frameAt(d.frames, point)) {
    std::vector<Hit> things;
    for (const NodeId id : mark->nodes)
      if (const SceneNode* node = d.view->drawing.scene->find(id)) {
        const Hit thing = describeAt(d.view->drawing, node->position, -1);
        if (std::find(things.begin(), things.end(), thing) == things.end()) things.push_back(thing);
      }
    return d.begin(nodeDrag(d, std::move(things), point));
  }
  if (hit.kind == Hit::Kind::wire) {
    if (const auto grabbed = grabWire(d, hit, point))
      return d.begin(wireDrag(d, grabbed->fixed, grabbed->moved));
  }
  d.begin(marquee(d, point, keys));
}

bool GraphEditor::dragging() const { return d_->gesture != nullptr; }

void GraphEditor::drag(const QPoint& position, Qt::KeyboardModifiers keys) {
  d_->pointer = position;
  if (d_->gesture) d_->gesture->move(position, keys);
}

bool GraphEditor::drop() {
  EditDesk& d = *d_;
  d.scrollTimer.stop();
  if (!d.gesture) return false;
  const std::unique_ptr<Gesture> ended = std::move(d.gesture);
  ended->drop();
  d.view->q->viewport()->setCursor(d.cutting ? Qt::CrossCursor : Qt::ArrowCursor);
  d.update();
  return true;
}

bool GraphEditor::click(const QPoint& position, Qt::KeyboardModifiers) {
  EditDesk& d = *d_;
  if (!editable() || !d.view->drawing) return false;
  const Point point = d.toScene(position);
  if (const auto port = d.portAt(position); port && port->draft != 0 && port->open()) {
    d.openValues(*port, position);
    return true;
  }
  if (const Draft* draft = d.draftAt(point)) {
    d.chosenDraft = draft->id;
    d.view->setSelection({}, {});
    d.update();
    return true;
  }
  d.chosenDraft = 0;
  if (const FrameMark* frame = frameAt(d.frames, point); frame && d.hitAt(position).kind != Hit::Kind::node) {
    std::vector<GraphView::Selected> chosen;
    for (const NodeId id : frame->nodes) chosen.push_back({id, {}});
    d.view->setSelections(std::move(chosen));
    d.view->notifySelection();
    return true;
  }
  const Hit hit = d.hitAt(position);
  const bool notch = hit.kind == Hit::Kind::node && d.near() && point.x > hit.box.right() - kNotch &&
                     point.y < hit.box.y + kNotch;
  if (notch && d.view->edited.contains(d.view->drawing.scene->nodes[at(hit.node)].id)) {
    d.view->selectHit(hit);
    emit originalMenuAsked(d.view->q->viewport()->mapToGlobal(position));
    return true;
  }
  return false;
}

bool GraphEditor::doubleClick(const QPoint& position) {
  EditDesk& d = *d_;
  if (!d.view->drawing) return false;
  const Point point = d.toScene(position);
  if (const NoteMark* mark = noteAt(d.notes, point); mark && editable()) {
    d.view->setSelection(mark->node, {});
    note();
    return true;
  }
  const Hit hit = d.hitAt(position);
  if (const FrameMark* mark = frameAt(d.frames, point); mark && editable() && hit.kind != Hit::Kind::node) {
    renameFrame(*mark);
    return true;
  }
  const bool ground = hit.kind == Hit::Kind::nothing || (hit.kind == Hit::Kind::open && !hit.header);
  if (ground || hit.kind == Hit::Kind::wire) {
    if (!d.mayEdit()) return d.whyReadOnly.size() > 0;
    openPaletteAt(position);
    return true;
  }
  return false;
}

void GraphEditor::hover(const QPoint& position) {
  EditDesk& d = *d_;
  d.pointer = position;
  const Hit hit = d.hitAt(position);
  if (hit != d.wireHit) {
    d.wireHit = hit;
    d.wireCard->hide();
    hit.kind == Hit::Kind::wire ? d.wireTimer.start() : d.wireTimer.stop();
    const bool thing =
        hit.kind == Hit::Kind::node || hit.kind == Hit::Kind::folded || hit.kind == Hit::Kind::stack;
    d.hoverPorts = thing && d.near() ? portsOf(d.view->drawing, hit) : std::vector<Port>();
  }
  const std::optional<Port> before = d.hoverPort;
  d.hoverPort = d.portAt(position);
  const bool same = d.hoverPort ? before && before->sameAs(*d.hoverPort) : !before;
  if (same) return;
  if (editable() && !d.cutting)
    d.view->q->viewport()->setCursor(d.hoverPort ? Qt::CrossCursor : Qt::ArrowCursor);
  d.update();
}

void GraphEditor::leave() {
  d_->wireTimer.stop();
  d_->wireCard->hide();
  d_->wireHit = {};
  d_->hoverPort.reset();
  d_->hoverPorts.clear();
}

bool GraphEditor::busy() const {
  const EditDesk& d = *d_;
  return d.gesture || d.tried || d.wireFrom || d.focusPort || d.cutting || d.palette->isVisible();
}

bool GraphEditor::keyPress(QKeyEvent* event) {
  EditDesk& d = *d_;
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  switch (event->key()) {
    case Qt::Key_Escape:
      return escape();
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
      return d.walkPorts(event->key());
    default:
      break;
  }
  if (enter && editable() && !(event->modifiers() & ~Qt::KeypadModifier)) return d.pressPort();
  return false;
}

/// Takes back what is under way, one thing with each press.
bool GraphEditor::escape() {
  EditDesk& d = *d_;
  if (!busy()) return false;
  d.leaveConsidered();
  if (d.gesture) {
    d.gesture.reset();
    d.scrollTimer.stop();
    d.forgetRefusal();
    d.view->pressed = d.view->dragging = false;
    d.annotate();  // a note goes back
  } else if (d.palette->isVisible()) {
    d.palette->leave();
  } else if (d.tried) {
    d.forgetRefusal();
  } else if (d.wireFrom) {
    d.wireFrom.reset();
  } else {
    d.focusPort.reset();
  }
  d.cutting = false;
  d.view->q->viewport()->setCursor(Qt::ArrowCursor);
  d.update();
  return true;
}

bool GraphEditor::keyRelease(QKeyEvent* event) {
  EditDesk& d = *d_;
  if (event->key() != Qt::Key_X || event->isAutoRepeat() || !d.cutting) return false;
  if (!d.gesture) d.cutting = false;  // a stroke that has begun goes on to its end
  d.view->q->viewport()->setCursor(d.cutting ? Qt::CrossCursor : Qt::ArrowCursor);
  return true;
}

void GraphEditor::beginCut() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  if (d.focusPort) return cutPort();
  d.cutting = true;
  d.view->q->viewport()->setCursor(Qt::CrossCursor);
}

bool GraphEditor::isFreeAt(const QPoint& position) const {
  const Hit hit = d_->hitAt(position);
  const bool ground = hit.kind == Hit::Kind::nothing || (hit.kind == Hit::Kind::open && !hit.header);
  return ground && !d_->portAt(position) && !d_->draftAt(d_->toScene(position));
}

bool GraphEditor::dragOver(QDropEvent* event) {
  EditDesk& d = *d_;
  const QString op = opIn(event->mimeData());
  if (op.isEmpty() || !editable()) return false;
  d.pointer = event->position();
  const Hit hit = d.hitAt(event->position());
  d.dropWire = hit.kind == Hit::Kind::wire ? std::optional(hit) : std::nullopt;
  d.update();
  event->setDropAction(Qt::CopyAction);
  event->accept();
  return true;
}

void GraphEditor::dragLeft() {
  d_->dropWire.reset();
  d_->update();
}

bool GraphEditor::dropped(QDropEvent* event) {
  const QString op = opIn(event->mimeData());
  if (op.isEmpty() || !editable()) return false;
  d_->dropWire.reset();
  insertAt(op, event->position());
  event->setDropAction(Qt::CopyAction);
  event->accept();
  return true;
}

}  // namespace orrery::ui
