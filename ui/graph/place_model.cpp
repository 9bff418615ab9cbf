#include "ui/graph/place_model.h"

#include <algorithm>
#include <unordered_set>

namespace orrery::ui {
namespace {

uint64_t keyOf(int from, int to) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32) | static_cast<uint32_t>(to);
}

/// Weights, inputs and constants lie on every device that reads them; a state stays where it is.
bool isCarried(const graph::Value& value) { return value.kind == graph::ValueKind::activation; }

DeviceMark joined(DeviceMark a, DeviceMark b) {
  return a == DeviceMark::none || a == b ? b : DeviceMark::mixed;
}

}  // namespace

void PlaceModel::setScene(std::shared_ptr<const SceneGraph> scene, const Bindings& bindings) {
  scene_ = std::move(scene);
  bindings_ = bindings;
  rebuild();
}

void PlaceModel::setPlaces(Places places) {
  places_ = std::move(places);
  rebuild();
}

void PlaceModel::rebuild() {
  const size_t count = scene_ ? scene_->nodes.size() : 0;
  at_.assign(count, nullptr);
  awayBefore_.assign(count + 1, 0);
  fellBackBefore_.assign(count + 1, 0);
  elsewhere_.clear();
  for (size_t i = 0; i < count; ++i) {
    const auto found = places_.nodes.find(scene_->nodes[i].id);
    const NodePlace* place = found == places_.nodes.end() ? nullptr : &found->second;
    const bool away = place && place->device != places_.home;
    at_[i] = place;
    awayBefore_[i + 1] = awayBefore_[i] + (away ? 1 : 0);
    fellBackBefore_[i + 1] = fellBackBefore_[i] + (place && place->fellBack() ? 1 : 0);
    if (away) elsewhere_ = place->device;
  }
  away_ = awayBefore_.back();
  fellBack_ = fellBackBefore_.back();
  crossings_.clear();
  if (several()) addCrossings();
}

QStringList PlaceModel::devices() const {
  return several() ? QStringList{places_.home, elsewhere_} : QStringList{places_.home};
}

const QString& PlaceModel::device(int position) const {
  const NodePlace* place = at(position) < at_.size() ? at_[at(position)] : nullptr;
  return place ? place->device : places_.home;
}

const QString& PlaceModel::sourceDevice(int position) const {
  return device(position) == places_.home ? elsewhere_ : places_.home;
}

const NodePlace* PlaceModel::fellBack(int position) const {
  const NodePlace* place = at(position) < at_.size() ? at_[at(position)] : nullptr;
  return place && place->fellBack() ? place : nullptr;
}

int PlaceModel::fellBack(Span span) const {
  return at(span.end) < fellBackBefore_.size()
             ? fellBackBefore_[at(span.end)] - fellBackBefore_[at(span.begin)]
             : 0;
}

int PlaceModel::away(Span span) const {
  return at(span.end) < awayBefore_.size() ? awayBefore_[at(span.end)] - awayBefore_[at(span.begin)] : 0;
}

DeviceMark PlaceModel::mark(Span span) const {
  const int count = away(span);
  if (count == 0) return DeviceMark::none;
  return count == span.end - span.begin ? markOf(elsewhere_) : DeviceMark::mixed;
}

QString PlaceModel::tag(Span span) const {
  const int count = away(span);
  if (count == 0) return {};
  return count == span.end - span.begin ? elsewhere_ : QStringLiteral("mixed");
}

Crossing PlaceModel::crossing(int group, Span from, Span to) const {
  Crossing all;
  const auto known = crossings_.find(group);
  if (known == crossings_.end()) return all;
  for (int a = from.begin; a < from.end; ++a)
    for (int b = to.begin; b < to.end; ++b) {
      const auto one = known->second.find(keyOf(a, b));
      if (one == known->second.end()) continue;
      all.values.insert(all.values.end(), one->second.values.begin(), one->second.values.end());
      all.bytes += one->second.bytes;
      all.to = joined(all.to, one->second.to);
    }
  return all;
}

void PlaceModel::addCrossings() {
  const graph::Graph& graph = *scene_->graph;
  std::unordered_set<ValueId> copied;  // once, however many read the copy
  for (const SceneNode& node : scene_->nodes) {
    if (!node.live || node.transfer) continue;  // the wire to a transfer needs no mark: the node is there
    for (const ValueId input : graph.node(node.id).inputs) {
      const graph::Value* value = input.valid() ? graph.find_value(input) : nullptr;
      if (!value || !isCarried(*value)) continue;
      const SceneNode* from = scene_->find(value->producer);
      if (!from || device(from->position) == device(node.position)) continue;
      const bool first = copied.insert(value->id).second;
      addCrossing(*from, node, *value, first ? graph::bytes_of(value->type, bindings_) : 0);
    }
  }
}

/// Where the ways of the two nodes part: the group that draws the whole wire.
void PlaceModel::addCrossing(const SceneNode& from, const SceneNode& to, const graph::Value& value,
                             double bytes) {
  const std::vector<SceneGroup>& groups = scene_->groups;
  int a = from.group, b = to.group, childA = from.child, childB = to.child;
  while (a != b) {
    const bool inner = groups[at(a)].depth >= groups[at(b)].depth;
    int &group = inner ? a : b, &child = inner ? childA : childB;
    child = groups[at(group)].child;
    group = groups[at(group)].parent;
  }
  Crossing& crossing = crossings_[a][keyOf(childA, childB)];
  if (std::find(crossing.values.begin(), crossing.values.end(), value.id) != crossing.values.end()) return;
  crossing.values.push_back(value.id);
  crossing.bytes += bytes;
  crossing.to = joined(crossing.to, markOf(device(to.position)));
}

}  // namespace orrery::ui
