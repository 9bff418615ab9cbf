#include "engine/api/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace orrery::api {
namespace {

/// The nodes that run, by path.
class RunningNodes {
 public:
  explicit RunningNodes(const graph::Graph& graph) : graph_(graph) {
    const std::vector<bool> live = graph.live();
    for (size_t i = 0; i < live.size(); ++i)
      if (live[i]) {
        nodes_.push_back(&graph.node(graph.order()[i]));
        by_path_.emplace(nodes_.back()->path(), nodes_.back());
      }
  }

  const std::vector<const graph::Node*>& nodes() const { return nodes_; }
  const graph::Node* find(const std::string& path) const {
    const auto it = by_path_.find(path);
    return it == by_path_.end() ? nullptr : it->second;
  }
  /// Empty: it has no such output.
  const graph::ValueType* type(const graph::Node& node, size_t output) const {
    return output < node.outputs.size() ? &graph_.value(node.outputs[output]).type : nullptr;
  }
  std::string reads(const graph::Node& node, size_t input) const {
    if (input >= node.inputs.size() || !node.inputs[input].valid()) return {};
    return graph_.value_path(node.inputs[input]);
  }

 private:
  const graph::Graph& graph_;
  std::vector<const graph::Node*> nodes_;
  std::unordered_map<std::string, const graph::Node*> by_path_;
};

std::string input_name(const graph::Node& node, size_t input) {
  const auto& inputs = node.op->inputs;
  return input < inputs.size() ? std::string(inputs[input].name) : std::to_string(input);
}

/// The types of sources are attributes too; they are told once, as types.
bool is_told_as_type(const graph::Node& node, std::string_view attribute) {
  return node.is_source() && (attribute == "dtype" || attribute == "shape");
}

/// Compares a node of one graph with that of the same path in the other.
class NodePair {
 public:
  NodePair(const RunningNodes& a, const graph::Node& was, const RunningNodes& b, const graph::Node& is)
      : a_(a), b_(b), was_(was), is_(is) {}

  std::vector<NodeDifference::What> all() {
    tell("op", std::string(was_.op->name), std::string(is_.op->name));
    attributes();
    for (size_t i = 0; i < std::max(was_.outputs.size(), is_.outputs.size()); ++i) types(i);
    for (size_t i = 0; i < std::max(was_.inputs.size(), is_.inputs.size()); ++i)
      tell("reads " + input_name(i < is_.inputs.size() ? is_ : was_, i), a_.reads(was_, i), b_.reads(is_, i));
    return std::move(what_);
  }

 private:
  void tell(std::string what, std::string a, std::string b) {
    if (a != b) what_.push_back({std::move(what), std::move(a), std::move(b)});
  }

  static std::string text_of(const graph::Node& node, std::string_view attribute) {
    const auto it = node.attributes.find(attribute);
    return it == node.attributes.end() ? std::string() : graph::to_string(it->second);
  }

  void attributes() {
    graph::Attributes names = was_.attributes;
    names.insert(is_.attributes.begin(), is_.attributes.end());
    for (const auto& [name, value] : names)
      if (!graph::is_drawing_attribute(name) && !is_told_as_type(is_, name))
        tell("attribute " + name, text_of(was_, name), text_of(is_, name));
  }

  void types(size_t output) {
    const graph::ValueType *was = a_.type(was_, output), *is = b_.type(is_, output);
    const std::string which = output == 0 ? "" : fmt::format(" of output {}", output);
    tell("dtype" + which, was ? std::string(orrery::name_of(was->dtype)) : "",
         is ? std::string(orrery::name_of(is->dtype)) : "");
    tell("shape" + which, was ? to_string(was->shape) : "", is ? to_string(is->shape) : "");
  }

  const RunningNodes &a_, &b_;
  const graph::Node &was_, &is_;
  std::vector<NodeDifference::What> what_;
};

}  // namespace

GraphDifference diff(const graph::Graph& a, const graph::Graph& b) {
  const RunningNodes before(a), after(b);
  GraphDifference difference;
  // What a alone has comes after what it followed there.
  size_t next = 0;
  const auto removed_until = [&](const graph::Node* shared) {
    for (; next < before.nodes().size() && before.nodes()[next] != shared; ++next) {
      const graph::Node& was = *before.nodes()[next];
      if (!after.find(was.path()))
        difference.nodes.push_back({NodeChange::Kind::removed, was.path(), std::string(was.op->name), {}});
    }
  };
  std::unordered_map<const graph::Node*, size_t> places;
  for (size_t i = 0; i < before.nodes().size(); ++i) places.emplace(before.nodes()[i], i);
  for (const graph::Node* is : after.nodes()) {
    const graph::Node* was = before.find(is->path());
    if (was && places.at(was) >= next) removed_until(was);
    if (!was) {
      difference.nodes.push_back({NodeChange::Kind::added, is->path(), std::string(is->op->name), {}});
      continue;
    }
    auto what = NodePair(before, *was, after, *is).all();
    if (what.empty()) {
      ++difference.same;
    } else {
      difference.nodes.push_back(
          {NodeChange::Kind::changed, is->path(), std::string(is->op->name), std::move(what)});
    }
  }
  removed_until(nullptr);
  return difference;
}

}  // namespace orrery::api
