#include "tests/engine/graph/small_ops.h"

namespace orrery::graph::test {
namespace {

struct Layer {
  Graph graph{small_ops()};
  ValueId src, state, out;
  explicit Layer(const std::string& scope = "l", int64_t layer = 0, double scale = 2.0, int64_t cols = 8,
                 bool other_ids = false) {
    if (other_ids) leaf(graph, "unrelated", 99);
    src = leaf(graph, "a", cols);
    const ValueId scaled = add(graph, "scaled", scope + ".s", {src}, {{"scale", scale}});
    const ValueId before = add(graph, "state", scope + ".kv", {}, {{"name", scope}, {"layer", layer}});
    state = add(graph, "write", scope + ".w", {before, scaled});
    out = add(graph, "sum", scope + ".o", {scaled, src});
  }
  uint64_t hash() const { return graph.feed_hash(state); }
};

TEST(FeedHash, LeavesOutNamesIdsAndLayerNumbers) {
  Layer layer, renamed("other", 7);
  EXPECT_EQ(layer.hash(), renamed.hash());
  Layer shifted("l", 0, 2.0, 8, true);
  EXPECT_EQ(layer.hash(), shifted.hash());
  EXPECT_NE(layer.hash(), 0u);
}

TEST(FeedHash, LeavesOutWhereNodesRun) {
  const Layer layer;
  Layer placed;
  ASSERT_TRUE(
      placed.graph.set_attribute(placed.graph.find_path("l.s"), "device", std::string("cuda:0")).ok());
  EXPECT_EQ(layer.hash(), placed.hash());
}

TEST(FeedHash, SeesAttributesTypesAndWiring) {
  const Layer layer;
  EXPECT_NE(layer.hash(), Layer("l", 0, 2.5).hash());
  EXPECT_NE(layer.hash(), Layer("l", 0, 2.0, 9).hash());
  Layer rewired;
  ASSERT_TRUE(rewired.graph.set_input(producer(rewired.graph, rewired.state), 1, rewired.src).ok());
  EXPECT_NE(layer.hash(), rewired.hash());
}

TEST(FeedHash, WhatComesAfterDoesNotCount) {
  Layer layer, longer;
  add(longer.graph, "widen", "after", {longer.out});
  EXPECT_EQ(layer.hash(), longer.hash());
}

TEST(FeedHash, OrderOfInputsAndOutputsCounts) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = add(graph, "weight", "b", {}, {{"cols", int64_t{8}}});
  EXPECT_NE(graph.feed_hash(add(graph, "sum", "ab", {a, b})),
            graph.feed_hash(add(graph, "sum", "ba", {b, a})));
  const ValueId part = add(graph, "split", "parts", {a}, {{"parts", int64_t{2}}});
  EXPECT_NE(graph.feed_hash(part), graph.feed_hash(graph.node(producer(graph, part)).outputs[1]));
  EXPECT_EQ(graph.feed_hash({99}), 0u);
}

}  // namespace
}  // namespace orrery::graph::test
