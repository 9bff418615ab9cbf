#include "engine/api/model_results.h"

#include <fmt/format.h>

#include <vector>

namespace orrery::api {
namespace {

std::vector<ValueId> results_of(const graph::Graph& graph) {
  std::vector<ValueId> results;
  for (const ValueId output : graph.outputs())
    if (graph.value(output).kind != graph::ValueKind::state) results.push_back(output);
  return results;
}

std::string described(const graph::Graph& graph, ValueId value) {
  return fmt::format("{} {}", graph.value_path(value), to_string(graph.value(value).type));
}

}  // namespace

Result<void> check_results(const graph::Graph& opened, const graph::Graph& edited) {
  const std::vector<ValueId> wanted = results_of(opened), given = results_of(edited);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i < given.size() && edited.value(given[i]).type == opened.value(wanted[i]).type &&
        edited.outputs()[i] == given[i])
      continue;
    return Error{ErrorCode::shape_mismatch,
                 i < given.size()
                     ? fmt::format("The model gives {}; as it was opened it gives {}",
                                   described(edited, given[i]), described(opened, wanted[i]))
                     : fmt::format("The model gives no {} any more", described(opened, wanted[i])),
                 i < given.size() ? edited.node(edited.value(given[i]).producer).path() : std::string(),
                 "what a model gives keeps its type: end with a node that makes it"};
  }
  return {};
}

}  // namespace orrery::api
