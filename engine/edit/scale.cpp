// scale node=N factor=F: what N makes is multiplied by F before anybody reads it.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/number_in.h"
#include "engine/edit/rewire.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> scale(graph::Graph& graph, const Edit& edit) {
  const std::string &path = edit.fields.at("node"), &factor = edit.fields.at("factor"),
                    &as = edit.fields.at("as");
  ORRERY_ASSIGN(const NodeId id, find_node(graph, path));
  const ValueId value = graph.node(id).outputs.front();
  if (graph.value(value).kind != graph::ValueKind::activation)
    return Error{ErrorCode::invalid_argument, described(graph, value) + " is not computed in a step", path,
                 "scale a node that reads it"};
  if (!as.empty()) ORRERY_TRY(check_free(graph, as));
  graph::Transaction transaction(graph, fmt::format("scale {} by {}", path, factor));
  ORRERY_TRY(insert_after(graph, transaction,
                          {"scale",
                           as.empty() ? free_path(graph, path + "_scale") : as,
                           {{"factor", *number_in<double>(factor)}},
                           {value}}));
  return transaction.commit();
}

}  // namespace

Verb scale_verb() {
  static constexpr Field kFields[] = {
      {"node", FieldKind::node, "whose first output is multiplied"},
      {"factor", FieldKind::real, "by what; 0 takes it out of the sum that it goes into"},
      {"as", FieldKind::name, "scope and name of the scale node; NODE_scale", false}};
  return {"scale", "what a node makes is multiplied by a number", kFields, scale};
}

}  // namespace orrery::edit
