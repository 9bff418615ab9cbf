// Graphs of one's own, made by hand.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ops/lowering.h"

namespace orrery::own {

/// Adds nodes at the top, each with its first output.
struct Maker {
  graph::Graph graph{ops::registry()};

  ValueId op(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
             graph::Attributes attributes = {}) {
    const auto node = graph.add_node({op, "", name, std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    return node.ok() ? graph.node(*node).outputs.front() : ValueId{};
  }
  ValueId input(const std::string& name, const std::string& dtype, const std::string& shape) {
    return op("input", name, {}, {{"name", name}, {"dtype", dtype}, {"shape", shape}});
  }
  graph::GraphVersion done(const std::vector<ValueId>& outputs) {
    graph.set_outputs(outputs);
    return std::make_shared<const graph::Graph>(graph);
  }
};

}  // namespace orrery::own
