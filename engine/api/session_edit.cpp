#include <fmt/format.h>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

Error nothing_to(std::string_view what) {
  return {ErrorCode::not_found, fmt::format("There is nothing to {}", what), "", ""};
}

}  // namespace

graph::GraphVersion SessionImpl::model_graph() const {
  const std::scoped_lock lock(edit_mutex_);
  return graph_;
}

graph::GraphVersion SessionImpl::fused_graph() const { return parts_.model->version()->drawn; }

/// Makes a graph the one that runs next. It must compile; when it does not, all stays as it was.
Result<bool> SessionImpl::adopt(graph::GraphVersion graph, bool fusion) {
  ORRERY_ASSIGN(auto prepared, prepare_version(graph, preparation(fusion)));
  kernels::ThreadTeam team(1);
  const auto plan = parts_.model->plan(*prepared, compile::bucket_for(1, 1, 1), team);
  if (!plan.ok()) return plan.error();
  const bool kept = parts_.model->keeps_context(*prepared, *chat_sequence());
  parts_.model->set_version(std::move(prepared));
  graph_ = std::move(graph);
  fusion_ = fusion;
  return kept;
}

Result<EditRecord> SessionImpl::take_step(std::string name, std::string words, graph::GraphVersion graph,
                                          std::vector<edit::Edit> recipe) {
  ORRERY_ASSIGN(const bool kept, adopt(graph, fusion_));
  const EditRecord record{std::move(name), std::move(words), kept};
  history_.add({record, std::move(recipe), std::move(graph)});
  return record;
}

Result<EditRecord> SessionImpl::apply(const edit::Edit& edit) {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    auto graph = std::make_shared<graph::Graph>(*graph_);
    ORRERY_ASSIGN(const graph::Journal journal, edit::apply(*graph, edit));
    std::vector<edit::Edit> recipe = history_.recipe();
    recipe.push_back(edit);
    return take_step(journal.name, edit.to_string(), std::move(graph), std::move(recipe));
  });
}

Result<EditRecord> SessionImpl::restore(const std::string& scope) {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    ORRERY_ASSIGN(std::vector<edit::Edit> recipe, without_bypass(*graph_, history_.recipe(), scope));
    ORRERY_ASSIGN(Replayed made, replayed(history_.opened(), recipe));
    return take_step("restore " + scope, "restore scope=" + scope, std::move(made.graph), std::move(recipe));
  });
}

Result<std::vector<EditRecord>> SessionImpl::replay(const std::vector<edit::Edit>& edits) {
  return guarded([&]() -> Result<std::vector<EditRecord>> {
    const std::scoped_lock lock(edit_mutex_);
    std::vector<EditRecord> records;
    if (edits.empty()) return records;
    ORRERY_ASSIGN(const Replayed made, replayed(graph_, edits));
    const Result<bool> kept = adopt(made.graph, fusion_);
    if (!kept.ok()) {
      Error error = kept.error();
      if (error.where.empty()) error.where = "the recipe";
      return error;
    }
    std::vector<edit::Edit> recipe = history_.recipe();
    for (size_t i = 0; i < edits.size(); ++i) {
      recipe.push_back(edits[i]);
      records.push_back({made.names[i], edits[i].to_string(), *kept});
      history_.add({records.back(), recipe, i + 1 == edits.size() ? made.graph : nullptr});
    }
    return records;
  });
}

Result<EditRecord> SessionImpl::undo() {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    if (!history_.can_undo()) return nothing_to("undo");
    ORRERY_ASSIGN(graph::GraphVersion graph, history_.graph_before());
    EditRecord record = history_.last().record;
    ORRERY_ASSIGN(record.kv_kept, adopt(std::move(graph), fusion_));
    history_.undone();
    return record;
  });
}

Result<EditRecord> SessionImpl::redo() {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    if (!history_.can_redo()) return nothing_to("redo");
    ORRERY_ASSIGN(graph::GraphVersion graph, history_.graph_after());
    ORRERY_ASSIGN(const bool kept, adopt(std::move(graph), fusion_));
    history_.redone(kept);
    return history_.last().record;
  });
}

std::vector<EditRecord> SessionImpl::edits() const {
  return guarded_or_empty([&] {
    const std::scoped_lock lock(edit_mutex_);
    return history_.records();
  });
}

std::vector<edit::Edit> SessionImpl::recipe() const {
  return guarded_or_empty([&] {
    const std::scoped_lock lock(edit_mutex_);
    return history_.recipe();
  });
}

Result<void> SessionImpl::set_fusion(bool enabled) {
  return guarded([&]() -> Result<void> {
    const std::scoped_lock lock(edit_mutex_);
    if (enabled == fusion_) return {};
    const auto adopted = adopt(graph_, enabled);
    if (!adopted.ok()) return adopted.error();
    return {};
  });
}

}  // namespace orrery::api
