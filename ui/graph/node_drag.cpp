// Things that are dragged: to another place, onto a wire, which they are then inserted in, or with Alt as
// copies.
#include <algorithm>
#include <cmath>

#include "ui/graph/edit_desk.h"
#include "ui/graph/node_clip.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

/// Layers stand where their column puts them, and what is beside a page where the page leaves room.
bool isFixed(const Drawing& drawing, const Hit& thing) {
  const LaidOut holder = laidOut(drawing, thing.holder);
  const bool layer = thing.group >= 0 && drawing.scene->groups[at(thing.group)].number >= 0;
  return layer || (holder && !holder.layout->pages.empty());
}

const std::string& pathOf(const SceneGraph& scene, const Hit& thing) {
  return thing.kind == Hit::Kind::node ? scene.nodes[at(thing.node)].path
                                       : scene.groups[at(thing.group)].path;
}

const Port* inputOf(const std::vector<Port>& ports) {
  const auto found = std::find_if(ports.begin(), ports.end(), [](const Port& port) {
    return port.kind == Port::Kind::input &&
           (port.side == Port::Side::top || port.side == Port::Side::right) && !port.open();
  });
  return found == ports.end() ? nullptr : &*found;
}

const Port* outputOf(const std::vector<Port>& ports) {
  const Port* only = nullptr;
  for (const Port& port : ports) {
    if (port.kind != Port::Kind::output) continue;
    if (only) return nullptr;
    only = &port;
  }
  return only;
}

class NodeDrag : public Gesture {
 public:
  NodeDrag(EditDesk& desk, std::vector<Hit> things, Point grabbed)
      : desk_(desk), things_(std::move(things)), grabbed_(grabbed) {
    for (const Hit& thing : things_) fixed_ = fixed_ || isFixed(desk.view->drawing, thing);
  }

  Qt::CursorShape cursor() const override { return Qt::ClosedHandCursor; }

  void move(QPointF position, Qt::KeyboardModifiers keys) override {
    const Point now = desk_.toScene(position);
    dx_ = now.x - grabbed_.x;
    dy_ = now.y - grabbed_.y;
    copies_ = keys & Qt::AltModifier;
    findWire(position);
    desk_.update();
  }

  void drop() override {
    desk_.leaveConsidered();
    if (copies_) return duplicate();
    if (wire_ && on_.refusal) return refuse();
    if (wire_) {
      keepPlaces();
      return desk_.ask(on_.request, things_.front().box);
    }
    if (fixed_)
      return void(emit desk_.q->noticed(
          GraphEditor::tr("Layers stay in their column: drop one onto a wire to move it there")));
    keepPlaces();
    desk_.view->relayout(false);
    emit desk_.q->arrangementChanged();
  }

  void paint(QPainter& painter) const override {
    const Drawing& drawing = desk_.view->drawing;
    if (wire_) {
      std::vector<Point> points = wireOf(drawing, *wire_)->points;
      const Point origin = laidOut(drawing, wire_->holder).origin;
      for (Point& point : points) point = {point.x + origin.x, point.y + origin.y};
      desk_.layer.paintTarget(painter, points, !on_.refusal);
    }
    const PaintJob job = desk_.view->job(QRectF());
    for (const Hit& thing : things_) {
      const LaidOut holder = laidOut(drawing, thing.holder);
      if (!holder || thing.kind == Hit::Kind::open) continue;
      NodeLook look = desk_.view->painter.lookOf(job, thing, holder.layout->items[at(thing.item)]);
      look.box.translate(dx_, dy_);
      desk_.layer.paintMoving(painter, look);
    }
    if (const auto bounds = desk_.boundsOf(things_); bounds && things_.size() > 1)
      desk_.layer.paintSelection(painter, bounds->moved(dx_, dy_).grown(6));
  }

 private:
  /// One thing over a wire that is not its own.
  void findWire(QPointF position) {
    const std::optional<Hit> before = wire_;
    wire_.reset();
    if (things_.size() == 1 && !copies_) {
      const Hit hit = desk_.hitAt(position);
      const PlacedWire* wire = wireOf(desk_.view->drawing, hit);
      const Hit& thing = things_.front();
      const bool own =
          wire && hit.holder == thing.holder && (wire->from == thing.item || wire->to == thing.item);
      if (wire && !own && wire->edge >= 0) wire_ = hit;
    }
    if (wire_ && before && *wire_ == *before) return;
    desk_.forgetRefusal();
    desk_.leaveConsidered();
    if (!wire_) return;
    on_ = onWire(desk_, things_.front(), *wire_);
    if (!on_.refusal) desk_.consider(on_.request);
  }

