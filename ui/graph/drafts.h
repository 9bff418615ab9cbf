// Nodes that a person has put down and that still miss something: an input, an attribute. They live in the
// view until nothing is missing; then they are edits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/graph/edit_words.h"
#include "ui/graph/layout.h"

namespace orrery::ui {

struct Draft {
  int id = 0;
  graph::OpPtr op;
  std::string scope, name;
  graph::Attributes attributes;     // that are given
  std::vector<std::string> inputs;  // paths of values, of the graph or of another draft; empty: not connected
  struct Reader {
    std::string input;  // the path of a node's input: "layers.0.mlp.mul.b"
    int output = 0;     // of the draft, that it will read
  };
  std::vector<Reader> readers;
  std::string after;   // a value whose readers read it instead
  bool asked = false;  // its edits were asked for
  Rect box;            // relative to the frame of its scope

  std::string path() const { return scope.empty() ? name : scope + "." + name; }
  std::string output(size_t index) const { return path() + ":" + op->outputs[index]; }
};

class Drafts {
 public:
  /// Takes the draft under a name that is free. Gives its id.
  int add(const graph::Graph& graph, Draft draft);
  void remove(int id);
  void clear() { drafts_.clear(); }
  Draft* find(int id);
  const Draft* find(int id) const;
  const std::vector<Draft>& all() const { return drafts_; }
  /// The draft whose output this is; null: none.
  const Draft* making(const std::string& value) const;

  /// What it waits for: required inputs that nothing is connected to, attributes that are not given.
  std::vector<std::string> missing(const graph::Graph& graph, const Draft& draft) const;
  /// The types of its outputs, as far as its inputs tell; else why not.
  Result<std::vector<graph::ValueType>> types(const graph::Graph& graph, const Draft& draft) const;
  /// Whether an input of a draft takes a value: of the graph or of a draft.
  Result<void> canConnect(const graph::Graph& graph, const Draft& draft, size_t input,
                          const std::string& value) const;
  /// Whether an input of the graph takes what a draft will make.
  Result<void> canRead(const graph::Graph& graph, const graph::Use& reader, const Draft& draft,
                       size_t output) const;
  /// Makes it, the drafts that it reads from, and what reads it. Empty while something is missing.
  EditRequest request(const graph::Graph& graph, const Draft& draft) const;
  /// Takes away those that are nodes now, and connections to what is gone.
  void settle(const graph::Graph& graph);

 private:
  bool dependsOn(const Draft& draft, const Draft& other) const;
  bool addEdits(const graph::Graph& graph, const Draft& draft, std::vector<edit::Edit>& edits,
                std::vector<int>& made) const;
  std::optional<graph::ValueType> typeOf(const graph::Graph& graph, const std::string& value) const;

  std::vector<Draft> drafts_;
  int last_ = 0;
};

}  // namespace orrery::ui
