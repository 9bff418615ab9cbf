// What a session is at one moment: its graph, what was done to it, and what runs it on which devices. Never
// changes. Each edit makes another state, and the session swaps the whole, so that what is read of one state
// belongs together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/api/history.h"
#include "engine/base/progress.h"

namespace orrery::runtime {
struct Version;
}

namespace orrery::api {

struct SessionState {
  graph::GraphVersion model;                        // what the person edits
  graph::GraphVersion fused;                        // what runs, and dead what is bypassed
  std::shared_ptr<const runtime::Version> version;  // of these graphs, with its devices; null: it cannot run
  bool fusion = true;
  History history;                             // what made the graph of the one that was opened
  std::set<std::string> disabled_passes = {};  // by name, beside those that `fusion` leaves out
  Bindings sizes = {};  // of a graph of one's own: of its inputs, as they were given last
};
using SessionStatePtr = std::shared_ptr<const SessionState>;

// What can be done to a state.
struct MakeEdits {
  std::vector<edit::Edit> edits;  // all of them, or none
  std::string recipe = {};        // the name of the recipe that they are; empty: by hand
  std::string step = {};  // what the one step that they are is called; empty: each is undone by itself
};
struct UndoEdit {};
struct RedoEdit {};
/// To after so many steps of the history; 0: as it was opened.
struct JumpTo {
  size_t steps = 0;
};
/// Back to the original: the recipe is made again without the edits of these nodes (restore.h). A step of its
/// own.
struct RestoreNodes {
  std::string scopes;  // a pattern, as edits have it
};
/// All edits of a recipe that came by that name: made again at their place, or left out there. A step of its
/// own.
struct SwitchRecipe {
  std::string name;
  bool on = true;
};
struct SetFusion {
  bool enabled = true;
};
/// Passes that are left out, by name; all others run.
struct SetPasses {
  std::set<std::string> disabled;
};
/// The sizes that the inputs of a graph of one's own are given with, by their symbols.
struct SetSizes {
  Bindings sizes;
};
using Change = std::variant<MakeEdits, UndoEdit, RedoEdit, JumpTo, RestoreNodes, SwitchRecipe, SetFusion,
                            SetPasses, SetSizes>;

/// How a fork of a session differs from it; what is left out stays the same.
struct Fork {
  std::vector<edit::Edit> edits = {};  // upon its recipe: all of them, or there is no fork
  int64_t context = 0;
  /// The context may be longer than the model was made for, where it has positions for that: to measure.
  bool beyond = false;
  std::string kv_type = {}, precision = {};
  std::optional<bool> fusion = {};
  std::optional<std::set<std::string>> disabled_passes = {};
};

/// How a change ended.
struct Changed {
  Result<std::vector<EditRecord>> records;  // what was done, none for passes and sizes; or why nothing was
  SessionStatePtr state;                    // afterwards
};

/// Called on the session's edit thread; must return quickly, must not wait for another change, and must not
/// be what holds the session last.
struct ChangeEvents {
  ProgressCallback on_progress = {};                 // in words for the person ("Uploading to NVIDIA H200")
  std::function<void(const Changed&)> on_done = {};  // once; with `cancelled` when the session closes before
};

}  // namespace orrery::api