  void keepPlaces() {
    const SceneGraph& scene = *desk_.view->drawing.scene;
    for (const Hit& thing : things_)
      if (!isFixed(desk_.view->drawing, thing))
        desk_.put(scene.groups[at(thing.holder)].path, pathOf(scene, thing), thing.box.moved(dx_, dy_));
  }

  void refuse() {
    const std::string& path = pathOf(*desk_.view->drawing.scene, things_.front());
    desk_.refuse(refusalOf(GraphEditor::tr("%1 does not fit here")
                               .arg(QString::fromStdString(path.substr(path.rfind('.') + 1))),
                           *on_.refusal),
                 {{}, std::nullopt, things_.front().box.moved(dx_, dy_)});
  }

  /// The copies stand where they were dropped.
  void duplicate() {
    const SceneGraph& scene = *desk_.view->drawing.scene;
    std::vector<std::string> paths;
    for (const Hit& thing : things_)
      paths.push_back(thing.kind == Hit::Kind::stack
                          ? stackScope(scene.groups[at(thing.group)], scene.groups[at(thing.lastGroup)])
                          : pathOf(scene, thing));
    const std::string suffix = freeSuffix(*desk_.model(), paths);
    EditRequest request = duplicateRequest(paths, suffix);
    for (const Hit& thing : things_) {
      if (isFixed(desk_.view->drawing, thing)) continue;
      const std::string& holder = scene.groups[at(thing.holder)].path;
      desk_.put(holder, pathOf(scene, thing) + suffix, thing.box.moved(dx_, dy_));
      desk_.askedPuts.emplace_back(holder, pathOf(scene, thing) + suffix);
    }
    desk_.ask(std::move(request), *desk_.boundsOf(things_));
  }

  EditDesk& desk_;
  std::vector<Hit> things_;
  Point grabbed_;
  double dx_ = 0, dy_ = 0;
  bool copies_ = false, fixed_ = false;
  std::optional<Hit> wire_;
  OnWire on_;
};

class DraftDrag : public Gesture {
 public:
  DraftDrag(EditDesk& desk, int draft, Point grabbed) : desk_(desk), draft_(draft), grabbed_(grabbed) {
    if (const Draft* own = desk.drafts.find(draft)) from_ = own->box;
  }

  Qt::CursorShape cursor() const override { return Qt::ClosedHandCursor; }

  void move(QPointF position, Qt::KeyboardModifiers) override {
    const Point now = desk_.toScene(position);
    if (Draft* draft = desk_.drafts.find(draft_))
      draft->box = from_.moved(now.x - grabbed_.x, now.y - grabbed_.y);
    const Hit hit = desk_.hitAt(position);
    wire_.reset();
    if (hit.kind == Hit::Kind::wire) wire_ = hit;
    desk_.update();
  }

  /// On a wire it reads what the wire brings, and is read instead.
  void drop() override {
    Draft* draft = desk_.drafts.find(draft_);
    const auto place = draft && wire_ ? desk_.spotOnWire(*wire_, {}) : std::nullopt;
    if (!place) return;
    const Draft put = desk_.draftFor(*draft->op, *place, true);
    for (size_t i = 0; i < put.inputs.size(); ++i)
      if (draft->inputs[i].empty()) draft->inputs[i] = put.inputs[i];
    draft->readers = put.readers;
    draft->after = put.after;
    desk_.tryDraft(draft_);
  }

  void paint(QPainter& painter) const override {
    if (!wire_) return;
    std::vector<Point> points = wireOf(desk_.view->drawing, *wire_)->points;
    const Point origin = laidOut(desk_.view->drawing, wire_->holder).origin;
    for (Point& point : points) point = {point.x + origin.x, point.y + origin.y};
    desk_.layer.paintTarget(painter, points, true);
  }

 private:
  EditDesk& desk_;
  int draft_;
  Point grabbed_;
  Rect from_;
  std::optional<Hit> wire_;
};

class NoteDrag : public Gesture {
 public:
  NoteDrag(EditDesk& desk, NodeId node, Point grabbed) : desk_(desk), node_(node), grabbed_(grabbed) {}

  Qt::CursorShape cursor() const override { return Qt::ClosedHandCursor; }

  void move(QPointF position, Qt::KeyboardModifiers) override {
    const Point now = desk_.toScene(position);
    for (NoteMark& note : desk_.notes)
      if (note.node == node_) note.box = note.box.moved(now.x - grabbed_.x, now.y - grabbed_.y);
    grabbed_ = now;
    desk_.update();
  }
  void drop() override {
    const SceneNode* node = desk_.view->drawing.scene->find(node_);
    for (const NoteMark& note : desk_.notes) {
      if (note.node != node_ || !node) continue;
      auto arrangement = std::make_shared<Arrangement>(*desk_.view->arrangement);
      arrangement->notes[node->path] = {note.box.x - note.of.x, note.box.y - note.of.y};
      desk_.view->arrangement = std::move(arrangement);
    }
    emit desk_.q->arrangementChanged();
  }
  void paint(QPainter&) const override {}

