// A graph as the view thinks of it: groups with children and with the edges between those children. Knows no
// pixels and no Qt. Sources (weights, inputs, states, constants) are no boxes: they become pills beside the
// node that takes them. Only a weight that nothing computes with is one, and those of a graph of
// one's own (graph::shown_sources).
//
// Scopes become groups; a number belongs to the word before it ("layers.3" is one group under the root). A
// group of one child is that child, unless it is a layer. An edge of the graph appears once in every group it
// crosses: from a child to a child in the lowest common group, to kExit in the groups that it leaves, from
// kEntry in those that it enters.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::ui {

inline constexpr int kEntry = -1, kExit = -2;

/// A position or an index of a scene as the standard library counts.
inline size_t at(int index) { return static_cast<size_t>(index); }

/// What one node takes from sources, by side of the box.
struct ScenePill {
  std::string text;  // "ffn_gate, ffn_up", "positions"
  double bytes = 0;  // 0: not written
  bool empty() const { return text.empty(); }
};

/// Whether nodes of the family multiply, so that a precision may change what they give; others that are asked
/// for one do not wear it.
constexpr bool multiplies(graph::OpFamily family) {
  return family == graph::OpFamily::linear || family == graph::OpFamily::attention ||
         family == graph::OpFamily::custom;
}

/// What a node does to the residual stream of its run of layers, as bits.
namespace stream {
inline constexpr uint8_t reads = 1;  // takes it
inline constexpr uint8_t joins = 2;  // takes it and gives it on with something added
inline constexpr uint8_t makes = 4;  // gives it on without having added: a norm on the stream
inline constexpr uint8_t adds = 8;  // what it makes is added to the stream by a node that does more than that
}  // namespace stream

struct SceneNode {
  NodeId id;
  int group = 0;     // index of the group it is drawn in
  int child = 0;     // index among the children of that group
  int position = 0;  // place among all drawn nodes, groups being contiguous
  std::string name, path, op;
  graph::OpFamily family = graph::OpFamily::custom;
  int fused = 1;             // origins fused into it
  bool live = true;          // an output depends on it
  bool transfer = false;     // carries a value to another device
  std::string precision;     // that it is asked for, where the model's is another; "default": the file's own
  std::string detail, type;  // "576 → 1536" or the op; "[1, 576]" or the dtype of the weight
  ScenePill weights, inputs;
  double movedBytes = 0;  // the op's own cost: bytes of one run
  uint8_t stream = 0;     // bits of namespace stream
};

struct SceneChild {
  bool isGroup = false;
  int index = 0;  // into SceneGraph::groups or ::nodes
};

/// Between children of one group. `values` in the order of the graph; bytes is their sum with the symbols
/// bound.
/// Where a page draws the stream, its edges are apart from the others.
struct SceneEdge {
  int from = kEntry, to = kExit;
  std::vector<ValueId> values;
  double bytes = 0;
  bool stream = false;  // what it carries is the residual stream, or is added to it
};

struct SceneGroup {
  std::string path, name, doc;  // "layers.3", "layers.3", "9 heads, 3 KV"
  std::string stem;             // "layers" when numbered
  int number = -1;              // 3 when numbered
  std::string copy;             // "@2" of the layer "layers.3@2"
  int parent = -1, child = 0;   // index of the parent, index among its children
  int depth = 0;
  std::vector<SceneChild> children;
  std::vector<SceneEdge> edges;
  int begin = 0, end = 0;    // positions of its nodes
  uint64_t stackHash = 0;    // equal for layers that stack: structure without names of the scope, weights
  uint64_t layoutHash = 0;   // equal for groups that are laid out alike
  uint64_t kindHash = 0;     // equal for groups of the same ops, shapes and dtypes
  int run = -1, layer = -1;  // of a layer: its run and its place there
  bool live = true;          // some node is
  int nodeCount() const { return end - begin; }
};

/// Layers one after the other: numbered siblings of one stem.
struct SceneRun {
  std::string stem;
  int parent = 0;           // the group that holds them
  std::vector<int> layers;  // groups, in the order of the children
  bool follows = false;     // each takes what the one before it gives
  bool residual = false;    // what passes through them is added to: there is a stream to draw
  std::vector<ValueId> enters,
      leaves;  // by layer: the stream at its head and at its foot; invalid: not known
};

struct SceneGraph {
  graph::GraphVersion graph;
  std::vector<SceneGroup> groups;  // 0 is the root
  std::vector<SceneNode> nodes;    // by position
  std::vector<SceneRun> runs;
  std::unordered_map<NodeId, int> nodeOf;        // drawn nodes; a source maps to its first user
  std::unordered_map<std::string, int> groupOf;  // by path

  const SceneNode* find(NodeId id) const;
  /// As a box of its own: not a source that is only named on the nodes that read it.
  bool draws(NodeId id) const;
  int group(const std::string& path) const;  // -1 when absent
  /// The group itself and those around it, outermost (the root) first.
  std::vector<int> chain(int group) const;
};

/// Null when stopped.
std::shared_ptr<const SceneGraph> makeScene(graph::GraphVersion graph, const Bindings& bindings,
                                            std::stop_token stop);

/// "[1, 576]": numbers where the symbols are bound.
std::string shapeText(const Shape& shape, const Bindings& bindings);

/// "ffn_gate" of "blk.3.ffn_gate.weight": what tells a tensor from the others of its layer.
std::string shortTensor(const std::string& tensor);

/// Splits "layers.3.attention" into {"layers.3", "attention"}. "3@2", the second of several layers 3, is a
/// number too.
std::vector<std::string> scopeParts(const std::string& scope);

}  // namespace orrery::ui
