// Ops that join a registry and leave it: what is refused, what a graph keeps, and many threads at once.
#include <atomic>
#include <thread>

#include "tests/engine/graph/small_ops.h"

namespace orrery::graph::test {
namespace {

using testing::HasSubstr;

OpSchema op_named(std::string name) {
  return {std::move(name), OpFamily::custom, "", {{"src"}}, {"dst"}, {}, infer_first, cost_of_elements};
}

TEST(OpRegistry, OpsJoinInOrderAndLeave) {
  const auto ops = small_ops();
  const size_t before = ops->all().size();
  const auto joined = ops->add(op_named("mine"));
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  EXPECT_EQ(ops->find("mine"), *joined);
  EXPECT_EQ(ops->all().back(), *joined);
  const auto left = ops->remove("mine");
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(*left, *joined);
  EXPECT_EQ(ops->find("mine"), nullptr);
  EXPECT_EQ(ops->all().size(), before);
  EXPECT_EQ(ops->remove("mine").error().to_string(), "There is no op \"mine\"");
}

TEST(OpRegistry, WhatDoesNotHoldTogetherIsRefused) {
  const auto ops = small_ops();
  const auto refusal = [&](OpSchema op) {
    const auto added = ops->add(std::move(op));
    return added.ok() ? "nothing" : added.error().to_string();
  };
  EXPECT_EQ(
      refusal(op_named("sum")),
      "An op of this name is there already (op \"sum\"): choose another name, or remove that one first");
  for (const char* name : {"", "Two Words", "rms-norm", "a/b"})
    EXPECT_THAT(refusal(op_named(name)), HasSubstr("This is no name of an op")) << name;
  OpSchema op = op_named("mine");
  op.infer = nullptr;
  EXPECT_THAT(refusal(op), HasSubstr("does not say which types it makes"));
  op = op_named("mine");
  op.outputs = {};
  EXPECT_THAT(refusal(op), HasSubstr("It has no output"));
  op = op_named("mine");
  op.inputs = {{"many", false, true}, {"src"}};
  EXPECT_THAT(refusal(op), HasSubstr("The input many is variadic and not the last"));
  op = op_named("mine");
  op.inputs = {{"src"}, {"src"}};
  EXPECT_THAT(refusal(op), HasSubstr("The input src is there twice"));
  op = op_named("mine");
  op.attributes = {{"device", "", Attribute(std::string("cpu"))}};
  EXPECT_THAT(refusal(op), HasSubstr("Every op has the attribute device"));
  op.attributes = {{"stored", "", Attribute(std::string("bf16"))}};
  EXPECT_THAT(refusal(op), HasSubstr("Every op has the attribute stored"));
  EXPECT_EQ(ops->find("mine"), nullptr);
}

TEST(OpRegistry, AGraphKeepsAnOpThatHasLeft) {
  const auto ops = small_ops();
  std::weak_ptr<const OpSchema> op = ops->add(op_named("mine")).value();
  {
    Graph graph(ops);
    const ValueId in = leaf(graph, "in"), out = add(graph, "mine", "s.n", {in});
    graph.set_outputs({out});
    const std::string printed = print(graph);
    EXPECT_THAT(printed, HasSubstr("= mine("));
    ASSERT_TRUE(ops->remove("mine").ok());

    EXPECT_EQ(print(graph), printed);
    EXPECT_TRUE(verify(graph).empty());
    EXPECT_TRUE(graph.infer_types().ok());
    EXPECT_EQ(graph.cost(producer(graph, out), {{kTokens, 2}}).flops, 16);
    Transaction bypass(graph, "bypass");
    bypass.set_outputs({in});
    ASSERT_TRUE(bypass.remove_node(producer(graph, out)).ok());
    const auto journal = bypass.commit();
    ASSERT_TRUE(journal.ok());
    undo(graph, *journal);
    EXPECT_EQ(print(graph), printed) << "the journal has the op too";

    const auto again = graph.add_node({"mine", "s", "another", {}, {in}, {}, {}});
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().to_string(), "There is no op mine (s.another)");
    EXPECT_FALSE(op.expired());
  }
  EXPECT_TRUE(op.expired()) << "nothing is left that uses it";
}

TEST(OpRegistry, AnotherOpOfTheSameNameMakesOtherNumbers) {
  const auto ops = small_ops();
  const auto hash = [&] {
    Graph graph(ops);
    return graph.feed_hash(add(graph, "mine", "n", {leaf(graph, "in")}));
  };
  ASSERT_TRUE(ops->add(op_named("mine")).ok());
  const uint64_t first = hash();
  EXPECT_EQ(hash(), first);
  ASSERT_TRUE(ops->remove("mine").ok());
  ASSERT_TRUE(ops->add(op_named("mine")).ok());
  EXPECT_NE(hash(), first);
}

TEST(OpRegistry, OpsComeAndGoWhileGraphsAreMade) {
  const auto ops = small_ops();
  std::atomic<bool> done{false};
  std::atomic<int> made{0};
  std::thread comes_and_goes([&] {
    while (!done) {
      EXPECT_TRUE(ops->add(op_named("mine")).ok());
      EXPECT_TRUE(ops->remove("mine").ok());
    }
  });
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i)
    makers.emplace_back([&] {
      while (made < 100) {
        Graph graph(ops);
        const ValueId in = leaf(graph, "in");
        const auto node = graph.add_node({"mine", "", "n", {}, {in}, {}, {}});
        if (!node.ok()) continue;
        ++made;
        EXPECT_EQ(graph.node(*node).op->name, "mine");
        EXPECT_TRUE(graph.infer_types().ok());
      }
    });
  for (std::thread& maker : makers) maker.join();
  done = true;
  comes_and_goes.join();
}

}  // namespace
}  // namespace orrery::graph::test