 private:
  EditDesk& desk_;
  NodeId node_;
  Point grabbed_;
};

/// The types that a node would make if it read another value.
Result<graph::ValueType> typeAfter(const graph::Graph& graph, const Port& input,
                                   const graph::ValueType& read) {
  const graph::Node& node = graph.node(input.uses.front().node);
  std::vector<const graph::ValueType*> inputs = graph.view(node).inputs;
  inputs[at(input.uses.front().input)] = &read;
  ORRERY_ASSIGN(const auto types, inferOp(*node.op, node.attributes, inputs));
  return types.front();
}

}  // namespace

/// Out of where it stands, which closes behind it, and between what the wire joins.
OnWire onWire(const EditDesk& desk, const Hit& thing, const Hit& wire) {
  const graph::Graph& graph = *desk.model();
  const auto refuse = [](QString what) {
    return OnWire{{}, Error{ErrorCode::invalid_argument, what.toStdString(), "", ""}};
  };
  const auto place = desk.spotOnWire(wire, {});
  if (!place || place->readers.empty())
    return refuse(GraphEditor::tr("The wire belongs to something that is bypassed or deleted"));
  const std::vector<Port> ports = portsOf(desk.view->drawing, thing);
  const Port *input = inputOf(ports), *output = outputOf(ports);
  if (!input || !output)
    return refuse(GraphEditor::tr("Only what one stream enters and one leaves can be put on a wire"));
  const graph::ValueType &read = graph.value(place->giver->value).type, &was = graph.value(input->value).type,
                         made = graph.value(output->value).type;
  graph::ValueType makes = made;
  if (thing.kind == Hit::Kind::node) {
    const auto after = typeAfter(graph, *input, read);
    if (!after.ok()) return {{}, after.error()};
    makes = *after;
  } else if (read != was) {
    return refuse(GraphEditor::tr("It takes %1, and the wire brings %2")
                      .arg(QString::fromStdString(to_string(was)), QString::fromStdString(to_string(read))));
  }
  if (makes != read)
    return refuse(
        GraphEditor::tr("It would make %1 of %2, which is read there")
            .arg(QString::fromStdString(to_string(makes)), QString::fromStdString(to_string(read))));
  EditRequest request;
  const std::string before = graph.value_path(input->value), after = graph.value_path(output->value);
  const auto isInside = [&](const graph::Use& use) {
    return std::any_of(input->uses.begin(), input->uses.end(), [&use](const graph::Use& own) {
      return own.node == use.node && own.input == use.input;
    });
  };
  const SceneGraph& scene = *desk.view->drawing.scene;
  std::vector<graph::Use> readers = graph.users(output->value);
  std::erase_if(readers, [&](const graph::Use& use) {  // inside of it nothing changes
    const SceneNode* reader = scene.find(use.node);
    return reader && standsFor(scene, thing.holder, *laidOut(desk.view->drawing, thing.holder).layout,
                               thing.item, reader->position);
  });
  if (!readers.empty() && was != made)
    return refuse(GraphEditor::tr("What reads it now would not take what enters it"));
  for (const graph::Use& use : readers) request.edits.push_back(connectEdit(graph, use, before));
  for (const graph::Use& use : input->uses)
    request.edits.push_back(connectEdit(graph, use, graph.value_path(place->giver->value)));
  for (const graph::Use& use : place->readers)
    if (!isInside(use)) request.edits.push_back(connectEdit(graph, use, after));
  const std::string& path = pathOf(scene, thing);
  request.name = GraphEditor::tr("move %1").arg(QString::fromStdString(path));
  return {std::move(request), std::nullopt};
}

std::unique_ptr<Gesture> nodeDrag(EditDesk& desk, std::vector<Hit> things, Point grabbed) {
  return std::make_unique<NodeDrag>(desk, std::move(things), grabbed);
}
std::unique_ptr<Gesture> draftDrag(EditDesk& desk, int draft, Point grabbed) {
  return std::make_unique<DraftDrag>(desk, draft, grabbed);
}
std::unique_ptr<Gesture> noteDrag(EditDesk& desk, NodeId node, Point grabbed) {
  return std::make_unique<NoteDrag>(desk, node, grabbed);
}

}  // namespace orrery::ui
