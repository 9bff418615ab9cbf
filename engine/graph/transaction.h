// An edit of a graph: primitives, recorded; commit verifies. The journal undoes and redoes it exactly: undo
// brings the identical graph back, ids and order included.
#pragma once

#include <variant>

#include "engine/graph/graph.h"

namespace orrery::graph {

/// One applied primitive with all that is needed to take it back and to apply it again.
struct Change {
  enum class Kind : uint8_t {
    add_node,
    remove_node,
    set_input,
    set_attribute,
    set_value_type,
    set_outputs,
    rename_node,
    move_nodes
  };
  Kind kind;
  Node node;                  // add/remove: the node itself; else only its id
  std::vector<Value> values;  // add/remove: its outputs;  set_value_type: {before, after}
  size_t position = 0;        // add/remove: place in the order
  int input = 0;              // set_input
  ValueId value_before, value_after;
  std::string attribute;  // set_attribute
  std::optional<Attribute> attribute_before, attribute_after;
  std::vector<ValueId> outputs_before, outputs_after;
  std::string scope_before, name_before, scope_after, name_after;  // rename_node
  std::vector<NodeId> order_before, order_after;  // move_nodes, and set_input where the order changed
};

struct Journal {
  std::string name;  // "bypass layers.3": the undo step's name
  std::vector<Change> changes;
};

class Transaction {
 public:
  Transaction(Graph& graph, std::string name);
  ~Transaction();  // takes everything back unless committed
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Result<NodeId> add_node(Graph::NewNode node);
  Result<void> remove_node(NodeId node);
  Result<void> set_input(NodeId node, int input, ValueId value);
  Result<void> set_attribute(NodeId node, const std::string& name, std::optional<Attribute> value);
  Result<void> set_value_type(ValueId value, ValueType type);
  void set_outputs(std::vector<ValueId> outputs);
  Result<void> rename_node(NodeId node, std::string scope, std::string name);
  void move_nodes(const std::vector<NodeId>& nodes, NodeId before);

  /// Infers what follows from the changes and verifies what they touch, on a graph that was legal before; on
  /// a problem takes everything back and returns its reason.
  Result<Journal> commit();

 private:
  friend void undo(Graph& graph, const Journal& journal);
  friend void redo(Graph& graph, const Journal& journal);
  static void apply(Graph& graph, const Change& change);
  static void take_back(Graph& graph, const Change& change);
  static void set_type(Graph& graph, const Value& value);

  void change_type(ValueId value, ValueType type);
  Result<void> infer_changed();
  void roll_back();

  Graph& graph_;
  Journal journal_;
  std::unordered_set<NodeId> changed_;  // whose types may not be what their inputs give; some may be gone
  uint32_t next_node_, next_value_;     // of the graph before
  bool committed_ = false;
};

void undo(Graph& graph, const Journal& journal);
void redo(Graph& graph, const Journal& journal);

}  // namespace orrery::graph
