// The steps that edits made, oldest first, with a position among them: undo, redo and jumps move it, a new
// step replaces those that were undone. A value, cheap to copy: copies share their steps.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/api/types.h"
#include "engine/edit/edit.h"

namespace orrery::api {

/// An edit among those that make a graph of the one that was opened.
struct RecipeEdit {
  edit::Edit edit;
  std::string recipe = {};  // the name of the recipe that it came with; empty: by hand
  bool on = true;           // false: its recipe is switched off, and it waits at its place
  friend bool operator==(const RecipeEdit&, const RecipeEdit&) = default;
};

/// What was done to a graph, and what it left.
struct HistoryStep {
  EditRecord record;              // what made it of the state before
  std::vector<RecipeEdit> edits;  // what came to those of the step before
  bool anew = false;              // they are all there are: what came before was made again without some
  graph::GraphVersion graph;      // null: made again when it is gone back to
};

/// Recipes that came with their names, in the order in which they came.
struct StackedRecipe {
  std::string name;
  size_t edits = 0;
  bool on = true;
};

class History {
 public:
  static constexpr size_t kGraphs = 32;  // kept of the newest steps, and of every so many before

  explicit History(graph::GraphVersion opened);

  const graph::GraphVersion& opened() const { return opened_; }
  /// All steps, also those that are undone.
  const std::vector<std::shared_ptr<const HistoryStep>>& steps() const { return steps_; }
  size_t position() const { return position_; }  // steps that are in force
  bool can_undo() const { return position_ > 0; }
  bool can_redo() const { return position_ < steps_.size(); }
  /// The step that undo takes back, and the one that redo makes.
  const HistoryStep& last() const { return *steps_[position_ - 1]; }
  const HistoryStep& next() const { return *steps_[position_]; }
  /// What was done, without what was undone.
  std::vector<EditRecord> records() const;

  /// The edits that make the graph of the one that was opened.
  const std::vector<edit::Edit>& recipe() const { return *recipe_; }
  /// The same with the recipes that they came with, and with those that are switched off.
  std::vector<RecipeEdit> entries() const { return entries_at(position_); }
  std::vector<StackedRecipe> recipes() const;

  /// The graph after so many steps. Refused where an edit cannot be made again, as of a file that is gone.
  Result<graph::GraphVersion> graph_at(size_t steps) const;

  void add(HistoryStep step);
  /// Goes to after so many steps. `kv_kept`: whether that kept the context, for the step that it comes to.
  void move_to(size_t steps, bool kv_kept);

 private:
  std::vector<RecipeEdit> entries_at(size_t steps) const;
  void refresh_recipe();

  graph::GraphVersion opened_;
  std::vector<std::shared_ptr<const HistoryStep>> steps_;
  size_t position_ = 0;
  std::shared_ptr<const std::vector<edit::Edit>> recipe_;  // never null
};

struct Replayed {
  graph::GraphVersion graph;
  std::vector<std::string> names;  // of the edits, as their journals call them
};
/// Makes the edits of the graph, or says which one could not be made and why.
Result<Replayed> replayed(const graph::GraphVersion& graph, const std::vector<edit::Edit>& edits);

/// Those that are not switched off.
std::vector<edit::Edit> edits_of(std::span<const RecipeEdit> entries);

}  // namespace orrery::api
