#include "engine/compile/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/compile/trial.h"
#include "engine/passes/rewrite.h"

namespace orrery::compile {
namespace {

const std::string kDevice{graph::kDeviceAttribute};

kernels::DeviceId id_of(std::string_view device) {
  return kernels::parse_device_id(device).value_or(kernels::kCpuId);
}

/// What a transfer to the device is called after: "cpu", "cuda1".
std::string word_of(std::string_view device) {
  std::string word(device);
  std::erase(word, ':');
  return word;
}

/// Where one node is to run, and why there.
struct Place {
  std::string asked, device, reason;
  void move(std::string_view to, std::string why) {
    if (device == to) return;
    device = to;
    reason = std::move(why);
  }
};

/// Decides the places of all nodes, then writes them into a copy of the graph.
class Placer {
 public:
  Placer(const graph::Graph& fused, const PlacementOptions& options) : fused_(fused), options_(options) {}

  void decide() {
    for (const NodeId id : fused_.order()) {
      const graph::Node& node = fused_.node(id);
      if (node.is_source()) continue;
      const std::string_view device = device_of(node);
      Place& place = places_[id];
      place.asked = place.device = device.empty() ? options_.home : std::string(device);
      if (place.asked == graph::kCpu) continue;
      if (auto reason = refusal_of(node, place.asked)) place.move(graph::kCpu, std::move(*reason));
    }
    for (const auto& [state, users] : state_users()) settle(users);
  }

  /// Whether all run at home and none names a device.
  bool as_it_was() const {
    return std::all_of(places_.begin(), places_.end(), [&](const auto& entry) {
      return entry.second.device == options_.home && device_of(fused_.node(entry.first)).empty();
    });
  }

  std::vector<kernels::DeviceId> cards() const {
    std::set<kernels::DeviceId> cards;
    for (const auto& [id, place] : places_)
      if (place.device != graph::kCpu) cards.insert(id_of(place.device));
    return {cards.begin(), cards.end()};
  }

  std::vector<Moved> moved() const {
    std::vector<Moved> moved;
    for (const NodeId id : fused_.order())
      if (const auto it = places_.find(id); it != places_.end() && it->second.device != it->second.asked)
        moved.push_back({id, it->second.asked, it->second.device, it->second.reason});
    return moved;
  }

  Result<graph::GraphVersion> write() const {
    auto graph = std::make_shared<graph::Graph>(fused_);
    for (const auto& [id, place] : places_) {
      const bool home = place.device == options_.home;
      if (device_of(graph->node(id)) == (home ? std::string_view() : place.device)) continue;
      ORRERY_TRY(graph->set_attribute(id, kDevice,
                                      home ? std::nullopt : std::optional<graph::Attribute>(place.device)));
    }
    for (const NodeId id : fused_.order())
      if (!fused_.node(id).is_source()) ORRERY_TRY(carry_inputs(*graph, id));
    return graph::GraphVersion(std::move(graph));
  }

 private:
  /// Nothing when the CPU has none either: that is no matter of placement, and compiling tells it.
  std::optional<std::string> refusal_of(const graph::Node& node, const std::string& device) const {
    auto reason = refusal(fused_, node, id_of(device), options_);
    if (!reason || refusal(fused_, node, kernels::kCpuId, options_)) return std::nullopt;
    return reason;
  }

  /// The nodes that touch each state, by its source.
  std::map<ValueId, std::vector<NodeId>> state_users() const {
    std::unordered_map<ValueId, ValueId> source;  // of a state's value, the source's own included
    std::map<ValueId, std::vector<NodeId>> users;
    for (const NodeId id : fused_.order()) {
      const graph::Node& node = fused_.node(id);
      ValueId touched;
      for (const ValueId input : node.inputs)
        if (const auto it = source.find(input); it != source.end()) touched = it->second;
      if (touched.valid()) users[touched].push_back(id);
      for (const ValueId output : node.outputs)
        if (fused_.value(output).kind == graph::ValueKind::state)
          source.emplace(output, touched.valid() ? touched : output);
    }
    return users;
  }

  bool writes_state(NodeId id) const {
    const std::vector<ValueId>& outputs = fused_.node(id).outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](ValueId output) { return fused_.value(output).kind == graph::ValueKind::state; });
  }

