#include "ui/graph/ports.h"

#include <algorithm>
#include <cmath>

#include "ui/graph/scene_graph.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

constexpr double kApart = 14;    // between neighbouring ports
constexpr double kPillGap = 25;  // from a box to its pill
constexpr double kInset = 14;    // from a box's corner to a port

/// A wire that ends at the thing, and what it brings.
struct Arrival {
  Point at;
  Port::Side side = Port::Side::top;
  std::vector<ValueId> values;
};

class PortFinder {
 public:
  PortFinder(const Drawing& drawing, const Hit& thing)
      : scene_(*drawing.scene), thing_(thing), holder_(laidOut(drawing, thing.holder)) {
    if (!holder_) return;
    placed_ = &holder_.layout->items[at(thing.item)];
    for (const PlacedWire& wire : holder_.layout->wires) {
      if (wire.to != thing.item || wire.edge < 0) continue;
      Arrival arrival;
      arrival.at = {wire.points.back().x + holder_.origin.x, wire.points.back().y + holder_.origin.y};
      if (wire.kind == WireKind::tap) arrival.side = Port::Side::left;
      if (wire.atSide) arrival.side = Port::Side::right;
      arrival.values = valuesOf(scene_, thing.holder, *holder_.layout, wire);
      arrivals_.push_back(std::move(arrival));
    }
  }

  std::vector<Port> find() {
    if (!placed_) return {};
    if (thing_.kind == Hit::Kind::node)
      findOfNode(scene_.graph->node(scene_.nodes[at(thing_.node)].id));
    else if (thing_.group >= 0)
      findOfGroup();
    return std::move(ports_);
  }

 private:
  const Rect& box() const { return thing_.box; }

  void add(Port::Kind kind, Port::Side side, Point where, ValueId value, std::string name, int place = 0) {
    Port port;
    port.kind = kind;
    port.side = side;
    port.thing = thing_;
    port.place = place;
    port.at = where;
    port.value = value;
    port.name = std::move(name);
    ports_.push_back(std::move(port));
  }

  void addOutputs(const std::vector<std::pair<ValueId, std::string>>& outputs) {
    const double first = box().x + box().w / 2 - kApart * static_cast<double>(outputs.size() - 1) / 2;
    for (size_t i = 0; i < outputs.size(); ++i)
      add(Port::Kind::output, Port::Side::foot, {first + kApart * static_cast<double>(i), box().bottom()},
          outputs[i].first, outputs[i].second, static_cast<int>(i));
  }

  /// Where the value's wire arrives; aside of an input that reads the same.
  std::optional<std::pair<Point, Port::Side>> arrivalOf(ValueId value) const {
    for (const Arrival& arrival : arrivals_) {
      if (std::find(arrival.values.begin(), arrival.values.end(), value) == arrival.values.end()) continue;
      const bool top = arrival.side == Port::Side::top;
      return std::pair(clear(arrival.at, top ? kApart : 0, top ? 0 : kApart / 2), arrival.side);
    }
    return std::nullopt;
  }

  bool taken(Point point) const {
    return std::any_of(ports_.begin(), ports_.end(), [&](const Port& port) {
      return port.kind == Port::Kind::input &&
             std::hypot(port.at.x - point.x, port.at.y - point.y) < kApart / 2 - 1;
    });
  }
  Point clear(Point point, double dx, double dy) const {
    while (taken(point)) point = {point.x + dx, point.y + dy};
    return point;
  }
  /// From the right, where wires seldom arrive.
  Point freeAtTop() const {
    Point point{box().right() - kInset, box().y};
    while (point.x > box().x && taken(point)) point.x -= kApart;
    return point;
  }

