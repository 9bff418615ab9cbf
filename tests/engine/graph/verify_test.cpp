#include "tests/engine/graph/small_ops.h"

namespace orrery::graph::test {
namespace {

using testing::HasSubstr;

TEST(Verify, ALegalGraphHasNoProblems) {
  Graph graph(small_ops());
  graph.set_outputs({add(graph, "widen", "w", {leaf(graph, "a")})});
  EXPECT_TRUE(verify(graph).empty());
}

TEST(Verify, NamesTheNodeWhoseTypesDoNotFollow) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = leaf(graph, "b", 9);
  const ValueId sum = add(graph, "sum", "s", {a, a});
  ASSERT_TRUE(graph.set_input(producer(graph, sum), 1, b).ok());
  const auto problems = verify(graph);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].node, producer(graph, sum));
  EXPECT_EQ(problems[0].error.to_string(), "a is [tokens, 8], b is [tokens, 9] (s, b from b:value)");
}

TEST(Verify, NamesBothTypesOfAStaleOutput) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  add(graph, "widen", "w", {a});
  ASSERT_TRUE(graph.set_value_type(a, {DType::f32, {kTokens, 5}}).ok());
  const auto problems = verify(graph);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].error.to_string(),
              HasSubstr("dst is f32[tokens, 16], but its inputs give f32[tokens, 10]"));
}

TEST(Verify, OneLiveWriterAState) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId state = add(graph, "state", "s", {}, {{"name", std::string("kv")}, {"layer", int64_t{0}}});
  const ValueId first = add(graph, "write", "first", {state, a});
  const ValueId second = add(graph, "write", "second", {state, a});
  graph.set_outputs({first});
  EXPECT_TRUE(verify(graph).empty()) << "the second is not run";
  graph.set_outputs({first, second});
  const auto problems = verify(graph);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].error.to_string(),
            "The state s:state is already written by first (second): Give it a state of its own");
}

TEST(Verify, OutputsExist) {
  Graph graph(small_ops());
  graph.set_outputs({{5}});
  ASSERT_EQ(verify(graph).size(), 1u);
  EXPECT_THAT(verify(graph)[0].error.to_string(), HasSubstr("output %5 does not exist"));
}

}  // namespace
}  // namespace orrery::graph::test
