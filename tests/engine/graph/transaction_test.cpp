#include "engine/graph/transaction.h"

#include <random>

#include "tests/engine/graph/small_ops.h"

namespace orrery::graph::test {
namespace {

using testing::HasSubstr;

struct Chain {
  Graph graph{small_ops()};
  ValueId a = leaf(graph, "a");
  ValueId first = add(graph, "scaled", "l.first", {a}, {{"scale", 1.0}});
  ValueId second = add(graph, "widen", "l.second", {first});
  ValueId last = add(graph, "scaled", "last", {second}, {{"scale", 2.0}});
  Chain() { graph.set_outputs({last}); }
};

TEST(Transaction, CommitUndoRedoBringTheSameGraphs) {
  Chain chain;
  Graph& graph = chain.graph;
  const std::string before = print(graph);
  Transaction edit(graph, "rewire");
  const auto node =
      edit.add_node({"sum", "l", "twice", {}, {chain.first, chain.first}, {}, producer(graph, chain.second)});
  ASSERT_TRUE(node.ok());
  ASSERT_TRUE(edit.set_input(producer(graph, chain.second), 0, graph.node(*node).outputs[0]).ok());
  ASSERT_TRUE(edit.set_attribute(producer(graph, chain.second), "factor", int64_t{5}).ok());
  edit.set_outputs({chain.second});
  ASSERT_TRUE(edit.remove_node(producer(graph, chain.last)).ok());
  ASSERT_TRUE(edit.set_attribute(producer(graph, chain.a), "cols", int64_t{3}).ok());
  const auto journal = edit.commit();
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(journal->name, "rewire");
  EXPECT_EQ(to_string(graph.value(chain.second).type.shape), "[tokens, 15]");

  const std::string after = print(graph);
  EXPECT_NE(after, before);
  undo(graph, *journal);
  EXPECT_EQ(print(graph), before);
  EXPECT_EQ(graph.users(chain.first).size(), 1u);
  EXPECT_TRUE(verify(graph).empty());
  redo(graph, *journal);
  EXPECT_EQ(print(graph), after);
  EXPECT_TRUE(verify(graph).empty());
}

TEST(Transaction, WithoutCommitNothingStays) {
  Chain chain;
  const std::string before = print(chain.graph);
  {
    Transaction edit(chain.graph, "forgotten");
    ASSERT_TRUE(edit.set_input(producer(chain.graph, chain.second), 0, chain.a).ok());
    ASSERT_TRUE(edit.remove_node(producer(chain.graph, chain.first)).ok());
  }
  EXPECT_EQ(print(chain.graph), before);
  EXPECT_TRUE(chain.graph.find_path("l.first").valid());
}

TEST(Transaction, ARefusedCommitTakesEverythingBack) {
  Chain chain;
  Graph& graph = chain.graph;
  const ValueId sum = add(graph, "sum", "check", {chain.a, chain.first});
  const std::string before = print(graph);
  Transaction edit(graph, "widen a leg");
  const auto wide = edit.add_node({"widen", "", "wide", {}, {chain.a}, {}, producer(graph, chain.first)});
  ASSERT_TRUE(wide.ok());
  ASSERT_TRUE(edit.set_input(producer(graph, chain.first), 0, graph.node(*wide).outputs[0]).ok());
  const auto journal = edit.commit();
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().to_string(), "a is [tokens, 8], b is [tokens, 16] (check, b from l.first:dst)");
  EXPECT_EQ(print(graph), before);
  EXPECT_EQ(graph.users(sum).size(), 0u);
}

TEST(Transaction, ARefusedPrimitiveLeavesTheOthers) {
  Chain chain;
  Transaction edit(chain.graph, "half");
  ASSERT_TRUE(edit.set_attribute(producer(chain.graph, chain.first), "scale", 9.0).ok());
  EXPECT_FALSE(edit.set_attribute(producer(chain.graph, chain.first), "skale", 9.0).ok());
  EXPECT_FALSE(edit.remove_node(producer(chain.graph, chain.first)).ok());
  EXPECT_FALSE(edit.remove_node({123}).ok());
  EXPECT_FALSE(edit.set_value_type({123}, {}).ok());
  const auto journal = edit.commit();
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal->changes.size(), 1u);
}