  void findOfNode(const graph::Node& node) {
    const graph::Graph& graph = *scene_.graph;
    std::vector<std::pair<ValueId, std::string>> outputs;
    for (const ValueId output : node.outputs)
      if (const graph::Value* value = graph.find_value(output)) outputs.emplace_back(output, value->name);
    addOutputs(outputs);
    std::vector<size_t> absent;
    std::vector<Port> sources;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::Value* value = node.inputs[i].valid() ? graph.find_value(node.inputs[i]) : nullptr;
      if (!value) {
        absent.push_back(i);
        continue;
      }
      addInput(node, i, *value, sources);
    }
    for (size_t i = node.inputs.size(); i < node.op->inputs.size(); ++i) absent.push_back(i);
    for (const size_t i : absent) addReader(node, i, {}, freeAtTop(), Port::Side::top);
    ports_.insert(ports_.end(), std::make_move_iterator(sources.begin()),
                  std::make_move_iterator(sources.end()));
  }

  void addInput(const graph::Node& node, size_t input, const graph::Value& value,
                std::vector<Port>& sources) {
    if (scene_.draws(value.producer)) {
      const auto arrival = arrivalOf(value.id);
      return addReader(node, input, value.id, arrival ? arrival->first : freeAtTop(),
                       arrival ? arrival->second : Port::Side::top);
    }
    const bool weight = value.kind == graph::ValueKind::weight;
    const Port::Side side = weight ? Port::Side::left : Port::Side::right;
    const Point edge{weight ? box().x : box().right(), box().y + box().h / 2};
    addReader(node, input, value.id, clear(edge, 0, kApart / 2), side);
    if (!(weight ? placed_->leftPill : placed_->rightPill) || !sources.empty()) return;
    Port pill = ports_.back();
    pill.kind = Port::Kind::source;
    pill.at = {edge.x + (weight ? -kPillGap : kPillGap), edge.y};
    pill.uses.clear();
    pill.name = scene_.graph->node(value.producer).name;
    sources.push_back(std::move(pill));
  }

  void addReader(const graph::Node& node, size_t input, ValueId value, Point where, Port::Side side) {
    const std::vector<graph::InputSpec>& specs = node.op->inputs;
    const graph::InputSpec& spec = specs[std::min(input, specs.size() - 1)];
    add(Port::Kind::input, side, where, value, spec.name, static_cast<int>(input));
    ports_.back().optional = spec.optional || spec.variadic;
    ports_.back().uses = {{node.id, static_cast<int>(input)}};
  }

  void findOfGroup() {
    const GroupLayout& layout = *holder_.layout;
    std::vector<std::pair<ValueId, std::string>> outputs;
    for (const PlacedWire& wire : layout.wires) {
      if (wire.from != thing_.item) continue;
      for (const ValueId id : valuesOf(scene_, thing_.holder, layout, wire)) {
        const bool known = std::any_of(outputs.begin(), outputs.end(),
                                       [id](const auto& output) { return output.first == id; });
        if (!known) outputs.emplace_back(id, scene_.graph->value(id).name);
      }
    }
    if (!outputs.empty()) addOutputs(outputs);
    for (const Arrival& arrival : arrivals_)
      for (const ValueId value : arrival.values) addReaders(arrival, value);
  }

  void addReaders(const Arrival& arrival, ValueId value) {
    const bool top = arrival.side == Port::Side::top;
    add(Port::Kind::input, arrival.side, clear(arrival.at, top ? kApart : 0, top ? 0 : kApart / 2), value,
        scene_.graph->value(value).name);
    for (const graph::Use& use : scene_.graph->users(value)) {
      const SceneNode* reader = scene_.find(use.node);
      if (reader && standsFor(scene_, thing_.holder, *holder_.layout, thing_.item, reader->position))
        ports_.back().uses.push_back(use);
    }
  }

  const SceneGraph& scene_;
  const Hit& thing_;
  LaidOut holder_;
  const Placed* placed_ = nullptr;
  std::vector<Arrival> arrivals_;
  std::vector<Port> ports_;
};

}  // namespace

bool Port::sameAs(const Port& other) const {
  if (kind != other.kind || thing != other.thing || draft != other.draft) return false;
  if (draft != 0) return place == other.place;
  if (kind != Kind::input) return value == other.value;
  return std::equal(
      uses.begin(), uses.end(), other.uses.begin(), other.uses.end(),
      [](const graph::Use& a, const graph::Use& b) { return a.node == b.node && a.input == b.input; });
}

std::vector<Port> portsOf(const Drawing& drawing, const Hit& thing) {
  const bool has =
      thing.kind == Hit::Kind::node || thing.kind == Hit::Kind::folded || thing.kind == Hit::Kind::stack;
  return drawing && has ? PortFinder(drawing, thing).find() : std::vector<Port>();
}

const Port* nearest(const std::vector<Port>& ports, Point point, double reach) {
  const Port* best = nullptr;
  double least = reach;
  for (const Port& port : ports) {
    const double distance = std::hypot(port.at.x - point.x, port.at.y - point.y);
    if (distance > least || (best && distance >= least)) continue;
    best = &port;
    least = distance;
  }
  return best;
}

}  // namespace orrery::ui
