#include "engine/graph/graph.h"

#include "tests/engine/graph/small_ops.h"

namespace orrery::graph::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Graph, IdsGrowAndAreNotReused) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId b = leaf(graph, "b");
  EXPECT_EQ(a.value, 1u);
  EXPECT_EQ(b.value, 2u);
  ASSERT_TRUE(graph.remove_node(producer(graph, b)).ok());
  EXPECT_EQ(leaf(graph, "b").value, 3u);
}

TEST(Graph, InferenceTypesTheOutputs) {
  Graph graph(small_ops());
  const ValueId wide = add(graph, "widen", "w", {leaf(graph, "a")}, {{"factor", int64_t{3}}});
  EXPECT_EQ(to_string(graph.value(wide).type.shape), "[tokens, 24]");
  EXPECT_EQ(graph.value(wide).name, "dst");
  EXPECT_EQ(graph.value(wide).kind, ValueKind::activation);
  EXPECT_EQ(graph.cost(producer(graph, wide), {{kTokens, 2}}).flops, 48);
  EXPECT_EQ(graph.cost(producer(graph, graph.node(producer(graph, wide)).inputs[0]), {}).flops, 0);
}

TEST(Graph, KindsFollowFromTheSource) {
  Graph graph(small_ops());
  EXPECT_EQ(graph.value(add(graph, "weight", "w", {}, {{"cols", int64_t{8}}})).kind, ValueKind::weight);
  const ValueId src = leaf(graph, "i");
  EXPECT_EQ(graph.value(src).kind, ValueKind::input);
  const ValueId state = add(graph, "state", "s", {}, {{"name", std::string("kv")}, {"layer", int64_t{0}}});
  EXPECT_EQ(graph.value(state).kind, ValueKind::state);
  EXPECT_EQ(graph.value(add(graph, "write", "w2", {state, src})).kind, ValueKind::state);
}

TEST(Graph, FallbacksFillTheAttributesAndWholeNumbersBecomeReal) {
  Graph graph(small_ops());
  const ValueId src = leaf(graph, "a");
  const Node& wide = graph.node(producer(graph, add(graph, "widen", "w", {src})));
  EXPECT_EQ(wide.attributes.at("factor"), Attribute(int64_t{2}));
  const Node& scaled = graph.node(producer(graph, add(graph, "scaled", "s", {src}, {{"scale", int64_t{3}}})));
  EXPECT_EQ(scaled.attributes.at("scale"), Attribute(3.0));
  EXPECT_THAT(scaled.inputs, ElementsAre(src, ValueId{}));
}

std::string refusal(Graph& graph, Graph::NewNode node) {
  const std::string before = print(graph);
  const auto added = graph.add_node(std::move(node));
  EXPECT_EQ(print(graph), before);
  return added.ok() ? "" : added.error().to_string();
}

TEST(Graph, RefusesIllegalNodesWithTheirReason) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = leaf(graph, "x.b", 9);
  EXPECT_EQ(refusal(graph, {"nothing", "s", "n", {}, {}, {}, {}}), "There is no op nothing (s.n)");
  EXPECT_THAT(refusal(graph, {"sum", "x", "b", {}, {a, a}, {}, {}}),
              HasSubstr("taken by another node (x.b)"));
  EXPECT_THAT(refusal(graph, {"sum", "", "n", {}, {a}, {}, {}}), HasSubstr("sum needs its input b (n)"));
  EXPECT_THAT(refusal(graph, {"sum", "", "n", {}, {a, a, a}, {}, {}}), HasSubstr("takes 2 inputs, not 3"));
  EXPECT_THAT(refusal(graph, {"sum", "", "n", {}, {a, {99}}, {}, {}}), HasSubstr("no value %99"));
  EXPECT_THAT(refusal(graph, {"sum", "", "", {}, {a, a}, {}, {}}), HasSubstr("has no name"));
  EXPECT_EQ(refusal(graph, {"sum", "s", "n", {}, {a, b}, {}, {}}),
            "a is [tokens, 8], b is [tokens, 9] (s.n, b from x.b:value)");
}

TEST(Graph, RefusesWrongAttributes) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  EXPECT_EQ(refusal(graph, {"widen", "", "n", {{"factr", int64_t{1}}}, {a}, {}, {}}),
            "widen has no attribute factr (n): widen takes factor");
  EXPECT_THAT(refusal(graph, {"widen", "", "n", {{"factor", 1.5}}, {a}, {}, {}}),
              HasSubstr("factor of widen is a whole number, not 1.5 (n)"));
  EXPECT_THAT(refusal(graph, {"scaled", "", "n", {}, {a}, {}, {}}),
              HasSubstr("scaled needs the attribute scale (n)"));
  EXPECT_THAT(refusal(graph, {"scaled", "", "n", {{"scale", std::string("much")}}, {a}, {}, {}}),
              HasSubstr("scale of scaled is a number, not much"));
  const NodeId wide = producer(graph, add(graph, "widen", "w", {a}));
  EXPECT_THAT(graph.set_attribute(wide, "factor", std::string("2")).error().to_string(),
              HasSubstr("a whole number"));
  EXPECT_EQ(graph.node(wide).attributes.at("factor"), Attribute(int64_t{2}));
}

