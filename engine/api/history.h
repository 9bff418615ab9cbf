// The steps that edits made, oldest first, with a position among them: undo and redo move it, a new step
// replaces those that were undone. A value, cheap to copy: copies share their steps.
#pragma once

#include <memory>
#include <vector>

#include "engine/api/types.h"
#include "engine/edit/edit.h"

namespace orrery::api {

/// A state of the graph, told by the edits that make it of the graph as it was opened.
struct HistoryStep {
  EditRecord record;               // what made it of the state before
  std::vector<edit::Edit> recipe;  // from the opened graph
  graph::GraphVersion graph;       // null: made again from the recipe when it is gone back to
};

class History {
 public:
  static constexpr size_t kGraphs = 32;  // kept around the position; a large model's is some MB

  explicit History(graph::GraphVersion opened) : opened_(std::move(opened)) {}

  const graph::GraphVersion& opened() const { return opened_; }
  const std::vector<edit::Edit>& recipe() const;
  /// What was done, without what was undone.
  std::vector<EditRecord> records() const;
  bool can_undo() const { return position_ > 0; }
  bool can_redo() const { return position_ < steps_.size(); }
  /// The step that undo takes back, and the one that redo makes.
  const HistoryStep& last() const { return *steps_[position_ - 1]; }
  const HistoryStep& next() const { return *steps_[position_]; }
  /// The graph before the last step, and after the next.
  Result<graph::GraphVersion> graph_before() const;
  Result<graph::GraphVersion> graph_after() const;

  void add(HistoryStep step);
  void undone() { --position_; }
  void redone(bool kv_kept);

 private:
  Result<graph::GraphVersion> graph_at(size_t steps) const;

  graph::GraphVersion opened_;
  std::vector<std::shared_ptr<const HistoryStep>> steps_;
  size_t position_ = 0;  // steps that are in force
};

struct Replayed {
  graph::GraphVersion graph;
  std::vector<std::string> names;  // of the edits, as their journals call them
};
/// Makes the edits of the graph, or says which one could not be made and why.
Result<Replayed> replayed(const graph::GraphVersion& graph, const std::vector<edit::Edit>& edits);

/// The edits without what bypasses the scopes and nodes that the pattern names, or parts of them, or what
/// they are a part of. Refused when none does.
Result<std::vector<edit::Edit>> without_bypass(const graph::Graph& graph,
                                               const std::vector<edit::Edit>& edits,
                                               std::string_view pattern);

}  // namespace orrery::api
