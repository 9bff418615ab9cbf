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

graph::GraphVersion SessionImpl::fused_graph() const { return parts_.model->version()->fused; }

/// Makes a graph the one that runs next. It must compile; when it does not, all stays as it was.
Result<bool> SessionImpl::adopt(graph::GraphVersion graph, bool fusion) {
  ORRERY_ASSIGN(Prepared prepared, prepare_version(graph, preparation(fusion)));
  if (prepared.card) parts_.model->use_card(prepared.card);
  kernels::ThreadTeam team(1);
  const auto plan = parts_.model->plan(*prepared.version, compile::bucket_for(1, 1, 1), team);
  if (!plan.ok()) return plan.error();
  const bool kept = parts_.model->keeps_context(*prepared.version, *chat_sequence());
  parts_.model->set_version(std::move(prepared.version));
  graph_ = std::move(graph);
  fusion_ = fusion;
  return kept;
}

Result<SessionImpl::Applied> SessionImpl::apply_locked(const edit::Edit& edit) {
  auto graph = std::make_shared<graph::Graph>(*graph_);
  ORRERY_ASSIGN(graph::Journal journal, edit::apply(*graph, edit));
  ORRERY_ASSIGN(const bool kept, adopt(std::move(graph), fusion_));
  return Applied{edit, {journal.name, edit.to_string(), kept}, std::move(journal)};
}

Result<EditRecord> SessionImpl::apply(const edit::Edit& edit) {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    ORRERY_ASSIGN(Applied applied, apply_locked(edit));
    EditRecord record = applied.record;
    applied_.push_back(std::move(applied));
    undone_.clear();
    return record;
  });
}

Result<void> SessionImpl::replay(const std::vector<edit::Edit>& edits) {
  for (size_t i = 0; i < edits.size(); ++i) {
    auto applied = apply(edits[i]);
    if (applied.ok()) continue;
    Error error = std::move(applied).error();
    error.where = fmt::format("edit {} of the recipe, \"{}\"{}", i + 1, edits[i].to_string(),
                              error.where.empty() ? "" : ", " + error.where);
    return error;
  }
  return {};
}

Result<EditRecord> SessionImpl::step_back() {
  if (applied_.empty()) return nothing_to("undo");
  auto graph = std::make_shared<graph::Graph>(*graph_);
  graph::undo(*graph, applied_.back().journal);
  ORRERY_ASSIGN(const bool kept, adopt(std::move(graph), fusion_));
  undone_.push_back(std::move(applied_.back()));
  applied_.pop_back();
  EditRecord record = undone_.back().record;
  record.kv_kept = kept;
  return record;
}

Result<EditRecord> SessionImpl::step_forward() {
  if (undone_.empty()) return nothing_to("redo");
  auto graph = std::make_shared<graph::Graph>(*graph_);
  graph::redo(*graph, undone_.back().journal);
  ORRERY_ASSIGN(const bool kept, adopt(std::move(graph), fusion_));
  applied_.push_back(std::move(undone_.back()));
  undone_.pop_back();
  applied_.back().record.kv_kept = kept;
  return applied_.back().record;
}

Result<EditRecord> SessionImpl::undo() {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    return step_back();
  });
}

Result<EditRecord> SessionImpl::redo() {
  return guarded([&]() -> Result<EditRecord> {
    const std::scoped_lock lock(edit_mutex_);
    return step_forward();
  });
}

std::vector<EditRecord> SessionImpl::edits() const {
  return guarded_or_empty([&] {
    const std::scoped_lock lock(edit_mutex_);
    std::vector<EditRecord> records;
    for (const Applied& applied : applied_) records.push_back(applied.record);
    return records;
  });
}

std::vector<edit::Edit> SessionImpl::recipe() const {
  return guarded_or_empty([&] {
    const std::scoped_lock lock(edit_mutex_);
    std::vector<edit::Edit> edits;
    for (const Applied& applied : applied_) edits.push_back(applied.edit);
    return edits;
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
