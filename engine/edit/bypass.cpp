// bypass scope=S: what enters S also leaves it. The nodes stay in the model graph, dead; the dead-node pass
// takes them out of what runs.
#include <algorithm>

#include "engine/edit/edit.h"
#include "engine/edit/region.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/states.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kAdvice = "bypass takes a layer, or a part of one with its residual add";

Result<void> bypass_one(const graph::Graph& graph, graph::Transaction& transaction,
                        const std::string& scope) {
  const Region region = region_of(graph, graph.in_scope(scope));
  ORRERY_ASSIGN(const Stream stream, find_stream(graph, region, scope, kAdvice));
  return replace_outside(graph, transaction, region, stream.leaves, stream.enters);
}

/// All scopes that the pattern names, in one journal.
Result<graph::Journal> bypass(graph::Graph& graph, const Edit& edit) {
  const std::string& pattern = edit.fields.at("scope");
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  graph::Transaction transaction(graph, "bypass " + pattern);
  for (const std::string& scope : scopes) ORRERY_TRY(bypass_one(graph, transaction, scope));
  ORRERY_TRY(settle_states(graph, transaction));
  return transaction.commit();
}

}  // namespace

Verb bypass_verb() {
  static constexpr Field kFields[] = {
      {.name = "scope",
       .kind = FieldKind::scopes,
       .doc = "what is bypassed: one stream enters it, and one of the same type leaves it",
       .spread = Spread::scopes}};
  return {"bypass", "what enters the scope also leaves it; its nodes stay, hollow", kFields, bypass};
}

Result<void> can_bypass(const graph::Graph& graph, std::string_view pattern) {
  if (std::optional<Error> refused = refusal(graph, {"bypass", {{"scope", std::string(pattern)}}}))
    return std::move(*refused);
  return {};
}

}  // namespace orrery::edit
