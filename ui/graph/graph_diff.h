// What edits made of a graph since it was opened: nodes by path, wires by what their readers read. And the
// graph with what was deleted still in it, so that it is drawn where it was.
#pragma once

#include <QString>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "ui/graph/geometry.h"
#include "ui/graph/wire_look.h"

namespace orrery::ui {

struct GraphDiff {
  graph::GraphVersion opened, shown;  // shown: the edited one with what was removed
  std::unordered_set<NodeId> added, removed;
  /// What the reader's place is since then.
  WireChange changeOf(const graph::Use& reader) const;
};
using DiffPtr = std::shared_ptr<const GraphDiff>;

DiffPtr diffOf(const graph::GraphVersion& opened, const graph::GraphVersion& now);

/// What is otherwise at a node than it was: "Q8_0, was Q4_1", "softmax → fastmax"; empty: nothing that it
/// says.
QString changeWord(const graph::Graph& opened, const graph::Graph& now, NodeId node);
using ChangeWords = std::unordered_map<NodeId, QString>;

/// Of every drawn wire that changed, by its holder and its place there.
using WireChanges = std::unordered_map<uint64_t, WireChange>;
inline uint64_t wireKey(int holder, int item) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(holder)) << 32) | static_cast<uint32_t>(item);
}
WireChanges wireChanges(const Drawing& drawing, const GraphDiff& diff);

}  // namespace orrery::ui
