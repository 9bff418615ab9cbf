#include "engine/own/sizes.h"

#include "tests/engine/own/own_graphs.h"

namespace orrery::own {
namespace {

using testing::HasSubstr;

graph::ValueType type(DType dtype, const std::vector<int64_t>& shape) {
  return {dtype, Shape(shape.begin(), shape.end())};
}

std::string refusal(const graph::Graph& graph, const GivenTypes& given) {
  const auto sizes = sizes_of(graph, given);
  return sizes.ok() ? std::string("it fits") : sizes.error().to_string();
}

TEST(Sizes, FollowFromWhatIsGiven) {
  Maker make;
  const ValueId x = make.input("x", "f32", "n, 64"), y = make.input("y", "f32", "2*n+1, m");
  make.input("z", "i64", "");
  const auto graph = make.done({x, y});
  const auto sizes = sizes_of(*graph, {{"y", type(DType::f32, {7, 5})}, {"x", type(DType::f32, {3, 64})}});
  ASSERT_TRUE(sizes.ok()) << sizes.error().to_string();
  EXPECT_EQ(*sizes, (Bindings{{"n", 3}, {"m", 5}}));
}

TEST(Sizes, ASymbolMayBeFoundThroughAnother) {
  Maker make;
  const ValueId sum = make.input("sum", "f32", "a+b"), a = make.input("a", "f32", "a");
  const auto graph = make.done({sum, a});
  const auto sizes = sizes_of(*graph, {{"sum", type(DType::f32, {5})}, {"a", type(DType::f32, {2})}});
  ASSERT_TRUE(sizes.ok()) << sizes.error().to_string();
  EXPECT_EQ(*sizes, (Bindings{{"a", 2}, {"b", 3}}));
}

TEST(Sizes, WhatDoesNotFitIsRefusedWithBothShapes) {
  Maker make;
  const ValueId x = make.input("x", "f32", "n, 64"), y = make.input("y", "f32", "n");
  make.input("unused", "f32", "4");
  const auto graph = make.done({x, y});
  const auto y3 = std::pair(std::string("y"), type(DType::f32, {3}));
  EXPECT_EQ(refusal(*graph, {{"x", type(DType::f32, {3, 4})}, y3}),
            "x is f32[3, 4], but the graph asks f32[n, 64]: give it the sizes that the graph asks");
  EXPECT_EQ(refusal(*graph, {{"x", type(DType::f32, {2, 64})}, y3}),
            "y is f32[3], but the graph asks f32[n], and n is 2: give it the sizes that the graph asks");
  EXPECT_EQ(refusal(*graph, {{"x", type(DType::f16, {3, 64})}, y3}),
            "x is f16[3, 64], but the graph asks f32[n, 64]: convert it, or give the input another dtype");
  EXPECT_THAT(refusal(*graph, {{"x", type(DType::f32, {64})}, y3}),
              HasSubstr("x is f32[64], but the graph asks f32[n, 64]: give it the dims"));
  EXPECT_EQ(refusal(*graph, {y3}), "Nothing is given for x, f32[n, 64]: give an array for each input");
  EXPECT_EQ(refusal(*graph, {{"x", type(DType::f32, {3, 64})}, y3, {"w", type(DType::f32, {1})}}),
            "The graph has no input \"w\": the inputs are x, y, unused");
  EXPECT_THAT(refusal(*graph, {{"x", type(DType::f32, {0, 64})}, {"y", type(DType::f32, {0})}}),
              HasSubstr("no size at least 1 follows for n"));
  EXPECT_THAT(refusal(*graph, {{"x", type(DType::f32, {3, 64})}, y3, {"unused", type(DType::f32, {5})}}),
              HasSubstr("unused is f32[5], but the graph asks f32[4]"));
}

TEST(Sizes, NodesMayShareAnInput) {
  Maker make;
  const ValueId a = make.input("x", "f32", "n");
  const ValueId b = make.op("input", "other", {}, {{"name", "x"}, {"dtype", "f32"}, {"shape", "n"}});
  const auto inputs = inputs_of(*make.done({a, b}));
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->size(), 1U);
  make.op("input", "third", {}, {{"name", "x"}, {"dtype", "f32"}, {"shape", "m"}});
  const auto refused = inputs_of(make.graph);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string(),
            "\"x\" is given as f32[m], and as f32[n] to another node (third): give one of them another name");
}

TEST(Sizes, WhatAStepOfAModelBringsIsNotGiven) {
  Maker make;
  const ValueId ids = make.op("input", "ids", {}, {{"name", "token_ids"}});
  EXPECT_TRUE(inputs_of(make.graph).ok()) << "nothing depends on it";
  const auto refused = inputs_of(*make.done({ids}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().to_string(),
      "token_ids is what a step of a model brings (ids): give the input a dtype and a shape, to bring it "
      "oneself");
}

TEST(Sizes, AGraphTakesThem) {
  Maker make;
  const ValueId x = make.input("x", "f32", "n, m"), y = make.input("y", "f32", "m");
  const ValueId sum = make.op("add", "sum", {x, y});
  const auto graph = make.done({sum});
  const auto open = with_sizes(graph, {{"n", 3}});
  ASSERT_TRUE(open.ok());
  EXPECT_TRUE(open->open);
  EXPECT_EQ(to_string(open->graph->value(sum).type), "f32[3, m]");
  const auto sized = with_sizes(graph, {{"n", 3}, {"m", 4}});
  ASSERT_TRUE(sized.ok()) << sized.error().to_string();
  EXPECT_FALSE(sized->open);
  EXPECT_EQ(to_string(sized->graph->value(sum).type), "f32[3, 4]");
  EXPECT_EQ(to_string(graph->value(sum).type), "f32[n, m]") << "the drawn graph stays";
  EXPECT_TRUE(verify(*sized->graph).empty());
}

TEST(Sizes, OfWhichNoneAreOpenTheGraphIsTheSame) {
  Maker make;
  const ValueId x = make.input("x", "f32", "2, 3");
  make.input("unused", "f32", "n");
  const auto graph = make.done({make.op("scale", "twice", {x}, {{"factor", 2.0}})});
  const auto sized = with_sizes(graph, {});
  ASSERT_TRUE(sized.ok());
  EXPECT_FALSE(sized->open) << "no output depends on n";
  EXPECT_EQ(sized->graph, graph);
}

TEST(Sizes, OfAModelsStepAreNotOpen) {
  Maker make;
  const ValueId patch = make.input("patch", "f32", "tokens, 64");
  const auto sized = with_sizes(make.done({patch}), {});
  ASSERT_TRUE(sized.ok());
  EXPECT_FALSE(sized->open);
}

}  // namespace
}  // namespace orrery::own
