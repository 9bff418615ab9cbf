// Samples of boxes: numbers worked out by hand, what they cost and what is refused. Three tokens.
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Boxes : TensorTest {};

const Attributes kTwoByTwo = {{"output_height", int64_t{2}}, {"output_width", int64_t{2}}};

Attributes with(Attributes attributes, const std::string& name, graph::Attribute value) {
  attributes[name] = std::move(value);
  return attributes;
}

TEST_F(Boxes, AreSampledAsTheHeaderOfTheKernelSays) {
  Floats slope(2 * 64);  // of the second image 100 more
  for (size_t i = 0; i < slope.size(); ++i)
    slope[i] = static_cast<float>(i / 64 * 100 + i % 64 / 8 * 10 + i % 8);
  const ValueId src = tensor(DType::f32, {2, 1, 8, 8}, slope),
                boxes = tensor(DType::f32, {2, 5}, {0, 1, 2, 5, 6, 1, 2, 4, 10, 12});
  EXPECT_THAT(bench.run("roi_align", {src, boxes}, kTwoByTwo)[0],
              ElementsAre(32, 34, 52, 54, 162.75F, 82.75F, 0, 0));
  EXPECT_THAT(bench.run("roi_align", {src, boxes}, with(kTwoByTwo, "spatial_scale", 0.5))[0],
              ElementsAre(16.0F, 17.0F, 26.0F, 27.0F, 132, 134, 152, 154));
  EXPECT_THAT(bench.run("roi_align", {src, tensor(DType::f32, {1, 5}, {0, 1, 2, 5, 6})},
                        with(with(kTwoByTwo, "mode", std::string("max")), "sampling_ratio", int64_t{2}))[0],
              ElementsAre(37.5F, 39.5F, 57.5F, 59.5F));
}

TEST_F(Boxes, WhatDoesNotFitIsRefused) {
  const ValueId src = tensor(DType::f16, {2, 3, 8, 9}, noise(432, 1)),
                boxes = tensor(DType::f32, {kTokens, 5}, noise(15, 2));
  EXPECT_EQ(made("roi_align", {src, boxes}, kTwoByTwo), "f16[tokens, 3, 2, 2]");
  EXPECT_THAT(made("roi_align", {src, tensor(DType::f32, {4, 4}, noise(16, 2))}, kTwoByTwo),
              HasSubstr("boxes is f32[4, 4], but src is f16[2, 3, 8, 9]; boxes must be f32[n, 5]"));
  EXPECT_THAT(made("roi_align", {src, boxes}, with(kTwoByTwo, "output_height", int64_t{0})),
              HasSubstr("output_height"));
  EXPECT_THAT(made("roi_align", {src, boxes}, with(kTwoByTwo, "sampling_ratio", int64_t{-1})),
              HasSubstr("sampling_ratio is -1"));
  EXPECT_THAT(made("roi_align", {src, boxes}, with(kTwoByTwo, "spatial_scale", 0.0)),
              HasSubstr("spatial_scale is 0"));
  EXPECT_THAT(made("roi_align", {src, boxes}, with(kTwoByTwo, "mode", std::string("mean"))),
              HasSubstr("mode"));
  EXPECT_THAT(made("roi_align", {boxes, boxes}, kTwoByTwo),
              HasSubstr("roi_align takes [n, channels, height, width]"));
}

TEST_F(Boxes, GradientsGoWhereSamplesCameFrom) {
  const ValueId src = tensor(DType::f32, {2, 1, 3, 4}, noise(24, 1)),
                boxes = tensor(DType::f32, {1, 5}, {1, 1, 0.5F, 3, 1.5F}),
                grad = tensor(DType::f32, {1, 1, 1, 1}, {8});
  const Attributes one = {{"output_height", int64_t{1}}, {"output_width", int64_t{1}}};
  Floats expected(24);
  expected[12 + 5] = expected[12 + 7] = 2;  // of samples at row 1 and columns 3/2 and 5/2
  expected[12 + 6] = 4;
  EXPECT_EQ(bench.run("roi_align_backward", {grad, src, boxes}, one)[0], expected);
  EXPECT_EQ(made("roi_align_backward", {grad, src, boxes}, one), "f32[2, 1, 3, 4]");
  EXPECT_THAT(
      made("roi_align_backward", {grad, src, boxes}, kTwoByTwo),
      HasSubstr("grad_dst is f32[1, 1, 1, 1], but the samples of src f32[2, 1, 3, 4] are f32[1, 1, 2, 2]"));
  expect_cost(8 * 9, 4 * (24 + 1 + 5), "roi_align_backward", {grad, src, boxes},
              with(one, "sampling_ratio", int64_t{3}));
  expect_cost(8 * 10, 4 * (2 * 24 + 1 + 5), "roi_align_backward", {grad, src, boxes},
              with(with(one, "sampling_ratio", int64_t{3}), "mode", std::string("max")));
}

TEST_F(Boxes, CostFourMultiplyAddsASample) {
  const ValueId src = tensor(DType::f16, {2, 3, 8, 9}, noise(432, 1)),
                boxes = tensor(DType::f32, {kTokens, 5}, noise(15, 2));
  // 3 x 3 x 2 x 2 cells of 3 x 3 samples
  expect_cost(8 * 9 * 36, 2 * 432 + 4 * 15 + 2 * 36, "roi_align", {src, boxes},
              with(kTwoByTwo, "sampling_ratio", int64_t{3}));
}

}  // namespace
}  // namespace orrery::ops::test
