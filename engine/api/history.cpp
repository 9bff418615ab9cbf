#include "engine/api/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/scope_pattern.h"

namespace orrery::api {
namespace {

bool holds(std::string_view outer, std::string_view inner) {
  return inner == outer ||
         (inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '.');
}

}  // namespace

const std::vector<edit::Edit>& History::recipe() const {
  static const std::vector<edit::Edit> kNone;
  return position_ == 0 ? kNone : last().recipe;
}

std::vector<EditRecord> History::records() const {
  std::vector<EditRecord> records;
  for (size_t i = 0; i < position_; ++i) records.push_back(steps_[i]->record);
  return records;
}

Result<graph::GraphVersion> History::graph_at(size_t steps) const {
  if (steps == 0) return opened_;
  const HistoryStep& step = *steps_[steps - 1];
  if (step.graph) return step.graph;
  ORRERY_ASSIGN(Replayed made, replayed(opened_, step.recipe));
  return std::move(made.graph);
}

Result<graph::GraphVersion> History::graph_before() const { return graph_at(position_ - 1); }
Result<graph::GraphVersion> History::graph_after() const { return graph_at(position_ + 1); }

void History::add(HistoryStep step) {
  steps_.resize(position_);
  steps_.push_back(std::make_shared<const HistoryStep>(std::move(step)));
  ++position_;
  if (steps_.size() <= kGraphs) return;
  std::shared_ptr<const HistoryStep>& far = steps_[steps_.size() - kGraphs - 1];
  if (far->graph) far = std::make_shared<const HistoryStep>(HistoryStep{far->record, far->recipe, nullptr});
}

void History::redone(bool kv_kept) {
  std::shared_ptr<const HistoryStep>& step = steps_[position_++];
  HistoryStep made = *step;
  made.record.kv_kept = kv_kept;
  step = std::make_shared<const HistoryStep>(std::move(made));
}

Result<Replayed> replayed(const graph::GraphVersion& graph, const std::vector<edit::Edit>& edits) {
  auto made = std::make_shared<graph::Graph>(*graph);
  std::vector<std::string> names;
  for (size_t i = 0; i < edits.size(); ++i) {
    Result<graph::Journal> journal = edit::apply(*made, edits[i]);
    if (!journal.ok()) {
      Error error = std::move(journal).error();
      if (edits.size() > 1)
        error.where = fmt::format("edit {} of the recipe, \"{}\"{}", i + 1, edits[i].to_string(),
                                  error.where.empty() ? "" : ", " + error.where);
      return error;
    }
    names.push_back(std::move(journal->name));
  }
  return Replayed{std::move(made), std::move(names)};
}

Result<std::vector<edit::Edit>> without_bypass(const graph::Graph& graph,
                                               const std::vector<edit::Edit>& edits,
                                               std::string_view pattern) {
  ORRERY_ASSIGN(const std::vector<std::string> restored, edit::match_scopes(graph, pattern));
  const auto touched = [&](const std::string& bypassed) {
    return std::any_of(restored.begin(), restored.end(),
                       [&](const std::string& one) { return holds(bypassed, one) || holds(one, bypassed); });
  };
  std::vector<edit::Edit> kept;
  bool found = false;
  for (const edit::Edit& edit : edits) {
    if (edit.op != "bypass") {
      kept.push_back(edit);
      continue;
    }
    ORRERY_ASSIGN(const std::vector<std::string> scopes, edit::match_scopes(graph, edit.fields.at("scope")));
    std::string rest;
    for (const std::string& one : scopes) {
      if (touched(one))
        found = true;
      else
        rest += (rest.empty() ? "" : ",") + one;
    }
    if (!rest.empty()) kept.push_back({edit.op, {{"scope", std::move(rest)}}});
  }
  if (!found)
    return Error{ErrorCode::not_found, "No edit bypasses it", std::string(pattern),
                 "choose what is drawn hollow"};
  return kept;
}

}  // namespace orrery::api
