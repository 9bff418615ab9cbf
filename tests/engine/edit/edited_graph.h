// A real model's graph that tests edit by the words that a person writes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {

class EditedGraph : public ::testing::Test {
 protected:
  explicit EditedGraph(Graph graph) : graph_(std::move(graph)) {}

  /// An edit that must be possible; undone and made again, it must leave the graphs that were there.
  graph::Journal make(std::string_view words) {
    const std::string before = print(graph_);
    auto journal = edit(graph_, words);
    EXPECT_TRUE(journal.ok()) << words << ": " << (journal.ok() ? "" : journal.error().to_string());
    if (!journal.ok()) return {};
    const auto problems = verify(graph_);
    EXPECT_TRUE(problems.empty()) << words << ": " << problems.front().error.to_string();
    const std::string after = print(graph_);
    EXPECT_NE(after, before) << words;
    graph::undo(graph_, *journal);
    EXPECT_EQ(print(graph_), before) << words;
    graph::redo(graph_, *journal);
    EXPECT_EQ(print(graph_), after) << words;
    return std::move(journal).value();
  }
  /// Why an edit is refused; the graph must be as it was. Empty where it is possible.
  std::string refused(std::string_view words) {
    const std::string before = print(graph_);
    const auto journal = edit(graph_, words);
    if (journal.ok()) return "";
    EXPECT_EQ(print(graph_), before) << words;
    return journal.error().to_string();
  }

  bool has(std::string_view path) const { return !graph_.in_scope(path).empty(); }
  const graph::Node& node(std::string_view path) const {
    const NodeId id = graph_.find_path(path);
    if (!id.valid()) throw std::runtime_error("no node " + std::string(path));
    return graph_.node(id);
  }
  /// What a node reads: "layers.2.mlp.residual:dst"; empty where it reads nothing.
  std::string reads(std::string_view path, size_t input = 0) const {
    const std::vector<ValueId>& inputs = node(path).inputs;
    return input < inputs.size() && inputs[input].valid() ? graph_.value_path(inputs[input]) : "";
  }
  std::vector<std::string> outputs() const {
    std::vector<std::string> names;
    for (const ValueId output : graph_.outputs()) names.push_back(graph_.value_path(output));
    return names;
  }
  /// Nodes of a scope that an output depends on.
  size_t live_count(std::string_view scope) const {
    const std::vector<bool> live = graph_.live();
    const std::vector<NodeId> inside = graph_.in_scope(scope);
    size_t count = 0;
    for (size_t i = 0; i < live.size(); ++i)
      count += live[i] && std::ranges::find(inside, graph_.order()[i]) != inside.end() ? 1 : 0;
    return count;
  }
  /// The scopes of the layers, in the order in which their first nodes come.
  std::vector<std::string> layers() const {
    std::vector<std::string> found;
    for (const NodeId id : graph_.order()) {
      const std::string path = graph_.node(id).path();
      if (!path.starts_with("layers.")) continue;
      std::string layer = path.substr(7, path.find('.', 7) - 7);
      if (std::ranges::find(found, layer) == found.end()) found.push_back(std::move(layer));
    }
    return found;
  }
  uint64_t hash(std::string_view state) const { return graph_.feed_hash(node(state).outputs.back()); }
  graph::Attribute attribute(std::string_view path, std::string_view name) const {
    const auto found = node(path).attributes.find(name);
    return found == node(path).attributes.end() ? graph::Attribute(false) : found->second;
  }

  Graph graph_;
};

class EditedLlama : public EditedGraph {
 protected:
  EditedLlama() : EditedGraph(graph_of("smollm2")) {}
};
class EditedBert : public EditedGraph {
 protected:
  EditedBert() : EditedGraph(graph_of("minilm")) {}
};
class EditedMamba : public EditedGraph {
 protected:
  EditedMamba() : EditedGraph(graph_of(ORRERY_TEST_DATA "/models/mamba")) {}
};
class EditedMixture : public EditedGraph {
 protected:
  EditedMixture() : EditedGraph(graph_of(ORRERY_TEST_DATA "/models/mixtral")) {}
};

}  // namespace orrery::edit
