// add(linear(x, W), scale(linear(linear(x, A), B))) -> linear(x, W + factor B A), where W is float32: the
// same bytes are read then, and the small matrices are not. The weight store adds them up when the plan is
// made.
#include <optional>
#include <vector>

#include "engine/ops/merged_adapters.h"
#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

std::string_view text_of(const graph::Node& node, std::string_view name) {
  const auto* text = attribute<std::string>(node, name);
  return text ? std::string_view(*text) : std::string_view();
}

/// The adapter that a matrix is of; none where it is another tensor's, or not as its file has it.
std::optional<ops::MergedAdapter> adapter_of(const graph::Node& matrix, const graph::Node& base) {
  const std::string_view tensor = text_of(matrix, "tensor"), adapted = text_of(base, "tensor");
  if (text_of(matrix, "file").empty() || !text_of(matrix, "transform").empty() ||
      !tensor.starts_with(adapted) || !tensor.substr(adapted.size()).starts_with(".lora_"))
    return std::nullopt;
  return ops::MergedAdapter{1.0, std::string(text_of(matrix, "file")), std::string(text_of(matrix, "stamp"))};
}

/// A float32 tensor of the model's own, read by this linear alone. One of fewer bits would grow when merged.
const graph::Node* base_of(const graph::Graph& graph, const graph::Node& linear) {
  const graph::Node* weight = producer_of(graph, linear.inputs[1], "weight");
  const auto* columns = weight ? attribute<std::vector<int64_t>>(*weight, "columns") : nullptr;
  const auto* stacked = weight ? attribute<int64_t>(*weight, "stacked") : nullptr;
  const bool plain = columns && columns->empty() && stacked && *stacked == 0 &&
                     text_of(*weight, "file").empty() && text_of(*weight, "dtype") == name_of(DType::f32);
  return plain && only_user(graph, weight->outputs[0]) == linear.id ? weight : nullptr;
}

/// The adapter whose product can be taken in.
std::optional<ops::MergedAdapter> mergeable(const graph::Graph& graph, const LowRankSum& sum) {
  const graph::Node& linear = graph.node(sum.linear);
  for (const NodeId id : {sum.inner, sum.outer, sum.scale, sum.add})
    if (id.valid() && !asked_alike(graph.node(id), linear)) return std::nullopt;
  const graph::Node* base = base_of(graph, linear);
  if (!base) return std::nullopt;
  auto a = adapter_of(*producer_of(graph, graph.node(sum.inner).inputs[1], "weight"), *base),
       b = adapter_of(*producer_of(graph, graph.node(sum.outer).inputs[1], "weight"), *base);
  if (!a || !b || a->path != b->path || a->stamp != b->stamp) return std::nullopt;
  if (sum.scale.valid()) a->factor = *attribute<double>(graph.node(sum.scale), "factor");
  return a;
}

Result<void> merge(graph::Graph& graph, const LowRankSum& found, ops::MergedAdapter adapter) {
  std::vector<NodeId> origins = {found.linear, found.inner, found.outer, found.add};
  if (found.scale.valid()) origins.push_back(found.scale);
  const graph::Node linear = graph.node(found.linear);
  graph::Graph::NewNode weight, merged;
  {
    const graph::Node& base = *producer_of(graph, linear.inputs[1], "weight");
    weight.op = "weight";
    weight.scope = base.scope;
    weight.name = free_name(graph, base.scope, base.name + "_merged");
    weight.attributes = base.attributes;
    weight.before = found.linear;
    std::vector<ops::MergedAdapter> adapters = ops::parse_merged(text_of(base, "merged"));
    adapters.push_back(std::move(adapter));
    weight.attributes.insert_or_assign("merged", ops::write_merged(adapters));
  }
  ORRERY_ASSIGN(const NodeId weight_id, graph.add_node(std::move(weight)));
  merged.op = "linear";
  merged.scope = linear.scope;
  merged.name = free_name(graph, linear.scope, linear.name + "_merged");
  merged.attributes = without_drawings(linear);
  merged.inputs = linear.inputs;
  merged.inputs[1] = graph.node(weight_id).outputs[0];
  merged.origins = origins_of(graph, origins);
  merged.before = found.linear;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(merged)));
  ORRERY_TRY(replace_value(graph, graph.node(found.add).outputs[0], graph.node(id).outputs[0]));
  for (const NodeId node : {found.add, found.scale, found.outer, found.inner, found.linear})
    if (node.valid()) ORRERY_TRY(graph.remove_node(node));
  return {};
}

}  // namespace

/// Of several adapters on one linear each gives a sum that the next one's is made of.
Result<int> merge_low_rank(graph::Graph& graph) {
  int rewrites = 0;
  for (const NodeId id : std::vector(graph.order())) {
    const graph::Node* add = graph.find(id);
    const auto sum = add ? match_low_rank(graph, *add) : std::nullopt;
    auto adapter = sum ? mergeable(graph, *sum) : std::nullopt;
    if (!adapter) continue;
    ORRERY_TRY(merge(graph, *sum, std::move(*adapter)));
    ++rewrites;
  }
  return rewrites;
}

}  // namespace orrery::passes
