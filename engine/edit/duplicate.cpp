// duplicate scope=S as=SUFFIX: copies of the nodes of S beside them, which read what S reads. Nothing reads
// them until it is connected.
#include <fmt/format.h>

#include "engine/edit/copies.h"
#include "engine/edit/edit.h"
#include "engine/edit/names.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> duplicate(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &as = edit.fields.at("as");
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  const std::string suffix = as.empty() ? suffix_of(free_number(graph, scopes)) : as;
  for (const std::string& scope : scopes) ORRERY_TRY(check_free(graph, copy_path(scope, suffix)));
  graph::Transaction transaction(graph, "duplicate " + pattern);
  const Region region = region_of(graph, scopes);
  const NodeId before = next_in_order(graph, region.nodes.back());
  ORRERY_TRY(copy_region(graph, transaction, region, scopes, suffix, before));
  return transaction.commit();
}

}  // namespace

Verb duplicate_verb() {
  static constexpr Field kFields[] = {
      {"scope", FieldKind::scopes, "what is copied: scopes, or nodes with their weights"},
      {"as", FieldKind::name, "what is appended to the names; the next free @2, @3, ...", false}};
  return {"duplicate", "copies that read the same, with states of their own and shared weights", kFields,
          duplicate};
}

}  // namespace orrery::edit
