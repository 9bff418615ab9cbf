// What a session is at one moment: its graph, what was done to it, and what runs it on which devices. Never
// changes. Each edit makes another state, and the session swaps the whole, so that what is read of one state
// belongs together.
#pragma once

#include <functional>
#include <memory>
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
  History history;  // what made the graph of the one that was opened
};
using SessionStatePtr = std::shared_ptr<const SessionState>;

// What can be done to a state.
struct MakeEdits {
  std::vector<edit::Edit> edits;  // all of them, or none
  std::string name = {};          // of the one step that they are; empty: each is undone by itself
};
struct UndoEdit {};
struct RedoEdit {};
struct RestoreScope {
  std::string scope;
};
struct SetFusion {
  bool enabled = true;
};
using Change = std::variant<MakeEdits, UndoEdit, RedoEdit, RestoreScope, SetFusion>;

/// How a change ended.
struct Changed {
  Result<std::vector<EditRecord>> records;  // what was done, none for the fusion; or why nothing was
  SessionStatePtr state;                    // afterwards
};

/// Called on the session's edit thread; must return quickly, must not wait for another change, and must not
/// be what holds the session last.
struct ChangeEvents {
  ProgressCallback on_progress = {};                 // in words for the person ("Uploading to NVIDIA H200")
  std::function<void(const Changed&)> on_done = {};  // once; with `cancelled` when the session closes before
};

}  // namespace orrery::api
