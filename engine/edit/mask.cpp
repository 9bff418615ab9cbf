#include "engine/edit/mask.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/ranges.h"

namespace orrery::edit {
namespace {

/// A node's mask: dst = src * columns.
struct Mask {
  NodeId mul;
  NodeId columns;
};

const graph::Value& first_output(const graph::Graph& graph, NodeId node) {
  return graph.value(graph.node(node).outputs.front());
}

const std::vector<double>* data_of(const graph::Node& node) {
  const auto data = node.attributes.find("data");
  return data == node.attributes.end() ? nullptr : std::get_if<std::vector<double>>(&data->second);
}

/// The product that alone reads the node's first output, with a vector of ones and zeros; its names are the
/// person's.
std::optional<Mask> find_mask(const graph::Graph& graph, NodeId node) {
  const graph::Value& src = first_output(graph, node);
  const std::vector<graph::Use> users = graph.users(src.id);
  if (users.size() != 1 || users.front().input != 0) return std::nullopt;
  const graph::Node& mul = graph.node(users.front().node);
  if (mul.op->name != "mul" || mul.inputs.size() != 2) return std::nullopt;
  const graph::Value& factor = graph.value(mul.inputs[1]);
  const auto* data = data_of(graph.node(factor.producer));
  if (factor.kind != graph::ValueKind::constant || !data || factor.type.shape != Shape{src.type.shape.back()})
    return std::nullopt;
  if (!std::ranges::all_of(*data, [](double x) { return x == 0 || x == 1; })) return std::nullopt;
  return Mask{mul.id, factor.producer};
}

/// The path, with a number where a node has it.
std::string free_name(const graph::Graph& graph, const graph::Node& beside, const std::string& name) {
  const std::string scope = beside.scope.empty() ? "" : beside.scope + ".";
  std::string free = name;
  for (int i = 2; graph.find_path(scope + free).valid(); ++i) free = fmt::format("{}_{}", name, i);
  return free;
}

std::vector<double> numbers_of(const Kept& kept) { return {kept.begin(), kept.end()}; }

Result<NodeId> add_columns(const graph::Graph& graph, graph::Transaction& transaction, NodeId node,
                           const Kept& kept, NodeId before) {
  const graph::Node& masked = graph.node(node);
  return transaction.add_node({"constant",
                               masked.scope,
                               free_name(graph, masked, masked.name + "_mask.columns"),
                               {{"shape", std::vector{static_cast<int64_t>(kept.size())}},
                                {"dtype", std::string(name_of(first_output(graph, node).type.dtype))},
                                {"data", numbers_of(kept)}},
                               {},
                               {},
                               before});
}

/// Where the node runs, and how it may round.
graph::Attributes asked_of(const graph::Node& node) {
  graph::Attributes attributes;
  for (const std::string_view name : {graph::kDeviceAttribute, graph::kPrecisionAttribute})
    if (const auto asked = node.attributes.find(name); asked != node.attributes.end())
      attributes.insert(*asked);
  return attributes;
}

Result<void> replace(const graph::Graph& graph, graph::Transaction& transaction, ValueId from, ValueId to,
                     const std::vector<graph::Use>& readers) {
  for (const graph::Use& use : readers) ORRERY_TRY(transaction.set_input(use.node, use.input, to));
  std::vector<ValueId> outputs = graph.outputs();
  std::ranges::replace(outputs, from, to);
  if (outputs != graph.outputs()) transaction.set_outputs(std::move(outputs));
  return {};
}

Result<void> add_mask(const graph::Graph& graph, graph::Transaction& transaction, NodeId node,
                      const Kept& kept) {
  const ValueId src = first_output(graph, node).id;
  const std::vector<graph::Use> readers = graph.users(src);
  const auto after = std::ranges::find(graph.order(), node) + 1;
  const NodeId before = after == graph.order().end() ? NodeId{} : *after;
  ORRERY_ASSIGN(const NodeId columns, add_columns(graph, transaction, node, kept, before));
  const graph::Node& masked = graph.node(node);
  ORRERY_ASSIGN(const NodeId mul, transaction.add_node({"mul",
                                                        masked.scope,
                                                        free_name(graph, masked, masked.name + "_mask"),
                                                        asked_of(masked),
                                                        {src, first_output(graph, columns).id},
                                                        {},
                                                        before}));
  return replace(graph, transaction, src, first_output(graph, mul).id, readers);
}

/// Other nodes may read the same numbers: those keep them.
Result<void> change_mask(const graph::Graph& graph, graph::Transaction& transaction, NodeId node,
                         const Mask& mask, const Kept& kept) {
  if (graph.users(first_output(graph, mask.columns).id).size() == 1)
    return transaction.set_attribute(mask.columns, "data", numbers_of(kept));
  ORRERY_ASSIGN(const NodeId columns, add_columns(graph, transaction, node, kept, mask.mul));
  return transaction.set_input(mask.mul, 1, first_output(graph, columns).id);
}

Result<void> remove_mask(const graph::Graph& graph, graph::Transaction& transaction, NodeId node,
                         const Mask& mask) {
  const ValueId masked = first_output(graph, mask.mul).id;
  ORRERY_TRY(replace(graph, transaction, masked, first_output(graph, node).id, graph.users(masked)));
  ORRERY_TRY(transaction.remove_node(mask.mul));
  if (graph.is_read(first_output(graph, mask.columns).id)) return {};
  return transaction.remove_node(mask.columns);
}

}  // namespace

std::optional<int64_t> heads_of(const graph::Node& node) {
  if (node.op->name != "attention" && node.op->name != "packed_attention") return std::nullopt;
  return std::get<int64_t>(node.attributes.at("heads"));
}

Result<Kept> kept_of(const graph::Graph& graph, NodeId id) {
  const graph::Node& node = graph.node(id);
  const graph::Value& src = first_output(graph, id);
  if (src.kind != graph::ValueKind::activation || src.type.shape.empty() ||
      !src.type.shape.back().is_constant())
    return Error{ErrorCode::invalid_argument,
                 fmt::format("It makes {}, of which no columns can be taken", to_string(src.type)),
                 node.path(), "name an attention node, or a linear"};
  if (const std::optional<Mask> mask = find_mask(graph, id)) {
    const std::vector<double>& data = *data_of(graph.node(mask->columns));
    return Kept(data.begin(), data.end());
  }
  return Kept(static_cast<size_t>(src.type.shape.back().constant()), true);
}

Result<Kept> columns_of(const graph::Graph& graph, NodeId node, std::string_view ranges, int64_t units,
                        std::string_view unit) {
  ORRERY_ASSIGN(Kept columns, kept_of(graph, node));
  const int64_t each = static_cast<int64_t>(columns.size()) / units;
  columns.assign(columns.size(), false);
  for (const Range& range : ranges_in(ranges).value_or(std::vector<Range>())) {
    if (range.last >= units)
      return Error{ErrorCode::invalid_argument, fmt::format("It has no {} {}", unit, range.last),
                   graph.node(node).path(), fmt::format("its {}s are 0 to {}", unit, units - 1)};
    std::fill(columns.begin() + range.first * each, columns.begin() + (range.last + 1) * each, true);
  }
  return columns;
}

Result<bool> keep_columns(const graph::Graph& graph, graph::Transaction& transaction, NodeId node,
                          const Kept& kept) {
  ORRERY_ASSIGN(const Kept now, kept_of(graph, node));
  if (now == kept) return false;
  const std::optional<Mask> mask = find_mask(graph, node);
  if (!mask)
    ORRERY_TRY(add_mask(graph, transaction, node, kept));
  else if (std::ranges::find(kept, false) == kept.end())
    ORRERY_TRY(remove_mask(graph, transaction, node, *mask));
  else
    ORRERY_TRY(change_mask(graph, transaction, node, *mask, kept));
  return true;
}

}  // namespace orrery::edit
