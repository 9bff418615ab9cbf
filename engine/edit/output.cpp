// output value=V: whoever runs the graph gets V as a result. remove=true: no more.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/region.h"
#include "engine/edit/states.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> output(graph::Graph& graph, const Edit& edit) {
  const std::string& name = edit.fields.at("value");
  const bool remove = edit.fields.at("remove") == "true";
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), name.substr(0, 200), std::move(advice)};
  };
  ORRERY_ASSIGN(const ValueId value, find_value(graph, name));
  if (graph.value(value).kind == graph::ValueKind::state)
    return refuse("It is a state, which the graph keeps while something that runs needs it",
                  "name what is computed of it");
  if (is_output(graph, value) != remove)
    return refuse(remove ? "It is no result of the graph" : "It is a result of the graph already", "");
  std::vector<ValueId> outputs = graph.outputs();
  if (remove)
    std::erase(outputs, value);
  else
    outputs.push_back(value);
  graph::Transaction transaction(graph, fmt::format("{} {}", remove ? "no output of" : "output", name));
  transaction.set_outputs(std::move(outputs));
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

}  // namespace

Verb output_verb() {
  static constexpr Field kFields[] = {
      {"value", FieldKind::value, "what is given to whoever runs the graph"},
      {"remove", FieldKind::flag, "it is no result any more", false, "false"}};
  return {"output", "a value is a result of the graph", kFields, output};
}

}  // namespace orrery::edit