TEST(Graph, EveryNodeButASourceMayNameItsDevice) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const Attributes placed = {{"scale", 2.0}, {"device", std::string("cuda:0")}};
  const NodeId node = producer(graph, add(graph, "scaled", "s", {a}, placed));
  EXPECT_EQ(device_of(graph.node(node)), "cuda:0");
  ASSERT_TRUE(graph.set_attribute(node, "device", std::string("cpu")).ok());
  EXPECT_EQ(device_of(graph.node(node)), "cpu");
  ASSERT_TRUE(graph.set_attribute(node, "device", std::nullopt).ok());
  EXPECT_EQ(device_of(graph.node(node)), "");
  EXPECT_FALSE(graph.node(node).attributes.contains("device"));
  EXPECT_FALSE(graph.set_attribute(node, "scale", std::nullopt).ok()) << "it has no fallback";

  for (const char* word : {"", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:01", "cuda:1x", "cuda:12345", "CPU"})
    EXPECT_THAT(graph.set_attribute(node, "device", std::string(word)).error().to_string(),
                HasSubstr("names no device"))
        << word;
  EXPECT_FALSE(graph.set_attribute(node, "device", int64_t{0}).ok());
  EXPECT_THAT(graph.set_attribute(producer(graph, a), "device", std::string("cpu")).error().to_string(),
              HasSubstr("has no attribute device"));
}

TEST(Graph, WhatANodeMakesMayBeStoredRounded) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = add(graph, "widen", "s", {a}, {{"stored", std::string("bf16")}});
  const NodeId node = producer(graph, b);
  EXPECT_EQ(to_string(graph.value(b).type).substr(0, 5), "bf16[");
  EXPECT_EQ(stored_as(graph.node(node)), DType::bf16);
  EXPECT_TRUE(verify(graph).empty());
  ASSERT_TRUE(graph.set_attribute(node, "stored", std::nullopt).ok());
  ASSERT_TRUE(graph.infer_types().ok());
  EXPECT_EQ(graph.value(b).type.dtype, DType::f32);
  EXPECT_EQ(stored_as(graph.node(node)), std::nullopt);

  for (const char* word : {"", "f32", "Q8_0", "i16"})
    EXPECT_THAT(graph.set_attribute(node, "stored", std::string(word)).error().to_string(),
                HasSubstr("which no activation is stored in"))
        << word;
  EXPECT_THAT(graph.set_attribute(producer(graph, a), "stored", std::string("bf16")).error().to_string(),
              HasSubstr("has no attribute stored"));
  ASSERT_TRUE(graph.set_attribute(node, "stored", std::string("bf16")).ok());
  ASSERT_TRUE(graph.infer_types().ok());
  const auto again = graph.add_node({"widen", "s", "again", {{"stored", std::string("f16")}}, {b}, {}, {}});
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().to_string(), HasSubstr("bf16[tokens, "));
  EXPECT_THAT(again.error().to_string(), HasSubstr("which is not stored as f16"));
}

TEST(Graph, VariadicInputsTakeAnyNumber) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  EXPECT_EQ(graph.node(producer(graph, add(graph, "join", "none", {a}))).inputs.size(), 1u);
  EXPECT_EQ(graph.node(producer(graph, add(graph, "join", "three", {a, a, a, a}))).inputs.size(), 4u);
  EXPECT_THAT(refusal(graph, {"join", "", "n", {}, {a, {}}, {}, {}}), HasSubstr("join needs its input more"));
}

TEST(Graph, NewNodesGoBeforeANodeButBehindTheirInputs) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = leaf(graph, "b"), c = leaf(graph, "c");
  add(graph, "widen", "early", {a}, {}, producer(graph, b));
  add(graph, "widen", "late", {c}, {}, producer(graph, b));
  EXPECT_THAT(paths(graph), ElementsAre("a", "early", "b", "c", "late"));
}

TEST(Graph, SetInputMovesOnlyWhatComesTooLate) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId first = add(graph, "widen", "first", {a});
  add(graph, "widen", "between", {first});
  const ValueId deep = add(graph, "widen", "deep", {a});
  leaf(graph, "apart");
  const ValueId deeper = add(graph, "widen", "deeper", {deep}, {{"factor", int64_t{1}}});
  ASSERT_TRUE(graph.set_input(producer(graph, first), 0, deeper).ok());
  EXPECT_THAT(paths(graph), ElementsAre("a", "deep", "deeper", "first", "between", "apart"));
  EXPECT_FALSE(verify(graph).empty()) << "the types that follow are stale";
  ASSERT_TRUE(graph.infer_types().ok());
  EXPECT_TRUE(verify(graph).empty());
  EXPECT_EQ(to_string(graph.value(first).type.shape), "[tokens, 32]");
}

