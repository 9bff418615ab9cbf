#include "engine/api/gradients.h"

#include <fmt/format.h>

#include "engine/api/guard.h"
#include "engine/passes/differentiate.h"

namespace orrery::api {
namespace {

/// The node's path where it has one output, "path:output" otherwise.
std::string name_of(const graph::Graph& graph, ValueId value) {
  const graph::Node& maker = graph.node(graph.value(value).producer);
  return maker.outputs.size() == 1 ? maker.path() : graph.value_path(value);
}

}  // namespace

Result<ValueId> find_value(const graph::Graph& graph, const std::string& name) {
  const size_t colon = name.find(':');
  if (const NodeId id = graph.find_path(name.substr(0, colon)); id.valid()) {
    const graph::Node& node = graph.node(id);
    for (const ValueId output : node.outputs)
      if (colon == std::string::npos || graph.value(output).name == name.substr(colon + 1)) return output;
  }
  return Error{ErrorCode::not_found, fmt::format("The graph has no value {}", name), "",
               "name a node, or node:output"};
}

std::vector<ValueId> float_sources(const graph::Graph& graph) {
  std::vector<ValueId> values;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.op->name != "input" && node.op->name != "weight") continue;
    const DType dtype = graph.value(node.outputs.front()).type.dtype;
    if (is_float(dtype) || !is_element(dtype)) values.push_back(node.outputs.front());
  }
  return values;
}

Result<GradientGraph> with_gradients(const graph::Graph& graph, const std::vector<GradientEnd>& of,
                                     const std::vector<ValueId>& by) {
  return guarded([&]() -> Result<GradientGraph> {
    std::vector<passes::Differentiated> ends;
    for (const GradientEnd& end : of) ends.push_back({end.value, end.gradient});
    ORRERY_ASSIGN(passes::Derivatives made, passes::differentiate(graph, ends, by));
    std::vector<ValueId> outputs = graph.outputs();
    outputs.insert(outputs.end(), made.values.begin(), made.values.end());
    made.graph.set_outputs(std::move(outputs));
    GradientGraph result{std::make_shared<const graph::Graph>(std::move(made.graph)), {}};
    for (const ValueId value : by) result.names.push_back("grad_" + name_of(graph, value));
    return result;
  });
}

}  // namespace orrery::api
