// Copied nodes, as the clipboard holds them: what they are, and what they read. They outlive the graph that
// they were copied from.
#pragma once

#include <QMimeData>
#include <memory>
#include <optional>

#include "ui/graph/drafts.h"

namespace orrery::ui {

class NodeClip {
 public:
  /// The scopes and nodes that a person chose, with all that is in them.
  static NodeClip of(const graph::Graph& graph, const std::vector<std::string>& chosen);
  static std::optional<NodeClip> from(const QMimeData* mime);
  std::unique_ptr<QMimeData> mime() const;

  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  /// Copies that read what the originals read. Duplicates while the originals are there, else nodes of the
  /// same ops in `scope`. Nothing where an input is gone; those are drafts then.
  EditRequest withInputs(const graph::Graph& graph, const std::string& scope) const;
  /// Links among the copies, to weights and to the inputs of the step stay, the others are open.
  std::vector<Draft> drafts(const graph::Graph& graph, const std::string& scope) const;

 private:
  struct Node {
    std::string op, path;
    graph::Attributes attributes;
    std::vector<std::string> inputs;  // paths of values; empty: absent
    std::vector<bool> source;         // of each: it is a weight or an input of the step
  };
  bool isThere(const graph::Graph& graph) const;
  const Node* making(const std::string& value) const;

  std::vector<std::string> chosen_;
  std::vector<Node> nodes_;  // in the graph's order
};

/// The verb that copies what is chosen beside itself. `suffix`: of the copies' names.
EditRequest duplicateRequest(const std::vector<std::string>& chosen, const std::string& suffix = {});
/// The first of "@2", "@3" and so on that none of the copies has yet.
std::string freeSuffix(const graph::Graph& graph, const std::vector<std::string>& chosen);

}  // namespace orrery::ui