TEST(Graph, RefusesCycles) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId first = add(graph, "widen", "first", {a});
  const ValueId second = add(graph, "widen", "second", {first});
  const std::string before = print(graph);
  const auto refused = graph.set_input(producer(graph, first), 0, second);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("second depends on first"));
  EXPECT_FALSE(graph.set_input(producer(graph, first), 0, first).ok());
  EXPECT_EQ(print(graph), before);
}

TEST(Graph, SetInputChecksIndexValueAndOptionality) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const NodeId scaled = producer(graph, add(graph, "scaled", "s", {a, a}, {{"scale", 1.0}}));
  EXPECT_FALSE(graph.set_input(scaled, 2, a).ok());
  EXPECT_FALSE(graph.set_input(scaled, -1, a).ok());
  EXPECT_FALSE(graph.set_input(scaled, 0, {}).ok());
  EXPECT_FALSE(graph.set_input(scaled, 0, {77}).ok());
  EXPECT_FALSE(graph.set_input({77}, 0, a).ok());
  EXPECT_TRUE(graph.set_input(scaled, 1, {}).ok());
  EXPECT_EQ(graph.users(a).size(), 1u);
}

TEST(Graph, UsedNodesAndOutputsAreNotRemoved) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId wide = add(graph, "widen", "w", {a});
  EXPECT_EQ(graph.remove_node(producer(graph, a)).error().to_string(),
            "a:value is used by w (a): Connect its users to something else first");
  graph.set_outputs({wide});
  EXPECT_THAT(graph.remove_node(producer(graph, wide)).error().to_string(), HasSubstr("w:dst is an output"));
  graph.set_outputs({});
  EXPECT_TRUE(graph.remove_node(producer(graph, wide)).ok());
  EXPECT_TRUE(graph.users(a).empty());
  EXPECT_FALSE(graph.find_path("w").valid());
}

TEST(Graph, FindsByPathAndScope) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "layers.1.a");
  leaf(graph, "layers.10.a");
  const ValueId b = add(graph, "widen", "layers.1.a.b", {a});
  EXPECT_EQ(graph.find_path("layers.1.a"), producer(graph, a));
  EXPECT_FALSE(graph.find_path("layers.1").valid());
  EXPECT_THAT(graph.in_scope("layers.1"), ElementsAre(producer(graph, a), producer(graph, b)));
  EXPECT_EQ(graph.in_scope("").size(), 3u);
  EXPECT_EQ(graph.value_path(b), "layers.1.a.b:dst");
}

TEST(Graph, LivenessFollowsTheOutputs) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a"), b = leaf(graph, "b");
  add(graph, "widen", "dead", {b});
  graph.set_outputs({add(graph, "widen", "w", {a})});
  EXPECT_EQ(graph.live(), (std::vector<bool>{true, false, false, true}));
}

TEST(Graph, OnlySourcesHaveTheirTypeSet) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId w = add(graph, "widen", "w", {a});
  EXPECT_THAT(graph.set_value_type(w, {}).error().to_string(), HasSubstr("type of w:dst follows"));
  ASSERT_TRUE(graph.set_value_type(a, {DType::bf16, {kTokens, 4}}).ok());
  ASSERT_TRUE(graph.infer_types().ok());
  EXPECT_EQ(graph.value(w).type, (ValueType{DType::bf16, {kTokens, 8}}));
  ASSERT_TRUE(graph.set_attribute(producer(graph, a), "cols", int64_t{5}).ok());
  EXPECT_EQ(graph.value(a).type, (ValueType{DType::f32, {kTokens, 5}}));
}

TEST(Graph, PrintsOneLineANode) {
  Graph graph(small_ops());
  const ValueId a = leaf(graph, "a");
  const ValueId w = add(graph, "weight", "l.w", {}, {{"cols", int64_t{8}}});
  const ValueId sum = add(graph, "sum", "l.sum", {a, w});
  graph.set_outputs({add(graph, "scaled", "l.half", {sum}, {{"scale", 0.5}})});
  EXPECT_EQ(print(graph),
            "%i1 = input() {cols=8}  # a f32[tokens, 8]\n"
            "%w2 = weight() {cols=8}  # l.w f32[tokens, 8]\n"
            "%3 = sum(%i1, %w2)  # l.sum f32[tokens, 8]\n"
            "%4 = scaled(%3, _) {scale=0.5}  # l.half f32[tokens, 8]\n"
            "outputs %4\n");
}

}  // namespace
}  // namespace orrery::graph::test
