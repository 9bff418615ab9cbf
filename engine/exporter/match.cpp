#include "engine/exporter/match.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::exporter {
namespace {

constexpr size_t kMostDifferences = 20;

/// Sources are told by these attributes alone.
std::vector<std::string_view> telling(const graph::Node& node) {
  if (node.op->name == "weight") return {"shape"};
  if (node.op->name == "state") return {"kind", "kv_heads", "head_dim", "shape"};
  return {};
}

class Matching {
 public:
  Matching(const graph::Graph& edited, const graph::Graph& written) : edited_(edited), written_(written) {}

  Matched run() {
    const std::vector<ValueId> ours = results(edited_), theirs = results(written_);
    if (ours.size() != theirs.size())
      differ("outputs", fmt::format("There are {}, and the file's model has {}", ours.size(), theirs.size()));
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) compare(ours[i], theirs[i]);
    compare_states();
    return std::move(matched_);
  }

 private:
  static std::vector<ValueId> results(const graph::Graph& graph) {
    std::vector<ValueId> values;
    for (const ValueId output : graph.outputs())
      if (graph.value(output).kind != graph::ValueKind::state) values.push_back(output);
    return values;
  }

  void differ(std::string where, std::string what) {
    if (matched_.differences.size() < kMostDifferences)
      matched_.differences.push_back({std::move(where), std::move(what)});
  }

  /// With a stack of its own: a deep model is a long chain.
  void compare(ValueId ours, ValueId theirs) {
    std::vector<std::pair<ValueId, ValueId>> pending{{ours, theirs}};
    while (!pending.empty() && matched_.differences.size() < kMostDifferences) {
      const auto [a, b] = pending.back();
      pending.pop_back();
      if (!a.valid() && !b.valid()) continue;
      if (!a.valid() || !b.valid()) {
        differ(a.valid() ? edited_.value_path(a) : written_.value_path(b),
               a.valid() ? "The file's model reads nothing in its place" : "The file's model reads it");
        continue;
      }
      const auto [known, added] = values_.try_emplace(b, a);
      if (!added) {
        if (known->second != a)
          differ(edited_.value_path(a),
                 fmt::format("The file has one {} for this and for {}", written_.value_path(b),
                             edited_.value_path(known->second)));
        continue;
      }
      compare_makers(a, b, pending);
    }
  }

  void compare_makers(ValueId ours, ValueId theirs, std::vector<std::pair<ValueId, ValueId>>& pending) {
    const graph::Value &value = edited_.value(ours), &wanted = written_.value(theirs);
    const graph::Node &node = edited_.node(value.producer), &model = written_.node(wanted.producer);
    if (node.op->name != model.op->name || value.output != wanted.output) {
      differ(node.path(), fmt::format("It is {}, where a file has {} ({})", described(node), described(model),
                                      model.path()));
      return pass_by(node, model, theirs, pending);
    }
    if (const auto [known, added] = nodes_.try_emplace(model.id, node.id); !added) {
      if (known->second != node.id)
        differ(node.path(), fmt::format("The file has one {} for this and {}", model.path(),
                                        edited_.node(known->second).path()));
      return;
    }
    if (!compare_attributes(node, model)) return;
    if (node.op->name == "weight") {
      matched_.weights.emplace(model.id, node.id);
      return;
    }
    const size_t inputs = std::max(node.inputs.size(), model.inputs.size());
    for (size_t i = 0; i < inputs; ++i)
      pending.emplace_back(i < node.inputs.size() ? node.inputs[i] : ValueId{},
                           i < model.inputs.size() ? model.inputs[i] : ValueId{});
  }

  /// A node that stands between what the file joins: what lies before it is compared all the same.
  void pass_by(const graph::Node& node, const graph::Node& model, ValueId theirs,
               std::vector<std::pair<ValueId, ValueId>>& pending) {
    for (const ValueId input : node.inputs) {
      if (!input.valid() || edited_.node(edited_.value(input).producer).op->name != model.op->name) continue;
      values_.erase(theirs);
      pending.emplace_back(input, theirs);
      return;
    }
  }

  static std::string described(const graph::Node& node) {
    return node.is_source() ? fmt::format("a {}", node.op->name) : node.op->name;
  }

  bool compare_attributes(const graph::Node& node, const graph::Node& model) {
    const std::vector<std::string_view> only = telling(node);
    bool equal = true;
    for (const auto& [name, wanted] : model.attributes) {
      if (graph::is_common_attribute(name)) continue;
      if (!only.empty() && std::ranges::find(only, name) == only.end()) continue;
      const auto ours = node.attributes.find(name);
      if (ours != node.attributes.end() && ours->second == wanted) continue;
      const std::string now = ours == node.attributes.end() ? "nothing" : graph::to_string(ours->second);
      if (node.op->family == graph::OpFamily::sampling) {
        matched_.dropped.push_back(fmt::format("{} of {}, which is {}", name, node.path(), now));
        continue;
      }
      equal = false;
      differ(node.path(),
             fmt::format("{} is {}, and the file's model has {}", name, now, graph::to_string(wanted)));
    }
    return equal;
  }

  /// Ours in the place of a value whose maker was compared, though nobody may have read it.
  ValueId counterpart(ValueId theirs) const {
    const graph::Value& value = written_.value(theirs);
    const auto maker = nodes_.find(value.producer);
    return maker == nodes_.end() ? ValueId{}
                                 : edited_.node(maker->second).outputs[static_cast<size_t>(value.output)];
  }

  /// Each state that the file's model keeps is one that ours keeps, and there are no more.
  void compare_states() {
    const auto states = [](const graph::Graph& graph) {
      std::vector<ValueId> values;
      for (const ValueId output : graph.outputs())
        if (graph.value(output).kind == graph::ValueKind::state) values.push_back(output);
      return values;
    };
    const std::vector<ValueId> ours = states(edited_), theirs = states(written_);
    if (!matched_.differences.empty()) return;
    for (const ValueId state : theirs)
      if (std::ranges::find(ours, counterpart(state)) == ours.end())
        differ(written_.value_path(state), "The file's model keeps it, and the edited one does not");
    if (ours.size() != theirs.size() && matched_.differences.empty())
      differ("states", fmt::format("There are {}, and the file's model has {}", ours.size(), theirs.size()));
  }

  const graph::Graph &edited_, &written_;
  std::unordered_map<ValueId, ValueId> values_;  // of the written graph: ours
  std::unordered_map<NodeId, NodeId> nodes_;
  Matched matched_;
};

}  // namespace

Matched match(const graph::Graph& edited, const graph::Graph& written) {
  return Matching(edited, written).run();
}

}  // namespace orrery::exporter
