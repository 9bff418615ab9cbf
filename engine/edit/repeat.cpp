// repeat scope=layers.4-7 times=2: the run is passed through so often in all. The copies are layers.4@2 and
// so on; they share the weights, and each has states of its own.
#include <fmt/format.h>

#include "engine/edit/copies.h"
#include "engine/edit/edit.h"
#include "engine/edit/number_in.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/states.h"

namespace orrery::edit {
namespace {

constexpr int64_t kMostTimes = 1000;
constexpr size_t kMostNodes = 200'000;

Result<graph::Journal> repeat(graph::Graph& graph, const Edit& edit) {
  const std::string& pattern = edit.fields.at("scope");
  const int64_t times = *number_in<int64_t>(edit.fields.at("times"));
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  const Region run = region_of(graph, scopes);
  ORRERY_ASSIGN(
      const Stream stream,
      find_stream(graph, run, pattern,
                  "repeat takes layers that follow one another, or a part of one with its residual add"));
  const size_t nodes = graph.order().size() + run.nodes.size() * static_cast<size_t>(times - 1);
  if (nodes > kMostNodes)
    return Error{ErrorCode::invalid_argument, fmt::format("The graph would have {} nodes", nodes), pattern,
                 fmt::format("repeat it less often: {} nodes are the most", kMostNodes)};
  graph::Transaction transaction(graph, fmt::format("repeat {} {} times", pattern, times));
  const std::vector<graph::Use> readers = graph.users(stream.leaves);
  const NodeId before = next_in_order(graph, run.nodes.back());
  ValueId leaves = stream.leaves;
  int number = 1;
  for (int64_t i = 1; i < times; ++i) {
    number = free_number(graph, scopes, number + 1);
    ORRERY_ASSIGN(const CopiedValues copy, copy_region(graph, transaction, run, scopes, suffix_of(number),
                                                       before, {{stream.enters, leaves}}));
    leaves = copy.at(stream.leaves);
  }
  for (const graph::Use& use : readers)
    if (!run.contains(use.node)) ORRERY_TRY(transaction.set_input(use.node, use.input, leaves));
  replace_output(graph, transaction, stream.leaves, leaves);
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

}  // namespace

Verb repeat_verb() {
  static constexpr Field kFields[] = {
      {"scope", FieldKind::scopes, "what is repeated as a whole: layers that follow one another"},
      {.name = "times",
       .kind = FieldKind::integer,
       .doc = "how often the stream passes through it in all",
       .least = 2,
       .most = kMostTimes}};
  return {"repeat", "the stream passes through the scope several times", kFields, repeat};
}

}  // namespace orrery::edit
