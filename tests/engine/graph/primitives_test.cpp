// The primitives that edits of structure need: names, places in the order, inputs that grow; and what is told
// before a wire is connected.
#include <gmock/gmock.h>

#include "tests/engine/graph/small_ops.h"

namespace orrery::graph::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A change, taken back and made again.
template <class Change>
void expect_exact(Graph& graph, const Change& change) {
  const std::string before = print(graph);
  Transaction edit(graph, "change");
  change(edit);
  const auto journal = edit.commit();
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  const std::string after = print(graph);
  EXPECT_NE(after, before);
  EXPECT_TRUE(verify(graph).empty());
  undo(graph, *journal);
  EXPECT_EQ(print(graph), before);
  redo(graph, *journal);
  EXPECT_EQ(print(graph), after);
}

TEST(Primitives, ANodeGetsAnotherName) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const NodeId node = producer(graph, add(graph, "widen", "s.w", {a}));
  expect_exact(graph, [&](Transaction& edit) { ASSERT_TRUE(edit.rename_node(node, "t.u", "v").ok()); });
  EXPECT_EQ(graph.find_path("t.u.v"), node);
  EXPECT_FALSE(graph.find_path("s.w").valid());
  EXPECT_THAT(graph.rename_node(node, "", "a").error().to_string(), HasSubstr("taken by another node (a)"));
  EXPECT_FALSE(graph.rename_node(node, "s", "").ok());
  EXPECT_FALSE(graph.rename_node({99}, "s", "b").ok());
}

TEST(Primitives, NodesMoveAsFarAsWhatTheyReadAllows) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = leaf(graph, "b");
  const Attributes twice{{"scale", 2.0}};
  const ValueId first = add(graph, "scaled", "first", {a}, twice),
                second = add(graph, "scaled", "second", {first}, twice),
                other = add(graph, "scaled", "other", {b}, twice);
  add(graph, "sum", "sum", {second, other});
  const auto move = [&](std::vector<ValueId> values, const char* before) {
    std::vector<NodeId> nodes;
    for (const ValueId value : values) nodes.push_back(producer(graph, value));
    expect_exact(graph, [&](Transaction& edit) { edit.move_nodes(nodes, graph.find_path(before)); });
  };
  move({other}, "first");
  EXPECT_THAT(paths(graph), ElementsAre("a", "b", "other", "first", "second", "sum"));
  move({first, second}, "a");
  EXPECT_THAT(paths(graph), ElementsAre("a", "first", "second", "b", "other", "sum"))
      << "after what they read";
  move({first, second}, "");
  EXPECT_THAT(paths(graph), ElementsAre("a", "b", "other", "first", "second", "sum"))
      << "before who reads them";
  graph.move_nodes({producer(graph, first), producer(graph, graph.node(graph.find_path("sum")).outputs[0])},
                   {});
  EXPECT_THAT(paths(graph), ElementsAre("a", "b", "other", "first", "second", "sum"))
      << "another node is between them";
}

TEST(Primitives, AVariadicInputGrowsAndShrinks) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = leaf(graph, "b");
  const NodeId join = producer(graph, add(graph, "join", "j", {a}));
  expect_exact(graph, [&](Transaction& edit) {
    ASSERT_TRUE(edit.set_input(join, 1, b).ok());
    ASSERT_TRUE(edit.set_input(join, 2, a).ok());
  });
  EXPECT_EQ(graph.node(join).inputs, (std::vector{a, b, a}));
  EXPECT_EQ(graph.users(a).size(), 2U);
  expect_exact(graph, [&](Transaction& edit) { ASSERT_TRUE(edit.set_input(join, 2, {}).ok()); });
  EXPECT_EQ(graph.node(join).inputs, (std::vector{a, b}));
  EXPECT_EQ(graph.users(a).size(), 1U);
  EXPECT_THAT(graph.set_input(join, 3, a).error().to_string(), HasSubstr("there is no input 3"));
  EXPECT_THAT(graph.set_input(join, 0, {}).error().to_string(), HasSubstr("join needs its input src"));
  ASSERT_TRUE(graph.remove_node(join).ok());
  EXPECT_TRUE(graph.users(a).empty());
}

