// Drags over an area: a rectangle that chooses what it meets, and a stroke that cuts the wires that it
// crosses.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

#include "ui/graph/edit_desk.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

struct ThingHash {
  size_t operator()(const GraphView::Selected& thing) const {
    return qHashMulti(0, thing.node.value, thing.scope);
  }
};
using Things = std::unordered_set<GraphView::Selected, ThingHash>;

class Marquee : public Gesture {
 public:
  Marquee(EditDesk& desk, Point from, Qt::KeyboardModifiers keys)
      : desk_(desk), from_(from), to_(from), before_(desk.view->q->selection()) {
    if (!(keys & (Qt::ShiftModifier | Qt::ControlModifier))) before_.clear();
    takesOut_ = keys & Qt::ControlModifier;
    known_.insert(before_.begin(), before_.end());
  }

  void move(QPointF position, Qt::KeyboardModifiers) override {
    to_ = desk_.toScene(position);
    choose();
  }
  void drop() override {
    choose();
    desk_.view->notifySelection();
  }
  void paint(QPainter& painter) const override { desk_.layer.paintSelection(painter, area()); }

 private:
  Rect area() const {
    return {std::min(from_.x, to_.x), std::min(from_.y, to_.y), std::abs(from_.x - to_.x),
            std::abs(from_.y - to_.y)};
  }

  void choose() {
    std::vector<GraphView::Selected> met;
    for (const Hit& hit : thingsIn(desk_.view->drawing, area())) met.push_back(desk_.view->thingAt(hit));
    std::vector<GraphView::Selected> chosen = before_;
    if (takesOut_) {
      const Things gone(met.begin(), met.end());
      std::erase_if(chosen, [&gone](const GraphView::Selected& thing) { return gone.contains(thing); });
    }
    std::copy_if(met.begin(), met.end(), std::back_inserter(chosen),
                 [this](const GraphView::Selected& thing) { return !known_.contains(thing); });
    desk_.view->setSelections(std::move(chosen));
  }

  EditDesk& desk_;
  Point from_, to_;
  std::vector<GraphView::Selected> before_;
  Things known_;  // before
  bool takesOut_ = false;
};

/// On which side of the line through a and b a point is.
double side(Point a, Point b, Point p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

bool cross(Point a, Point b, Point c, Point d) {
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

class CutStroke : public Gesture {
 public:
  CutStroke(EditDesk& desk, Point from) : desk_(desk), stroke_{from} {}

  Qt::CursorShape cursor() const override { return Qt::CrossCursor; }

  void move(QPointF position, Qt::KeyboardModifiers) override {
    const Point next = desk_.toScene(position);
    if (std::hypot(next.x - stroke_.back().x, next.y - stroke_.back().y) < desk_.reach(3)) return;
    stroke_.push_back(next);
    desk_.update();
  }

  /// What can be left unconnected is cut; the first of what cannot says why.
  void drop() override {
    desk_.cutting = false;
    const graph::Graph& graph = *desk_.model();
    EditRequest request;
    std::optional<graph::Use> required;
    Rect where = box();
    find(0, *desk_.view->drawing.layout, {});
    for (const graph::Use& use : cut_) {
      const graph::Node& node = graph.node(use.node);
      const graph::InputSpec& spec = node.op->inputs[std::min(at(use.input), node.op->inputs.size() - 1)];
      if (spec.optional || spec.variadic)
        request.edits.push_back(disconnectEdit(graph, use));
      else if (!required)
        required = use;
    }
    desk_.update();
    if (!request.empty()) {
      request.name = GraphEditor::tr("cut %1").arg(
          request.edits.size() == 1 ? GraphEditor::tr("a wire")
                                    : GraphEditor::tr("%1 wires").arg(request.edits.size()));
      desk_.ask(request, where);
    }
    if (required) refuse(*required, where);
  }

  void paint(QPainter& painter) const override {
    desk_.layer.paintStroke(painter, stroke_, desk_.view->scale);
  }

 private:
  Rect box() const {
    const Point &a = stroke_.front(), &b = stroke_.back();
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  }

  bool crosses(const PlacedWire& wire, Point origin) const {
    for (size_t i = 1; i < stroke_.size(); ++i) {
      const Point a{stroke_[i - 1].x - origin.x, stroke_[i - 1].y - origin.y},
          b{stroke_[i].x - origin.x, stroke_[i].y - origin.y};
      for (size_t k = 1; k < wire.points.size(); ++k)
        if (cross(a, b, wire.points[k - 1], wire.points[k])) return true;
    }
    return false;
  }

  void find(int group, const GroupLayout& layout, Point origin) {
    const SceneGraph& scene = *desk_.view->drawing.scene;
    for (const PlacedWire& wire : layout.wires)
      if (wire.edge >= 0 && crosses(wire, origin))
        for (const graph::Use& use : usesOf(scene, group, layout, wire)) add(use);
    for (const Placed& placed : layout.items)
      if (placed.kind == Placed::Kind::open)
        find(scene.groups[at(group)].children[at(placed.first)].index, *placed.inner,
             innerOrigin(placed, origin));
  }
  void add(const graph::Use& use) {
    const bool known = std::any_of(cut_.begin(), cut_.end(), [&use](const graph::Use& one) {
      return one.node == use.node && one.input == use.input;
    });
    if (!known && desk_.model()->find(use.node)) cut_.push_back(use);
  }

  void refuse(const graph::Use& use, const Rect& where) {
    const graph::Graph& graph = *desk_.model();
    const QString place = placeName(graph, use), op = QString::fromStdString(graph.node(use.node).op->name);
    Refusal refusal;
    refusal.title = GraphEditor::tr("%1 cannot be cut").arg(place);
    refusal.cause = GraphEditor::tr("%1 needs this input: it has nothing to compute with else.").arg(op);
    refusal.advice =
        GraphEditor::tr("Draw another wire to it, or delete the node and reconnect (Ctrl+Delete).");
    desk_.refuse(refusal, {stroke_, std::nullopt, where});
  }

  EditDesk& desk_;
  std::vector<Point> stroke_;
  std::vector<graph::Use> cut_;
};

}  // namespace

std::unique_ptr<Gesture> marquee(EditDesk& desk, Point from, Qt::KeyboardModifiers keys) {
  return std::make_unique<Marquee>(desk, from, keys);
}

std::unique_ptr<Gesture> cutStroke(EditDesk& desk, Point from) {
  return std::make_unique<CutStroke>(desk, from);
}

}  // namespace orrery::ui
