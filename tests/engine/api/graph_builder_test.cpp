// Graphs written as C++: what is built is what runs, and what was refused is said in the end.
#include "engine/api/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engine/graph/op_schema.h"

namespace orrery::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Array array_of(const std::vector<float>& values, std::vector<int64_t> shape) {
  Array array = make_array(DType::f32, std::move(shape)).value();
  std::memcpy(array.data.get(), values.data(), array.bytes);
  return array;
}

std::vector<float> floats(const Array& array) {
  std::vector<float> values(array.bytes / sizeof(float));
  std::memcpy(values.data(), array.data.get(), array.bytes);
  return values;
}

OpenOptions options() {
  OpenOptions options;
  options.threads = 1;
  return options;
}

/// What its outputs are for x = (1, 2, 3; 4, 5, 6).
std::vector<Array> run(const GraphBuilder& graph) {
  const auto session = graph.open(options());
  EXPECT_TRUE(session.ok()) << session.error().to_string();
  if (!session.ok()) return {};
  RunRequest request;
  request.inputs.emplace("x", array_of({1, 2, 3, 4, 5, 6}, {2, 3}));
  const auto ran = run_graph(**session, request, {});
  EXPECT_TRUE(ran.ok()) << ran.error().to_string();
  std::vector<Array> arrays;
  if (ran.ok())
    for (const RunValue& value : ran->outputs) arrays.push_back(value.array);
  return arrays;
}

TEST(GraphBuilder, AnExpressionRuns) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3});
  graph.output(sum(x * x - 1.0, {1}, false) / 2.0);
  graph.output(maximum(x, 10.0 - x));
  const auto arrays = run(graph);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_THAT(floats(arrays[0]), ElementsAre(5.5F, 37.0F));
  EXPECT_THAT(floats(arrays[1]), ElementsAre(9, 8, 7, 6, 5, 6));
  EXPECT_THAT(arrays[0].shape, ElementsAre(2));
}

TEST(GraphBuilder, SeveralValuesOfOneOp) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3});
  const std::vector<GraphValue> parts = split(x, {1, 2}, 1), chunks = chunk(x, 3, -1);
  ASSERT_EQ(parts.size(), 2U);
  ASSERT_EQ(chunks.size(), 3U);
  graph.output(parts[1]);
  graph.output(gelu(chunks[2], "quick"));
  graph.output(graph.apply("split", {x}, {{"sizes", std::vector<int64_t>{2, 1}}, {"axis", int64_t{1}}}));
  const auto arrays = run(graph);
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_THAT(floats(arrays[0]), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(floats(arrays[1]),
              ElementsAre(testing::FloatNear(2.9819F, 1e-3F), testing::FloatNear(5.9998F, 1e-3F)));
  EXPECT_THAT(floats(arrays[2]), ElementsAre(1, 2, 4, 5));
}

TEST(GraphBuilder, ConstantsAndShapes) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3});
  const GraphValue w = graph.constant(array_of({1, 0, 0, 1, 1, 1}, {3, 2}));
  graph.output(matmul(x, w));
  graph.output(concat({flatten(x), tile(graph.constant(array_of({7}, {1})), {2})}));
  graph.output(where(x > 2.5, x, -x));
  ASSERT_TRUE(x.type().has_value());
  EXPECT_EQ(graph::to_string(*stack({x, x}, 1).type()), "f32[n, 2, 3]");
  const auto arrays = run(graph);
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_THAT(floats(arrays[0]), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(floats(arrays[1]), ElementsAre(1, 2, 3, 4, 5, 6, 7, 7));
  EXPECT_THAT(floats(arrays[2]), ElementsAre(-1, -2, 3, 4, 5, 6));
}

TEST(GraphBuilder, TheFirstRefusalIsSaidInTheEnd) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3}), y = graph.input("y", DType::f32, {4});
  const GraphValue wrong = x + y;
  EXPECT_FALSE(wrong.type().has_value());
  graph.output(exp(wrong) * 2.0);
  const auto session = graph.open(options());
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().to_string(), HasSubstr("b is f32[4], but a is f32[n, 3]"));

  GraphBuilder unknown;
  unknown.apply("convolve_everything", {unknown.input("x", DType::f32, {1})});
  EXPECT_THAT(unknown.graph().error().to_string(), HasSubstr("There is no op convolve_everything"));

  GraphBuilder other;
  const GraphValue stranger = other.input("z", DType::f32, {3});
  GraphBuilder own;
  own.output(own.input("x", DType::f32, {3}) + stranger);
  EXPECT_THAT(own.graph().error().to_string(), HasSubstr("belongs to another graph"));
}

TEST(GraphBuilder, OtherNamesAndNamesOfNodes) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3});
  const GraphValue most = graph.apply("reduce_max", {x}, {{"axis", std::vector<int64_t>{1}}}, "most");
  graph.output(most);
  const auto built = graph.graph();
  ASSERT_TRUE(built.ok());
  EXPECT_TRUE((*built)->find_path("most").valid());
  EXPECT_THAT(floats(run(graph).at(0)), ElementsAre(3, 6));
}

TEST(GraphBuilder, DrawsGradients) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3});
  const GraphValue loss = sum(x * x * 0.5) + 1.0;
  const std::vector<GraphValue> by = graph.gradients(loss, {x});
  ASSERT_EQ(by.size(), 1U);
  graph.output(by[0] * 2.0);
  const std::vector<Array> outputs = run(graph);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_THAT(floats(outputs[0]), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST(GraphBuilder, SaysWhyThereIsNoGradient) {
  GraphBuilder graph;
  const GraphValue x = graph.input("x", DType::f32, {"n", 3});
  graph.output(graph.gradients(exp(x), {x})[0]);
  const auto made = graph.graph();
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().to_string(), HasSubstr("f32[n, 3], which is not one number"));
}

}  // namespace
}  // namespace orrery::api
