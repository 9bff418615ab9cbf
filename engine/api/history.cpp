#include "engine/api/history.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::api {

History::History(graph::GraphVersion opened) : opened_(std::move(opened)) { refresh_recipe(); }

std::vector<EditRecord> History::records() const {
  std::vector<EditRecord> records;
  for (size_t i = 0; i < position_; ++i) records.push_back(steps_[i]->record);
  return records;
}

std::vector<RecipeEdit> History::entries_at(size_t steps) const {
  size_t first = steps;
  while (first > 0 && !steps_[first - 1]->anew) --first;
  std::vector<RecipeEdit> entries;
  for (size_t i = first == 0 ? 0 : first - 1; i < steps; ++i)
    entries.insert(entries.end(), steps_[i]->edits.begin(), steps_[i]->edits.end());
  return entries;
}

std::vector<StackedRecipe> History::recipes() const {
  std::vector<StackedRecipe> recipes;
  for (const RecipeEdit& entry : entries()) {
    if (entry.recipe.empty()) continue;
    auto recipe = std::ranges::find(recipes, entry.recipe, &StackedRecipe::name);
    if (recipe == recipes.end()) recipe = recipes.insert(recipe, {entry.recipe, 0, entry.on});
    ++recipe->edits;
  }
  return recipes;
}

/// From the nearest step before that has its graph, or from the opened one.
Result<graph::GraphVersion> History::graph_at(size_t steps) const {
  size_t first = steps;  // made again from here
  graph::GraphVersion graph;
  while (first > 0 && !graph) {
    graph = steps_[first - 1]->graph;
    if (!graph && steps_[--first]->anew) break;
  }
  if (!graph) graph = opened_;
  std::vector<RecipeEdit> entries;
  for (size_t i = first; i < steps; ++i)
    entries.insert(entries.end(), steps_[i]->edits.begin(), steps_[i]->edits.end());
  if (entries.empty()) return graph;
  ORRERY_ASSIGN(Replayed made, replayed(graph, edits_of(entries)));
  return std::move(made.graph);
}

/// Steps share their graphs' rows, so that what a graph takes is what its edits changed and a table of ids.
void History::add(HistoryStep step) {
  steps_.resize(position_);
  steps_.push_back(std::make_shared<const HistoryStep>(std::move(step)));
  ++position_;
  refresh_recipe();
  if (steps_.size() <= kGraphs) return;
  const size_t index = steps_.size() - kGraphs - 1;
  std::shared_ptr<const HistoryStep>& far = steps_[index];
  if (!far->graph || index % kGraphs == 0) return;
  HistoryStep told = *far;
  told.graph = nullptr;
  far = std::make_shared<const HistoryStep>(std::move(told));
}

void History::move_to(size_t steps, bool kv_kept) {
  if (steps > position_) {
    std::shared_ptr<const HistoryStep>& step = steps_[steps - 1];
    HistoryStep made = *step;
    made.record.kv_kept = kv_kept;
    step = std::make_shared<const HistoryStep>(std::move(made));
  }
  position_ = steps;
  refresh_recipe();
}

void History::refresh_recipe() {
  recipe_ = std::make_shared<const std::vector<edit::Edit>>(edits_of(entries()));
}

Result<Replayed> replayed(const graph::GraphVersion& graph, const std::vector<edit::Edit>& edits) {
  auto made = std::make_shared<graph::Graph>(*graph);
  std::vector<std::string> names;
  for (size_t i = 0; i < edits.size(); ++i) {
    Result<graph::Journal> journal = edit::apply(*made, edits[i]);
    if (!journal.ok()) {
      Error error = std::move(journal).error();
      if (edits.size() > 1)
        error.where =
            fmt::format("edit {} of the recipe, \"{}\"{}", i + 1, edits[i].to_string().substr(0, 200),
                        error.where.empty() ? "" : ", " + error.where);
      return error;
    }
    names.push_back(std::move(journal->name));
  }
  return Replayed{std::move(made), std::move(names)};
}

std::vector<edit::Edit> edits_of(std::span<const RecipeEdit> entries) {
  std::vector<edit::Edit> edits;
  for (const RecipeEdit& entry : entries)
    if (entry.on) edits.push_back(entry.edit);
  return edits;
}

}  // namespace orrery::api
