// A kernel that multiplies bf16 rounds its float32 input first. Where every reader of a value does so, its
// maker may round it instead: the same numbers, and half the bytes on both sides.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "engine/passes/pass_list.h"

namespace orrery::passes {
namespace {

using Roundings = std::unordered_map<NodeId, ops::Rounding>;

/// Of the live nodes that run a kernel.
Roundings roundings_of(const graph::Graph& graph, const RoundingOf& rounding) {
  Roundings roundings;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i)
    if (const graph::Node& node = graph.node(graph.order()[i]); live[i] && node.op->lowering)
      roundings.emplace(node.id, rounding(graph, node));
  return roundings;
}

/// Whether nobody takes the value as it is: each reader rounds it to this type, as one of its first inputs. A
/// node that no output needs has a say while it is there, as types must fit all of them.
bool is_rounded(const graph::Graph& graph, const Roundings& roundings, ValueId value, DType dtype) {
  const std::vector<ValueId>& outputs = graph.outputs();
  if (graph.value(value).type.dtype != DType::f32 ||
      std::find(outputs.begin(), outputs.end(), value) != outputs.end())
    return false;
  const std::vector<graph::Use> uses = graph.users(value);
  return std::all_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
    const auto reader = roundings.find(use.node);
    return reader != roundings.end() && use.input < reader->second.inputs && reader->second.reads == dtype;
  });
}

/// Whether a reader of the node's outputs would get some of the inputs that it takes rounded from nodes that
/// are not among the makers: it takes all of them so, or none.
bool is_read_with_others(const graph::Graph& graph, const Roundings& roundings,
                         const std::set<NodeId>& makers, NodeId id) {
  const auto mixed = [&](const graph::Use& use) {
    const std::vector<ValueId>& inputs = graph.node(use.node).inputs;
    return !std::all_of(inputs.begin(), inputs.begin() + roundings.at(use.node).inputs,
                        [&](ValueId input) { return makers.contains(graph.value(input).producer); });
  };
  return std::ranges::any_of(graph.node(id).outputs, [&](ValueId output) {
    const std::vector<graph::Use> uses = graph.users(output);
    return std::ranges::any_of(uses, mixed);
  });
}

}  // namespace

Result<int> store_rounded(Draft& draft, const RoundingOf& rounding) {
  const Roundings roundings = roundings_of(draft.graph(), rounding);
  const graph::Graph& graph = draft.graph();
  std::set<NodeId> makers;
  for (const auto& [id, own] : roundings) {
    const std::vector<ValueId>& outputs = graph.node(id).outputs;  // all are stored alike
    if (own.writes != DType::f32 && std::ranges::all_of(outputs, [&](ValueId output) {
          return is_rounded(graph, roundings, output, own.writes);
        }))
      makers.insert(id);
  }
  const auto left_out = [&](NodeId id) { return is_read_with_others(graph, roundings, makers, id); };
  while (std::erase_if(makers, left_out) > 0) {
  }
  if (makers.empty()) return 0;
  for (const NodeId id : makers)
    ORRERY_TRY(draft.edit().set_attribute(id, std::string(graph::kStoredAttribute),
                                          graph::Attribute(std::string(name_of(roundings.at(id).writes)))));
  ORRERY_TRY(draft.edit().infer_types());
  return static_cast<int>(makers.size());
}

}  // namespace orrery::passes
