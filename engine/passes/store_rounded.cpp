// A kernel that multiplies bf16 rounds its float32 input first. Where every reader of a value does so, its
// maker may round it instead: the same numbers, and half the bytes on both sides.
#include <algorithm>
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

/// Whether nobody takes the value as it is: each reader rounds it to this type, as its first input. A node
/// that no output needs has a say while it is there, as types must fit all of them.
bool is_rounded(const graph::Graph& graph, const Roundings& roundings, ValueId value, DType dtype) {
  const std::vector<ValueId>& outputs = graph.outputs();
  if (graph.value(value).type.dtype != DType::f32 ||
      std::find(outputs.begin(), outputs.end(), value) != outputs.end())
    return false;
  const std::vector<graph::Use> uses = graph.users(value);
  return std::all_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
    const auto reader = roundings.find(use.node);
    return use.input == 0 && reader != roundings.end() && reader->second.reads == dtype;
  });
}

}  // namespace

Result<int> store_rounded(Draft& draft, const RoundingOf& rounding) {
  const Roundings roundings = roundings_of(draft.graph(), rounding);
  std::vector<NodeId> makers;
  for (const auto& [id, own] : roundings) {
    if (own.writes == DType::f32) continue;
    const graph::Graph& graph = draft.graph();
    const std::vector<ValueId>& outputs = graph.node(id).outputs;  // all are stored alike
    if (std::all_of(outputs.begin(), outputs.end(),
                    [&](ValueId output) { return is_rounded(graph, roundings, output, own.writes); }))
      makers.push_back(id);
  }
  if (makers.empty()) return 0;
  for (const NodeId id : makers)
    ORRERY_TRY(draft.edit().set_attribute(id, std::string(graph::kStoredAttribute),
                                          graph::Attribute(std::string(name_of(roundings.at(id).writes)))));
  ORRERY_TRY(draft.edit().infer_types());
  return static_cast<int>(makers.size());
}

}  // namespace orrery::passes
