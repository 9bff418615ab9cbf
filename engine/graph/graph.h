// The computation graph: SSA values made by nodes, in scopes that the view folds. A Graph is a value type:
// copy it, edit the copy by a Transaction (transaction.h), share it as an immutable GraphVersion.
//
// Sources are nodes too, with no inputs and one output, so eight primitives are enough to edit everything:
// add, remove, rename and move nodes, set an input, an attribute, a source's type and the outputs.
//   op "weight"   attributes {tensor}            value kind weight: a tensor of the model file
//   op "input"    attributes {name}              value kind input: token_ids, ... (step_inputs.inc)
//   op "state"    attributes {name, ...}         value kind state: what a layer keeps of a text
//   op "constant" attributes {value} or {data}   value kind constant
// State effects are explicit: kv_append(state, key, value) -> state. The final states are outputs of the
// graph, so that dead-node removal keeps them. A node that no output depends on is bypassed: the model graph
// keeps and draws it, the dead-node pass removes it from what runs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/base/ids.h"
#include "engine/graph/op_registry.h"
#include "engine/graph/table.h"

namespace orrery::graph {

/// Where a fused node's work came from: share of its cost, modelled (sums to 1 over the origins).
struct Origin {
  NodeId node;
  double share = 1.0;
};

struct Value {
  ValueId id;
  ValueKind kind = ValueKind::activation;
  std::string name;  // "h", "query"; unique within its producer only
  ValueType type;
  NodeId producer;
  int output = 0;  // which output of the producer
};

struct Node {
  NodeId id;
  OpPtr op;
  std::string scope;  // "layers.3.attention"; its place in the hierarchy
  std::string name;   // "q_proj"; unique within the scope
  Attributes attributes;
  std::vector<ValueId> inputs;  // {0} where an optional input is absent
  std::vector<ValueId> outputs;
  std::vector<Origin> origins;  // empty in a model graph: the node itself

  std::string path() const { return scope.empty() ? name : scope + "." + name; }
  bool is_source() const { return op->family == OpFamily::source; }
};

/// Another value at an input of a node. Of a variadic input the place after the last is added, and the last
/// one goes with no value.
void put_input(Node& node, size_t input, ValueId value);
/// The device that a node is asked to run on; empty: the model's own.
std::string_view device_of(const Node& node);
/// The precision that a node is asked to compute in; empty: the model's own.
std::string_view precision_of(const Node& node);
/// The title of the frame that a node is drawn in, and what is noted on it; empty: none.
std::string_view frame_of(const Node& node);
std::string_view note_of(const Node& node);
/// The type that what a node makes is stored in; none: that which its op gives.
std::optional<DType> stored_as(const Node& node);
/// The op that carries a value to another device. Its device attribute says where the copy lies.
inline constexpr std::string_view kTransferOp = "transfer";
inline bool is_transfer(const Node& node) { return node.op->name == kTransferOp; }

struct Use {
  NodeId node;
  int input = 0;
};

/// Names of the graph's step inputs. The page table and the sampling requests travel beside them
/// (ops/lowering.h).
namespace step_input {
#define ORRERY_STEP_INPUT(name, ...) inline constexpr std::string_view name = #name;
#include "engine/graph/step_inputs.inc"
#undef ORRERY_STEP_INPUT
}  // namespace step_input

class Graph;
/// What most nodes that run are asked to compute in: the precision of the model, from which the others
/// differ. Empty: that which it was opened with.
std::string_view common_precision(const Graph& graph);

class Graph {
 public:
  /// Adds a node at the end of the order (or before `before`), runs its inference and makes its outputs.
  /// Refuses with a reason that names the node, the value and the shapes. Value kinds follow from the source
  /// op; everything else makes activations, except that an output named "state" has kind state.
  struct NewNode {
    std::string op, scope, name;
    Attributes attributes;
    std::vector<ValueId> inputs;
    std::vector<Origin> origins;
    NodeId before;  // none: at the end
  };
  explicit Graph(std::shared_ptr<const OpRegistry> ops) : ops_(std::move(ops)) {}

  /// Attributes that are not given get their fallback, so a node's attributes are always complete. Absent
  /// optional inputs at the end may be left out. A producer later than `before` moves the node behind it.
  Result<NodeId> add_node(NewNode node);
  Result<void> remove_node(NodeId node);  // refused while its outputs are used
  /// A node that another version of this graph still has, with its ids, before a node that is here. Nothing
  /// is checked: for what is drawn, not for what runs.
  void bring_back(const Graph& from, NodeId node, std::vector<ValueId> inputs, NodeId before);
  /// Refused when it makes a cycle. Producers that come too late move to just before the node. Types that
  /// follow are brought up to date by infer_types(), or by Transaction::commit.
  /// Of a variadic input the place after the last makes it longer, and the last one is taken away with no
  /// value.
  Result<void> set_input(NodeId node, int input, ValueId value);
  /// No value takes the attribute away; one with a fallback gets that.
  Result<void> set_attribute(NodeId node, const std::string& name, std::optional<Attribute> value);
  Result<void> set_value_type(ValueId value, ValueType type);  // sources only
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }
  /// Another place in the hierarchy; refused when it is taken.
  Result<void> rename_node(NodeId node, std::string scope, std::string name);
  /// Moves them, in their order, to just before a node (none: to the end), or as near to it as what they read
  /// and who reads them allow.
  void move_nodes(const std::vector<NodeId>& nodes, NodeId before);

