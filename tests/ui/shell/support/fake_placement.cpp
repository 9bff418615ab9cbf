#include "support/fake_placement.h"

#include <map>
#include <stdexcept>

#include "engine/edit/scope_pattern.h"

namespace orrery::ui::testing {
namespace {

const std::string kDevice(graph::kDeviceAttribute);

template <class T>
T need(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

void need(const Result<void>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
}

void place(graph::Graph& graph, const edit::Edit& edit) {
  const std::string& device = edit.fields.at("device");
  for (const std::string& scope : need(edit::match_scopes(graph, edit.fields.at("scope"))))
    for (const NodeId id : graph.in_scope(scope)) {
      if (graph.node(id).is_source()) continue;
      need(graph.set_attribute(id, kDevice,
                               device == "home" ? std::nullopt : std::optional<graph::Attribute>(device)));
    }
}

std::string asked(const graph::Node& node, const std::string& home) {
  const std::string_view device = graph::device_of(node);
  return device.empty() ? home : std::string(device);
}

std::string runsOn(const graph::Node& node, const std::string& home) {
  return node.op->family == graph::OpFamily::norm ? "cpu" : asked(node, home);
}

}  // namespace

graph::GraphVersion placed(const graph::GraphVersion& graph, const std::vector<edit::Edit>& recipe) {
  graph::Graph copy = *graph;
  for (const edit::Edit& edit : recipe)
    if (edit.op == "place") {
      place(copy, edit);
    } else if (edit.op == "precision") {
      static_cast<void>(need(edit::apply(copy, edit)));
    }
  return std::make_shared<const graph::Graph>(std::move(copy));
}

std::vector<api::NodePlacement> placementOf(const graph::Graph& model, const std::string& home) {
  std::vector<api::NodePlacement> places;
  for (const NodeId id : model.order()) {
    const graph::Node& node = model.node(id);
    if (node.is_source()) continue;
    const std::string wanted = asked(node, home), device = runsOn(node, home);
    if (wanted == home && device == home) continue;
    places.push_back(
        {id, wanted, device, wanted == device ? "" : "cuda.rms_norm takes no rows of 64 columns"});
  }
  return places;
}

graph::GraphVersion withTransfers(const graph::Graph& model, const std::string& home) {
  graph::Graph graph = model;
  std::map<std::pair<ValueId, std::string>, ValueId> carried;
  for (const NodeId id : model.order()) {
    const graph::Node& node = model.node(id);
    if (node.is_source()) continue;
    const std::string device = runsOn(node, home);
    need(graph.set_attribute(id, kDevice,
                             device == home ? std::nullopt : std::optional<graph::Attribute>(device)));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      const graph::Node& producer = model.node(model.value(node.inputs[i]).producer);
      if (producer.is_source() || runsOn(producer, home) == device) continue;
      ValueId& copy = carried[{node.inputs[i], device}];
      if (!copy.valid()) {
        const NodeId made = need(graph.add_node({std::string(graph::kTransferOp),
                                                 node.scope,
                                                 producer.name + "_to_" + device.substr(0, 4),
                                                 {{kDevice, device}},
                                                 {node.inputs[i]},
                                                 {},
                                                 id}));
        copy = graph.node(made).outputs.front();
      }
      need(graph.set_input(id, static_cast<int>(i), copy));
    }
  }
  return std::make_shared<const graph::Graph>(std::move(graph));
}

}  // namespace orrery::ui::testing