TEST(Transaction, AnAttributeThatComesOrGoesIsJournalled) {
  Chain chain;
  const std::string before = print(chain.graph);
  const NodeId node = producer(chain.graph, chain.first);
  const auto place = [&](std::optional<Attribute> device) {
    Transaction edit(chain.graph, "place");
    EXPECT_TRUE(edit.set_attribute(node, "device", std::move(device)).ok());
    return edit.commit().value();
  };
  const Journal there = place(std::string("cuda:0"));
  const std::string placed = print(chain.graph);
  EXPECT_NE(placed, before);
  const Journal back = place(std::nullopt);
  EXPECT_EQ(print(chain.graph), before);
  undo(chain.graph, back);
  EXPECT_EQ(print(chain.graph), placed);
  undo(chain.graph, there);
  EXPECT_EQ(print(chain.graph), before);
  redo(chain.graph, there);
  redo(chain.graph, back);
  EXPECT_EQ(print(chain.graph), before);
}

TEST(Transaction, OutputCountsCannotChange) {
  Chain chain;
  const ValueId parts = add(chain.graph, "split", "parts", {chain.a}, {{"parts", int64_t{2}}});
  Transaction edit(chain.graph, "three parts");
  ASSERT_TRUE(edit.set_attribute(producer(chain.graph, parts), "parts", int64_t{3}).ok());
  const auto journal = edit.commit();
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().to_string(), HasSubstr("3 outputs instead of 2 (parts)"));
}

TEST(Transaction, SourceTypesAreRestored) {
  Chain chain;
  const std::string before = print(chain.graph);
  Transaction edit(chain.graph, "precision");
  ASSERT_TRUE(edit.set_value_type(chain.a, {DType::bf16, {kTokens, 8}}).ok());
  const auto journal = edit.commit();
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(chain.graph.value(chain.last).type.dtype, DType::bf16);
  undo(chain.graph, *journal);
  EXPECT_EQ(print(chain.graph), before);
}

/// One random legal or illegal primitive.
void random_primitive(Transaction& edit, const Graph& graph, std::mt19937& random, int step) {
  const auto pick = [&](size_t count) { return static_cast<size_t>(random()) % count; };
  const Node& node = graph.node(graph.order()[pick(graph.order().size())]);
  const ValueId value = graph.node(graph.order()[pick(graph.order().size())]).outputs[0];
  switch (pick(5)) {
    case 0:
      (void)edit.add_node({"widen", "r", "n" + std::to_string(step), {}, {value}, {}, node.id});
      break;
    case 1:
      (void)edit.remove_node(node.id);
      break;
    case 2:
      (void)edit.set_input(node.id, static_cast<int>(pick(2)), value);
      break;
    case 3:
      (void)edit.set_attribute(node.id, "factor", static_cast<int64_t>(pick(3)));
      break;
    default:
      edit.set_outputs({value});
      break;
  }
}

TEST(Transaction, RandomEditsUndoExactly) {
  std::mt19937 random(11);
  int committed = 0;
  for (int round = 0; round < 300; ++round) {
    Chain chain;
    std::vector<std::pair<Journal, std::string>> done;
    for (int step = 0; step < 6; ++step) {
      std::string before = print(chain.graph);
      Transaction edit(chain.graph, "random");
      for (int i = 0; i < 4; ++i) random_primitive(edit, chain.graph, random, step * 10 + i);
      auto journal = edit.commit();
      if (journal.ok())
        done.emplace_back(std::move(journal).value(), std::move(before));
      else
        ASSERT_EQ(print(chain.graph), before);
      ASSERT_TRUE(verify(chain.graph).empty());
    }
    committed += static_cast<int>(done.size());
    for (; !done.empty(); done.pop_back()) {
      const std::string after = print(chain.graph);
      undo(chain.graph, done.back().first);
      ASSERT_EQ(print(chain.graph), done.back().second);
      redo(chain.graph, done.back().first);
      ASSERT_EQ(print(chain.graph), after);
      undo(chain.graph, done.back().first);
    }
  }
  EXPECT_GT(committed, 500);
}

}  // namespace
}  // namespace orrery::graph::test
