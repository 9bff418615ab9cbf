#include "ui/graph/scene_stream.h"
#include "ui/graph/scene_graph.h"

#include <algorithm>
#include <map>

namespace orrery::ui {
namespace {

/// Numbered siblings of one stem, in the order of the children; a run has two at least.
void findRuns(SceneGraph& scene) {
  for (size_t parent = 0; parent < scene.groups.size(); ++parent) {
    std::map<std::string, std::vector<int>> layers;
    for (const SceneChild& child : scene.groups[parent].children)
      if (child.isGroup && scene.groups[at(child.index)].number >= 0)
        layers[scene.groups[at(child.index)].stem].push_back(child.index);
    for (auto& [stem, groups] : layers) {
      if (groups.size() < 2) continue;
      for (size_t layer = 0; layer < groups.size(); ++layer) {
        scene.groups[at(groups[layer])].run = static_cast<int>(scene.runs.size());
        scene.groups[at(groups[layer])].layer = static_cast<int>(layer);
      }
      SceneRun run;
      run.stem = stem;
      run.parent = static_cast<int>(parent);
      run.layers = std::move(groups);
      scene.runs.push_back(std::move(run));
    }
  }
}

class Tracer {
 public:
  Tracer(SceneGraph& scene, StreamUses& uses) : scene_(scene), graph_(*scene.graph), uses_(uses) {
    order_.reserve(graph_.order().size());
    for (const NodeId id : graph_.order()) order_.emplace(id, order_.size());
  }

  void trace(SceneRun& run) {
    run_ = &run;
    links_.clear();
    goBack(leaving());
    made_.assign(run.layers.size(), {});
    keepStream();
    passDown();
    tell();
  }

 private:
  struct Span {
    int begin, end;
  };
  /// A value that the way back came through, and the node that takes it there.
  struct Link {
    ValueId value;
    NodeId user;  // none: what leaves the run is an output of the graph
    bool joins;   // the user adds to it
  };

  int layerOf(NodeId id) const {
    const SceneNode* node = scene_.find(id);
    if (!node || graph_.node(id).is_source()) return -1;
    const std::vector<int>& layers = run_->layers;
    auto after = std::upper_bound(
        layers.begin(), layers.end(), node->position,
        [this](int position, int group) { return position < scene_.groups[at(group)].begin; });
    if (after == layers.begin()) return -1;
    const int layer = static_cast<int>(after - layers.begin()) - 1;
    return node->position < scene_.groups[at(layers[at(layer)])].end ? layer : -1;
  }

  NodeId producerOf(ValueId value) const { return graph_.value(value).producer; }
  size_t orderOf(ValueId value) const { return order_.at(producerOf(value)); }

  /// What a node computes with: no weights, states, constants.
  std::vector<ValueId> operands(NodeId id) const {
    std::vector<ValueId> values;
    for (const ValueId input : graph_.node(id).inputs) {
      if (!input.valid() || !graph_.find_value(input)) continue;
      if (graph_.node(producerOf(input)).is_source()) continue;
      if (std::find(values.begin(), values.end(), input) == values.end()) values.push_back(input);
    }
    std::sort(values.begin(), values.end(), [this](ValueId a, ValueId b) { return orderOf(a) < orderOf(b); });
    return values;
  }

  /// Whether `value` was computed from what the producer of `from` gives: a fused addition gives its sum and
  /// what its norm makes of it.
  bool dependsOn(ValueId value, ValueId from) const {
    const NodeId source = producerOf(from);
    const size_t first = order_.at(source);
    std::vector<NodeId> open{producerOf(value)};
    std::unordered_set<NodeId> known;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == source) return true;
      if (!known.insert(id).second || order_.at(id) <= first) continue;
      for (const ValueId input : graph_.node(id).inputs) {
        if (input.valid() && graph_.find_value(input)) open.push_back(producerOf(input));
      }
    }
    return false;
  }

  /// Of a node's operands the one that the stream comes by.
  Link linkInto(NodeId id) const {
    const std::vector<ValueId> values = operands(id);
    for (const ValueId value : values)
      for (const ValueId other : values)
        if (other != value && orderOf(other) > orderOf(value) && dependsOn(other, value))
          return {value, id, true};
    return {values.empty() ? ValueId{} : values.front(), id, false};
  }

  Span spanOf(int layer) const {
    const SceneGroup& group = scene_.groups[at(run_->layers[at(layer)])];
    return {group.begin, group.end};
  }

  /// The first node after the run that takes something of its last live layer, or the output that it is.
  Link leaving() const {
    int last = static_cast<int>(run_->layers.size()) - 1;
    while (last >= 0 && !scene_.groups[at(run_->layers[at(last)])].live) --last;
    if (last < 0) return {};
    NodeId first;
    Link link;
    for (int position = spanOf(last).begin; position < spanOf(last).end; ++position)
      for (const ValueId output : graph_.node(scene_.nodes[at(position)].id).outputs) {
        const bool left =
            std::find(graph_.outputs().begin(), graph_.outputs().end(), output) != graph_.outputs().end();
        if (left && graph_.value(output).kind == graph::ValueKind::activation) link.value = output;
        for (const graph::Use& use : graph_.users(output)) {
          const SceneNode* user = scene_.find(use.node);
          if (!user || !user->live || layerOf(use.node) >= 0) continue;
          if (!first.valid() || order_.at(use.node) < order_.at(first)) first = use.node;
        }
      }
    return first.valid() ? linkInto(first) : link;
  }

