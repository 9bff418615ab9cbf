// Which ops can read a value, and what a node of them would need: told by the ops' own inference, with the
// attributes and the other inputs that nodes of the same op have in the graph.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::ui {

inline bool isRequired(const graph::InputSpec& spec) { return !spec.optional && !spec.variadic; }

/// How an op would read a value.
struct OpFit {
  bool fits = true;
  std::string refusal;                       // why not, naming both shapes
  int input = 0;                             // that reads it
  graph::Attributes attributes;              // those without a fallback, as a node of the op has them
  std::vector<std::string> missing;          // required attributes that nothing tells
  std::map<std::string, std::string> given;  // inputs of the step that the op reads by their names
  bool complete = false;                     // nothing but the value is needed
  int uses = 0;                              // nodes of the op that the graph has
};

class OpFitter {
 public:
  explicit OpFitter(graph::GraphVersion graph);

  const graph::Graph& graph() const { return *graph_; }
  /// As it stands, reading nothing yet.
  OpFit alone(const graph::OpSchema& op) const;
  /// Reading a value of the type; the first input that takes it.
  OpFit reading(const graph::OpSchema& op, const graph::ValueType& type) const;
  /// Between a value and a reader of it.
  OpFit between(const graph::OpSchema& op, const graph::ValueType& type, const graph::Use& reader) const;

 private:
  struct Trial {
    graph::Attributes attributes;
    std::vector<graph::ValueType> types;  // of the inputs
    std::vector<bool> has;
  };
  const std::vector<NodeId>& nodesOf(const graph::OpSchema& op) const;
  void complete(const graph::OpSchema& op, int input, OpFit& fit) const;
  std::vector<Trial> trialsOf(const graph::OpSchema& op, int input, const graph::ValueType& type) const;
  Result<std::vector<graph::ValueType>> infer(const graph::OpSchema& op, const Trial& trial) const;
  const graph::Value* stepInput(const std::string& name) const;

  graph::GraphVersion graph_;
  std::unordered_map<std::string, std::vector<NodeId>> nodes_;  // by the name of their op: the first few
  std::unordered_map<std::string, int> uses_;
  std::unordered_map<std::string, ValueId> stepInputs_;
};

/// The types that a node of the op makes; an absent input has none.
Result<std::vector<graph::ValueType>> inferOp(const graph::OpSchema& op, const graph::Attributes& attributes,
                                              const std::vector<const graph::ValueType*>& inputs);

/// Whether a person can put it down: not what passes make, and no sources.
bool isOffered(const graph::OpSchema& op);
/// The sources that a person puts down in a graph of one's own.
bool isOfferedSource(const graph::OpSchema& op);

}  // namespace orrery::ui