  /// A state lies where it is written; when one that touches it has no kernel there, all are on the CPU.
  void settle(const std::vector<NodeId>& users) {
    const auto writer = std::find_if(users.begin(), users.end(), [&](NodeId id) { return writes_state(id); });
    const NodeId first = writer == users.end() ? users.front() : *writer;
    const std::string lies = places_.at(first).device;
    NodeId refused;
    std::string why;
    for (const NodeId id : users) {
      const auto reason = lies == graph::kCpu ? std::nullopt : refusal_of(fused_.node(id), lies);
      if (!reason || refused.valid()) continue;
      refused = id;
      why = *reason;
    }
    for (const NodeId id : users) {
      if (refused.valid())
        places_.at(id).move(graph::kCpu,
                            id == refused ? why
                                          : fmt::format("it shares its state with {}, which runs there: {}",
                                                        fused_.node(refused).path(), why));
      else
        places_.at(id).move(lies, fmt::format("the state that it reads lies there, where {} writes it",
                                              fused_.node(first).path()));
    }
  }

  /// Inputs that are made on another device are read from copies: one a value and device.
  Result<void> carry_inputs(graph::Graph& graph, NodeId reader) const {
    const std::string& device = places_.at(reader).device;
    const std::vector<ValueId> inputs = graph.node(reader).inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const graph::Value* value = graph.find_value(inputs[i]);
      if (!value || value->kind != graph::ValueKind::activation) continue;
      const auto made = places_.find(value->producer);
      if (made == places_.end() || made->second.device == device) continue;
      ORRERY_ASSIGN(const ValueId copy, copy_of(graph, *value, reader));
      ORRERY_TRY(graph.set_input(reader, static_cast<int>(i), copy));
    }
    return {};
  }

  Result<ValueId> copy_of(graph::Graph& graph, const graph::Value& value, NodeId reader) const {
    const std::string& device = places_.at(reader).device;
    for (const graph::Use& use : graph.users(value.id))
      if (const graph::Node& user = graph.node(use.node); is_transfer(user) && device_of(user) == device)
        return user.outputs.front();
    const std::string& scope = graph.node(reader).scope;
    const std::string name = graph.node(value.producer).name + "_to_" + word_of(device);
    ORRERY_ASSIGN(const NodeId transfer, graph.add_node({std::string(graph::kTransferOp),
                                                         scope,
                                                         passes::free_name(graph, scope, name),
                                                         {{kDevice, device}},
                                                         {value.id},
                                                         {},
                                                         reader}));
    return graph.node(transfer).outputs.front();
  }

  const graph::Graph& fused_;
  const PlacementOptions& options_;
  std::unordered_map<NodeId, Place> places_;
};

/// The graph with the attribute taken from the nodes that have that text for it.
graph::GraphVersion without(graph::GraphVersion model, const std::string& attribute, std::string_view text,
                            std::string_view (*text_of)(const graph::Node&)) {
  std::shared_ptr<graph::Graph> plain;
  for (const NodeId id : model->order()) {
    if (text_of(model->node(id)) != text) continue;
    if (!plain) plain = std::make_shared<graph::Graph>(*model);
    static_cast<void>(plain->set_attribute(id, attribute, std::nullopt));  // every op may be without it
  }
  return plain ? graph::GraphVersion(std::move(plain)) : std::move(model);
}

}  // namespace

graph::GraphVersion without_home(graph::GraphVersion model, std::string_view home) {
  return without(std::move(model), kDevice, home, graph::device_of);
}

graph::GraphVersion without_default(graph::GraphVersion model, kernels::Precision precision) {
  return without(std::move(model), std::string(graph::kPrecisionAttribute), name_of(precision),
                 graph::precision_of);
}

graph::GraphVersion with_default(const graph::Graph& model, kernels::Precision precision) {
  auto named = std::make_shared<graph::Graph>(model);
  for (const NodeId id : model.order())
    if (const graph::Node& node = model.node(id); !node.is_source() && precision_of(node).empty())
      static_cast<void>(named->set_attribute(id, std::string(graph::kPrecisionAttribute),
                                             graph::Attribute(std::string(name_of(precision)))));
  return named;
}

std::vector<kernels::DeviceId> cards_asked(const graph::Graph& graph, std::string_view home) {
  std::set<kernels::DeviceId> cards;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!live[i] || node.is_source()) continue;
    const std::string_view device = device_of(node);
    if (const kernels::DeviceId id = id_of(device.empty() ? home : device); !id.is_cpu()) cards.insert(id);
  }
  return {cards.begin(), cards.end()};
}

Result<Placement> place(graph::GraphVersion fused, const PlacementOptions& options) {
  Placer placer(*fused, options);
  placer.decide();
  Placement placement{std::move(fused), placer.moved(), placer.cards()};
  if (placer.as_it_was()) return placement;
  ORRERY_ASSIGN(placement.graph, placer.write());
  return placement;
}

}  // namespace orrery::compile