  void goBack(Link link) {
    while (link.value.valid()) {
      links_.push_back(link);
      if (layerOf(producerOf(link.value)) < 0) break;
      link = linkInto(producerOf(link.value));
    }
  }

  /// Of the way back the stream is what is added to, and what leaves a layer. What lies between is the
  /// layers' own: the norm after an addition, all of a layer that adds nothing.
  void keepStream() {
    int links = 0, live = 0;
    for (const Link& link : links_) {
      const int from = layerOf(producerOf(link.value)), to = link.user.valid() ? layerOf(link.user) : -1;
      run_->residual |= link.joins && from >= 0;
      if (from >= 0 && (from != to || link.joins)) made_[at(from)].push_back(link.value);
      if (from >= 0 && from != to) ++links;
    }
    for (const int group : run_->layers) live += scene_.groups[at(group)].live ? 1 : 0;
    run_->follows = links * 2 > live;  // a layer beside the way is an edit; experts are all beside it
  }

  /// What flows at the head and the foot of each layer: past those that are bypassed.
  void passDown() {
    ValueId now =
        links_.empty() || layerOf(producerOf(links_.back().value)) >= 0 ? ValueId{} : links_.back().value;
    for (std::vector<ValueId>& made : made_) {
      run_->enters.push_back(now);
      if (!made.empty()) now = made.front();  // the way back met the last one first
      run_->leaves.push_back(now);
    }
  }

  bool flowsIn(int layer, ValueId value) const {
    const std::vector<ValueId>& made = made_[at(layer)];
    return value == run_->enters[at(layer)] || std::find(made.begin(), made.end(), value) != made.end();
  }

  void tell() {
    if (!run_->follows) return;
    for (size_t layer = 0; layer < run_->layers.size(); ++layer) {
      const Span span = spanOf(static_cast<int>(layer));
      for (int position = span.begin; position < span.end; ++position)
        tellNode(scene_.nodes[at(position)], static_cast<int>(layer));
    }
    if (run_->leaves.back().valid())
      for (const graph::Use& use : graph_.users(run_->leaves.back()))
        if (layerOf(use.node) < 0) uses_.add(run_->leaves.back(), use.node);
    for (const Link& link : links_)
      if (link.joins && link.user.valid()) tellJoin(link);
  }

  void tellNode(SceneNode& node, int layer) {
    for (const ValueId input : graph_.node(node.id).inputs) {
      if (!input.valid() || !flowsIn(layer, input)) continue;
      uses_.add(input, node.id);
      node.stream |= stream::reads;
    }
    const std::vector<ValueId>& made = made_[at(layer)];
    for (const ValueId output : graph_.node(node.id).outputs)
      if (std::find(made.begin(), made.end(), output) != made.end()) node.stream |= stream::makes;
  }

  /// A node that only adds is the ring itself. One that does more, or stands in the next layer, takes the
  /// stream as others do, and what it adds goes to the stream where it was made.
  void tellJoin(const Link& link) {
    const SceneNode* found = scene_.find(link.user);
    if (!found) return;
    SceneNode& join = scene_.nodes[at(found->position)];
    const int layer = layerOf(join.id);
    bool own = graph_.node(join.id).outputs.size() == 1 && (join.stream & stream::makes) != 0;
    for (const ValueId other : operands(join.id)) {
      const int from = layerOf(producerOf(other));
      if (other == link.value || from < 0) continue;
      own &= from == layer;
      if (own) continue;
      scene_.nodes[at(scene_.nodeOf.at(producerOf(other)))].stream |= stream::adds;
      uses_.add(other, join.id);
    }
    if (own)
      join.stream = static_cast<uint8_t>((join.stream & ~(stream::reads | stream::makes)) | stream::joins);
    else if (graph_.node(join.id).outputs.size() > 1)
      join.stream &= static_cast<uint8_t>(~stream::makes);
  }

  SceneGraph& scene_;
  const graph::Graph& graph_;
  StreamUses& uses_;
  std::unordered_map<NodeId, size_t> order_;
  SceneRun* run_ = nullptr;
  std::vector<Link> links_;                 // the last one first
  std::vector<std::vector<ValueId>> made_;  // by layer: what of the stream it makes, the last one first
};

}  // namespace

StreamUses traceStreams(SceneGraph& scene) {
  StreamUses uses;
  findRuns(scene);
  Tracer tracer(scene, uses);
  for (SceneRun& run : scene.runs) tracer.trace(run);
  return uses;
}

}  // namespace orrery::ui
