// Non-maximum suppression: numbers worked out by hand, what it costs and what is refused. Three tokens.
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Suppressed : TensorTest {
  std::string types_of(std::vector<ValueId> inputs, Attributes attributes) {
    const auto node = bench.add("non_maximum_suppression", std::move(inputs), std::move(attributes));
    if (!node.ok()) return node.error().to_string();
    const auto& outputs = bench.graph().node(*node).outputs;
    return graph::to_string(type(outputs[0])) + ", " + graph::to_string(type(outputs[1]));
  }
};

const Attributes kThree = {{"max_output_boxes_per_class", int64_t{3}}};

TEST_F(Suppressed, EachClassByItself) {
  const ValueId boxes = tensor(DType::f32, {1, 4, 4}, {0, 0, 2, 2, 0, 0, 2, 2, 1, 0, 3, 2, 4, 4, 5, 5}),
                scores = tensor(DType::f32, {1, 2, 4}, {0.5F, 0.9F, 0.8F, 0.25F, 0.7F, 0, 0.6F, -1});
  const auto halves = bench.run("non_maximum_suppression", {boxes, scores}, kThree);
  EXPECT_THAT(halves[0], ElementsAre(1, 2, 3, 0, 2, -1));
  EXPECT_THAT(halves[1], ElementsAre(3, 2));
  Attributes strict = kThree;
  strict["iou_threshold"] = 0.3;
  strict["score_threshold"] = 0.3;
  const auto few = bench.run("non_maximum_suppression", {boxes, scores}, strict);
  EXPECT_THAT(few[0], ElementsAre(1, -1, -1, 0, -1, -1));
  EXPECT_THAT(few[1], ElementsAre(1, 1));
}

TEST_F(Suppressed, WhatDoesNotFitIsRefused) {
  const ValueId boxes = tensor(DType::f32, {2, kTokens, 4}, noise(24, 1)),
                scores = tensor(DType::f32, {2, 5, kTokens}, noise(30, 2));
  EXPECT_EQ(types_of({boxes, scores}, kThree), "i64[2, 5, 3], i64[2, 5]");
  EXPECT_THAT(types_of({boxes, tensor(DType::f32, {2, 5, 4}, noise(40, 2))}, kThree),
              HasSubstr("scores is f32[2, 5, 4], but boxes is f32[2, tokens, 4]; it must be "
                        "f32[2, classes, tokens]"));
  EXPECT_THAT(types_of({scores, scores}, kThree), HasSubstr("it must be f32[images, boxes, 4]"));
  EXPECT_THAT(types_of({boxes, scores}, {{"max_output_boxes_per_class", int64_t{0}}}),
              HasSubstr("max_output_boxes_per_class"));
}

TEST_F(Suppressed, CostAnOverlapOfEachPair) {
  const ValueId boxes = tensor(DType::f32, {2, kTokens, 4}, noise(24, 1)),
                scores = tensor(DType::f32, {2, 5, kTokens}, noise(30, 2));
  expect_cost(30 * 37, 4 * (24 + 30) + 8 * (30 + 10), "non_maximum_suppression", {boxes, scores}, kThree);
}

}  // namespace
}  // namespace orrery::ops::test