  /// In an order in which every node comes after its inputs; stable: nodes keep their place as far as that
  /// allows.
  const std::vector<NodeId>& order() const { return order_; }
  const Node* find(NodeId id) const;
  const Node& node(NodeId id) const;     // id must exist
  const Value& value(ValueId id) const;  // id must exist
  const Value* find_value(ValueId id) const;
  const std::vector<ValueId>& outputs() const { return outputs_; }
  std::vector<Use> users(ValueId value) const;
  /// It has users or is one of the outputs.
  bool is_read(ValueId value) const;
  NodeId find_path(std::string_view path) const;  // none when absent
  /// The nodes whose path is `scope` or lies below it, in order.
  std::vector<NodeId> in_scope(std::string_view scope) const;
  /// Nodes that an output depends on.
  std::vector<bool> live() const;  // by position in order()
  NodeView view(const Node& node) const;
  Cost cost(NodeId node, const Bindings& bindings) const;  // zero for sources
  /// What inference says of a node's outputs now; the error names the node, the value and both shapes.
  Result<std::vector<ValueType>> infer(NodeId node) const;
  /// What it would say with another value at an input, or why the value cannot come there. Nothing after the
  /// node is looked at.
  Result<std::vector<ValueType>> infer_with(NodeId node, int input, ValueId value) const;
  /// Whether the node needs what the other one makes, at once or by others between them; or is that node.
  bool depends_on(NodeId node, NodeId other) const;
  /// Re-infers every node but the sources, in order. Stops at the first that does not fit.
  Result<void> infer_types();
  std::string value_path(ValueId value) const;  // "layers.0.attention.q_proj:dst"
  const OpRegistry& ops() const { return *ops_; }
  std::shared_ptr<const OpRegistry> shared_ops() const { return ops_; }

  /// 64-bit hash of all that feeds a value: ops, attributes, weight names and transforms, in SSA form (ids,
  /// scope names and devices left out). Two states with equal hashes hold the same numbers for the same
  /// tokens.
  uint64_t feed_hash(ValueId value) const;
  std::vector<uint64_t> feed_hashes(std::span<const ValueId> values) const;  // in one walk

 private:
  friend class Transaction;

  size_t position(NodeId node) const;
  std::vector<size_t> positions() const;  // by id
  Result<std::vector<ValueId>> checked_inputs(const OpSchema& schema, std::vector<ValueId> inputs,
                                              const std::string& path) const;
  Result<void> check_input(const Node& node, int input, ValueId value) const;
  Result<std::vector<ValueType>> infer(const Node& node) const;
  std::vector<Value> make_outputs(Node& node, std::vector<ValueType> types);
  std::optional<std::unordered_set<NodeId>> needed_after(NodeId producer, NodeId consumer) const;
  Result<void> move_before(NodeId producer, NodeId consumer);

  // The primitives without their checks: what the journal applies and takes back.
  void insert(Node node, const std::vector<Value>& values, size_t position);
  void erase(NodeId node);
  void replace_input(NodeId node, int input, ValueId value);
  void replace_path(NodeId node, std::string scope, std::string name);

  std::shared_ptr<const OpRegistry> ops_;
  std::vector<NodeId> order_;
  Table<NodeId, Node> nodes_;
  Table<ValueId, Value> values_;
  Table<ValueId, std::vector<Use>> users_;  // in no order; no row: none
  using Paths = std::unordered_map<std::string, NodeId>;
  Shared<Paths> paths_{Paths()};
  std::vector<ValueId> outputs_;
  uint32_t next_node_ = 1, next_value_ = 1;
};

/// The source that a state descends from through what writes it; none where it descends from no source.
NodeId state_source(const Graph& graph, ValueId state);

using GraphVersion = std::shared_ptr<const Graph>;

/// Everything that is wrong with a graph, each with its node: missing producers, cycles, types that inference
/// does not confirm (sources excepted: their type may be set), states that two live nodes write. Empty when
/// legal.
struct Problem {
  NodeId node;
  Error error;
};
std::vector<Problem> verify(const Graph& graph);
/// The same of a graph that was legal before these nodes were added or changed and its types inferred.
std::vector<Problem> verify_changed(const Graph& graph, std::span<const NodeId> nodes);

/// One line a node: "%12 = rms_norm(%11, %w3) {eps=1e-05}  # layers.0.attention.norm f32[tokens, 576]", then
/// the outputs. Weights are %w, states %s, inputs %i, constants %c; an absent input is _. Equal graphs print
/// equally.
std::string print(const Graph& graph);

}  // namespace orrery::graph
