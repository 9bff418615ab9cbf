// probe as=NAME value=V: marks a value that is to be kept and shown. No number changes, and no context is
// read again.
#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/rewire.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> probe(graph::Graph& graph, const Edit& edit) {
  const std::string &path = edit.fields.at("as"), &name = edit.fields.at("value");
  ORRERY_TRY(check_free(graph, path));
  ORRERY_ASSIGN(const ValueId value, find_value(graph, name));
  if (graph.value(value).kind != graph::ValueKind::activation)
    return Error{ErrorCode::invalid_argument, described(graph, value) + " is not computed in a step", path,
                 "probe what a node computes: weights and inputs are there as they are"};
  graph::Transaction transaction(graph, "probe " + name);
  ORRERY_TRY(insert_after(graph, transaction, {"probe", path, {}, {value}}));
  return transaction.commit();
}

}  // namespace

Verb probe_verb() {
  static constexpr Field kFields[] = {
      {"as", FieldKind::name, "its scope and name: layers.3.probe"},
      {"value", FieldKind::value, "what is kept and shown: layers.3.mlp.residual:dst"}};
  return {"probe", "marks a value to be kept and shown; no number changes", kFields, probe};
}

}  // namespace orrery::edit
