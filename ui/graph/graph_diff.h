// How a graph differs from the one that it was opened as, or from another model: nodes by path, wires by what
// their readers read. And the graph with what was deleted still in it, so that it is drawn where it
// was.
#pragma once

#include <QString>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "ui/graph/geometry.h"
#include "ui/graph/wire_look.h"

namespace orrery::ui {

/// How two graphs belong together: a node of another version of the graph keeps its id when it is renamed,
/// one of another model has nothing but its path.
enum class Kin { version, model };

struct GraphDiff {
  graph::GraphVersion before, shown;  // shown: the present one with what was removed
  Kin kin = Kin::version;
  std::unordered_set<NodeId> added, removed;
  /// What the reader's place is since then.
  WireChange changeOf(const graph::Use& reader) const;
};
using DiffPtr = std::shared_ptr<const GraphDiff>;

/// What another model alone has is not drawn: nodes of two models have no order between them.
DiffPtr diffOf(const graph::GraphVersion& before, const graph::GraphVersion& now, Kin kin);
/// The nodes that are added, read something else or have something otherwise.
std::unordered_set<NodeId> differentNodes(const GraphDiff& diff);

/// What is otherwise at a node than it was: "Q8_0, was Q4_1", "softmax → fastmax", of another model
/// "Q8_0, there Q4_1"; empty: nothing that it says.
QString changeWord(const graph::Graph& before, const graph::Graph& now, NodeId node, Kin kin);
using ChangeWords = std::unordered_map<NodeId, QString>;
ChangeWords changeWords(const graph::Graph& before, const graph::Graph& now,
                        const std::unordered_set<NodeId>& nodes, Kin kin);

/// Of every drawn wire that changed, by its holder and its place there.
using WireChanges = std::unordered_map<uint64_t, WireChange>;
inline uint64_t wireKey(int holder, int item) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(holder)) << 32) | static_cast<uint32_t>(item);
}
WireChanges wireChanges(const Drawing& drawing, const GraphDiff& diff);

}  // namespace orrery::ui