TEST(Primitives, StatesAndOtherValuesAreNotTakenForEachOther) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId state = add(graph, "state", "s", {}, {{"name", std::string("kv")}, {"layer", int64_t{0}}});
  const NodeId write = producer(graph, add(graph, "write", "w", {state, a}));
  EXPECT_THAT(graph.set_input(write, 0, a).error().to_string(),
              HasSubstr("a:value is f32[tokens, 8], not a state (w): Connect a state"));
  EXPECT_THAT(graph.set_input(write, 1, state).error().to_string(),
              HasSubstr("s:state is a state, which the input src does not read (w)"));
  EXPECT_THAT(graph.add_node({"widen", "", "x", {}, {state}, {}, {}}).error().to_string(),
              HasSubstr("is a state"));
  EXPECT_EQ(state_source(graph, graph.node(write).outputs[0]), producer(graph, state));
  EXPECT_FALSE(state_source(graph, a).valid() && graph.value(a).kind == ValueKind::state);
}

TEST(Primitives, AValueIsTriedAtAnInputWithoutPuttingItThere) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), wide = add(graph, "widen", "wide", {a});
  const NodeId sum = producer(graph, add(graph, "sum", "sum", {a, a}));
  const ValueId after = add(graph, "widen", "after", {graph.node(sum).outputs[0]});
  const std::string before = print(graph);
  EXPECT_THAT(graph.infer_with(sum, 1, wide).error().to_string(),
              HasSubstr("[tokens, 16] (sum, b from wide:dst)"));
  EXPECT_TRUE(graph.infer_with(sum, 1, a).ok());
  EXPECT_FALSE(graph.infer_with(sum, 2, a).ok());
  EXPECT_EQ(print(graph), before);
  EXPECT_TRUE(graph.depends_on(producer(graph, after), sum));
  EXPECT_TRUE(graph.depends_on(sum, sum));
  EXPECT_FALSE(graph.depends_on(producer(graph, wide), sum));
  EXPECT_FALSE(graph.depends_on(sum, producer(graph, after)));
}

TEST(Primitives, CopiesAreTheirOwnFromTheFirstChangeOn) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), first = add(graph, "scaled", "first", {a}, {{"scale", 1.0}});
  const NodeId node = producer(graph, first);
  const std::string before = print(graph);
  Graph copy = graph;
  ASSERT_TRUE(copy.set_attribute(node, "scale", 2.0).ok());
  ASSERT_TRUE(copy.rename_node(node, "", "renamed").ok());
  add(copy, "sum", "sum", {first, a});
  EXPECT_EQ(print(graph), before);
  EXPECT_TRUE(graph.users(first).empty());
  const std::string copied = print(copy);
  ASSERT_TRUE(graph.set_attribute(node, "scale", 3.0).ok());
  EXPECT_EQ(print(copy), copied);
  graph = copy;
  EXPECT_EQ(print(graph), copied);
  ASSERT_TRUE(copy.remove_node(copy.find_path("sum")).ok());
  EXPECT_EQ(print(graph), copied);
  EXPECT_EQ(graph.users(first).size(), 1U);
}

TEST(Primitives, WhatWasNotCommittedLeavesNoIdsBehind) {
  Graph graph(small_ops()), other(small_ops());
  const ValueId a = leaf(graph, "a");
  leaf(other, "a");
  {
    Transaction edit(graph, "dropped");
    ASSERT_TRUE(edit.add_node({"widen", "", "x", {}, {a}, {}, {}}).ok());
  }
  add(graph, "widen", "y", {a});
  add(other, "widen", "y", {a});
  EXPECT_EQ(print(graph), print(other));
}

TEST(Primitives, DrawingsAreCommonAttributesThatFeedNothing) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), first = add(graph, "scaled", "first", {a}, {{"scale", 1.0}});
  const NodeId node = producer(graph, first);
  const uint64_t hash = graph.feed_hash(first);
  ASSERT_TRUE(graph.set_attribute(node, "frame", std::string("title")).ok());
  ASSERT_TRUE(graph.set_attribute(node, "note", std::string("two\nlines")).ok());
  EXPECT_EQ(graph.feed_hash(first), hash);
  EXPECT_EQ(frame_of(graph.node(node)), "title");
  EXPECT_EQ(note_of(graph.node(node)), "two\nlines");
  EXPECT_THAT(print(graph), HasSubstr("note=two\\nlines"));
  EXPECT_FALSE(graph.set_attribute(node, "frame", std::string()).ok());
  EXPECT_FALSE(graph.set_attribute(node, "frame", int64_t{3}).ok());
  EXPECT_FALSE(graph.set_attribute(producer(graph, a), "note", std::string("on a source")).ok());
}

TEST(Primitives, HashesOfSeveralValuesAreThoseOfEach) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = add(graph, "widen", "b", {a}), c = add(graph, "widen", "c", {b});
  EXPECT_THAT(graph.feed_hashes(std::vector<ValueId>{c, a, {}, b}),
              ElementsAre(graph.feed_hash(c), graph.feed_hash(a), 0U, graph.feed_hash(b)));
}

}  // namespace
}  // namespace orrery::graph::test
