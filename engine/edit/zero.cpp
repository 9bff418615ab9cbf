// zero node=N heads=2-3: heads of an attention node, or rows of what a linear gives, are zero for all who
// read them.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/edit.h"
#include "engine/edit/mask.h"
#include "engine/edit/names.h"

namespace orrery::edit {
namespace {

/// The parts of a node that are counted: its heads, or the columns of what it makes, which are the rows of a
/// linear's weight.
struct Units {
  std::string_view ranges, name;  // "2-3", "head"
  int64_t count = 0;
};

Result<Units> units_of(const graph::Graph& graph, NodeId id, const Edit& edit) {
  const std::string &heads = edit.fields.at("heads"), &rows = edit.fields.at("rows");
  const graph::Node& node = graph.node(id);
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), node.path(), std::move(advice)};
  };
  if (heads.empty() == rows.empty())
    return refuse(heads.empty() ? "It is not said what of it" : "It is said twice what of it",
                  "add heads=RANGES or rows=RANGES, one of both");
  ORRERY_ASSIGN(const Kept columns, kept_of(graph, id));
  if (!rows.empty()) return Units{rows, "row", static_cast<int64_t>(columns.size())};
  const std::optional<int64_t> count = heads_of(node);
  if (!count)
    return refuse(fmt::format("A {} has no heads", node.op->name), "name an attention node, or use rows");
  return Units{heads, "head", *count};
}

Result<graph::Journal> zero(graph::Graph& graph, const Edit& edit) {
  const std::string& path = edit.fields.at("node");
  ORRERY_ASSIGN(const NodeId id, find_node(graph, path));
  ORRERY_ASSIGN(const Units units, units_of(graph, id, edit));
  ORRERY_ASSIGN(const Kept zeroed, columns_of(graph, id, units.ranges, units.count, units.name));
  ORRERY_ASSIGN(Kept kept, kept_of(graph, id));
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = kept[i] && !zeroed[i];
  graph::Transaction transaction(graph, fmt::format("zero {}s {} of {}", units.name, units.ranges, path));
  ORRERY_ASSIGN(const bool changed, keep_columns(graph, transaction, id, kept));
  if (!changed)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("The {}s {} are zero already", units.name, units.ranges), path.substr(0, 200),
                 ""};
  return transaction.commit();
}

}  // namespace

Verb zero_verb() {
  static constexpr Field kFields[] = {
      {"node", FieldKind::node, "an attention node, or a linear"},
      {"heads", FieldKind::ranges, "query heads, counted from 0: 2-3,7", false},
      {"rows", FieldKind::ranges, "or rows of the linear's weight, which are columns of what it gives",
       false}};
  return {"zero", "heads, or rows, of what a node makes are zero", kFields, zero};
}

}  // namespace orrery::edit
