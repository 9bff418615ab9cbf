// move scope=layers.9 after=layers.2: its neighbours join, and the stream passes through it at another place.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/edit.h"
#include "engine/edit/region.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"

namespace orrery::edit {
namespace {

/// What is moved, or where to, with its stream.
struct Part {
  Region region;
  Stream stream;
};

Result<Part> part_of(const graph::Graph& graph, const std::string& pattern) {
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  Part part{region_of(graph, scopes), {}};
  ORRERY_ASSIGN(part.stream,
                find_stream(graph, part.region, pattern,
                            "a layer is moved, or a part of one with its residual add, to beside another"));
  return part;
}

/// Who reads the value outside the region that moves.
std::vector<graph::Use> readers(const graph::Graph& graph, ValueId value, const Region& moved) {
  std::vector<graph::Use> uses = graph.users(value);
  std::erase_if(uses, [&](const graph::Use& use) { return moved.contains(use.node); });
  return uses;
}

class Moving {
 public:
  Moving(graph::Graph& graph, std::string name) : graph_(graph), transaction_(graph, std::move(name)) {}

  /// What enters the region also leaves it, for those outside.
  Result<void> take_out(const Part& part) {
    return replace_outside(graph_, transaction_, part.region, part.stream.leaves, part.stream.enters);
  }
  /// The readers of a value take what leaves the region, which takes the value.
  Result<void> put_in(const Part& part, ValueId value, const std::vector<graph::Use>& readers, bool output) {
    for (const graph::Use& use : graph_.users(part.stream.enters))
      if (part.region.contains(use.node)) ORRERY_TRY(transaction_.set_input(use.node, use.input, value));
    for (const graph::Use& use : readers)
      ORRERY_TRY(transaction_.set_input(use.node, use.input, part.stream.leaves));
    if (output) replace_output(graph_, transaction_, value, part.stream.leaves);
    return {};
  }
  void stand_before(const Part& part, NodeId node) { transaction_.move_nodes(part.region.nodes, node); }
  Result<graph::Journal> commit() { return transaction_.commit(); }

 private:
  const graph::Graph& graph_;
  graph::Transaction transaction_;
};

/// The node after the region that does not move itself.
NodeId next_after(const graph::Graph& graph, const Region& region, const Region& moved) {
  NodeId next = next_in_order(graph, region.nodes.back());
  while (next.valid() && moved.contains(next)) next = next_in_order(graph, next);
  return next;
}

Result<graph::Journal> move(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &after = edit.fields.at("after"),
                    &before = edit.fields.at("before");
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), pattern.substr(0, 200), std::move(advice)};
  };
  if (after.empty() == before.empty())
    return refuse(after.empty() ? "It is not said where to" : "It is said twice where to",
                  "add after=SCOPE or before=SCOPE, one of both");
  const std::string& where = after.empty() ? before : after;
  ORRERY_ASSIGN(const Part part, part_of(graph, pattern));
  ORRERY_ASSIGN(const Part place, part_of(graph, where));
  if (std::ranges::any_of(place.region.nodes, [&](NodeId id) { return part.region.contains(id); }))
    return refuse(fmt::format("{} is a part of it, or it of {}", where, where),
                  "choose a scope outside of it");
  const ValueId value = after.empty() ? place.stream.enters : place.stream.leaves;
  if (value == (after.empty() ? part.stream.leaves : part.stream.enters))
    return refuse(fmt::format("It is {} {} already", after.empty() ? "before" : "after", where), "");
  if (graph.value(value).type != graph.value(part.stream.enters).type)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("There the stream is {}, and it takes {}", described(graph, value),
                             described(graph, part.stream.enters)),
                 pattern.substr(0, 200), "choose a place in the same stream"};
  Moving moving(graph, fmt::format("move {} {} {}", pattern, after.empty() ? "before" : "after", where));
  ORRERY_TRY(moving.take_out(part));
  std::vector<graph::Use> taking = readers(graph, value, part.region);
  if (after.empty())
    std::erase_if(taking, [&](const graph::Use& use) { return !place.region.contains(use.node); });
  ORRERY_TRY(moving.put_in(part, value, taking, !after.empty()));
  moving.stand_before(
      part, after.empty() ? place.region.nodes.front() : next_after(graph, place.region, part.region));
  return moving.commit();
}

}  // namespace

Verb move_verb() {
  static constexpr Field kFields[] = {
      {"scope", FieldKind::scopes, "what is moved as a whole: one stream enters it, and one leaves it"},
      {"after", FieldKind::scopes, "what it comes after", false},
      {"before", FieldKind::scopes, "or what it comes before", false}};
  return {"move", "a layer, or several that follow one another, at another place of the stream", kFields,
          move};
}

}  // namespace orrery::edit
