// Resizes against numbers worked out by hand and plain loops: what they compute, what they cost and what is
// refused. Three tokens.
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

struct Resizes : TensorTest {};

TEST_F(Resizes, LinearMixesNeighboursInEachDim) {
  const Floats src = noise(3 * 2 * 4 * 5, 1);
  const ValueId x = tensor(DType::f32, {kTokens, 2, 4, 5}, src);
  std::vector<double> expected;
  for (size_t plane = 0; plane < 6; ++plane)
    for (int y = 0; y < 7; ++y)
      for (int x0 = 0; x0 < 3; ++x0) {
        const double row = (y + 0.5) * 4 / 7 - 0.5, col = (x0 + 0.5) * 5 / 3 - 0.5;
        const auto of = [&](double r, double c) {
          const auto i = static_cast<size_t>(std::clamp(r, 0.0, 3.0)),
                     j = static_cast<size_t>(std::clamp(c, 0.0, 4.0));
          return static_cast<double>(src[(plane * 4 + i) * 5 + j]);
        };
        const double low = std::floor(row), left = std::floor(col), down = row - low, right = col - left;
        expected.push_back((1 - down) * ((1 - right) * of(low, left) + right * of(low, left + 1)) +
                           down * ((1 - right) * of(low + 1, left) + right * of(low + 1, left + 1)));
      }
  const Attributes size = {{"size", Ints{7, 3}}};
  expect_near(bench.run("resize_linear", {x}, size)[0], expected);
  Attributes named = size;
  named.emplace("mode", std::string("linear"));
  expect_near(bench.run("resize", {x}, named)[0], expected);
  expect_near(bench.run("resize_linear", {x}, {{"size", Ints{2, 7, 3}}})[0], expected);
}

TEST_F(Resizes, TheGradientGoesToTheTaps) {
  const ValueId grad = tensor(DType::f32, {kTokens, 4}, {1, 2, 4, 8, 1, 0, 0, 0, 0, 0, 0, 1});
  const Attributes back = {{"size", Ints{2}}, {"mode", std::string("linear")}};
  EXPECT_EQ(made("resize_backward", {grad}, back), "f32[tokens, 2]");
  // Places of the resize lie at -1/4, 1/4, 3/4 and 5/4.
  EXPECT_THAT(bench.run("resize_backward", {grad}, back)[0],
              ElementsAre(1 + 0.75F * 2 + 0.25F * 4, 0.25F * 2 + 0.75F * 4 + 8, 1, 0, 0, 1));
  EXPECT_THAT(made("resize_backward", {grad}, {{"size", Ints{0}}}),
              HasSubstr("size has 0; each must be 1 or more"));
  EXPECT_THAT(made("resize_backward", {grad}, {{"size", Ints{2, 3}}}),
              HasSubstr("differs from step to step"));
  EXPECT_THAT(made("resize_backward", {grad}, {{"size", Ints{2, 3, 4}}}), HasSubstr("size has 3 numbers"));
}

TEST_F(Resizes, CoordinatesAndRoundings) {
  const ValueId line = tensor(DType::f32, {4}, {0, 10, 20, 40});
  const auto of = [&](const char* op, int64_t size, const char* coordinates, const char* rounding = nullptr) {
    Attributes attributes = {{"size", size}, {"coordinates", std::string(coordinates)}};
    if (rounding) attributes.emplace("rounding", std::string(rounding));
    return bench.run(op, {line}, attributes)[0];
  };
  EXPECT_THAT(of("resize_linear", 7, "align_corners"), ElementsAre(0, 5, 10, 15, 20, 30, 40));
  EXPECT_THAT(of("resize_linear", 1, "half_pixel"), ElementsAre(15));
  EXPECT_THAT(of("resize_linear", 1, "half_pixel_1d"), ElementsAre(0));
  EXPECT_THAT(of("resize_nearest", 8, "asymmetric", "floor"), ElementsAre(0, 0, 10, 10, 20, 20, 40, 40));
  EXPECT_THAT(of("resize_nearest", 2, "half_pixel"), ElementsAre(0, 20));
  EXPECT_THAT(of("resize_nearest", 2, "half_pixel", "half_up"), ElementsAre(10, 40));
  EXPECT_THAT(of("resize_bicubic", 2, "half_pixel"), ElementsAre(4.0625F, 30.9375F));
  EXPECT_THAT(bench.run("resize_bicubic", {line}, {{"size", int64_t{2}}, {"coefficient", -0.5}})[0],
              ElementsAre(4.375F, 30.625F));
}

TEST_F(Resizes, WhatDoesNotFitIsRefused) {
  const ValueId x = tensor(DType::f32, {kTokens, 4, 5, 6}, noise(360, 1));
  EXPECT_EQ(made("resize_nearest", {x}, {{"size", int64_t{3}}}), "f32[tokens, 4, 5, 3]");
  EXPECT_EQ(made("resize_nearest", {x}, {{"size", Ints{4, 9, 3}}}), "f32[tokens, 4, 9, 3]");
  EXPECT_THAT(made("resize_nearest", {x}, {{"size", Ints{1, 2, 3, 4, 5}}}),
              HasSubstr("size has 5 numbers, but src is f32[tokens, 4, 5, 6]"));
  EXPECT_THAT(made("resize_linear", {x}, {{"size", Ints{0, 4}}}),
              HasSubstr("size is 0, 4; each must be 1 or more"));
  EXPECT_THAT(
      made("resize_linear", {tensor(DType::f32, {2, kTokens, 6}, noise(36, 1))}, {{"size", Ints{5, 4}}}),
      HasSubstr("dim 1 of src f32[2, tokens, 6] differs from step to step"));
  EXPECT_THAT(
      made("resize_linear", {tensor(DType::f32, {2, 4, 5, 6}, noise(240, 1))}, {{"size", Ints{3, 4, 5, 4}}}),
      HasSubstr("kernels resize the last 3"));
  EXPECT_THAT(made("resize_bicubic", {x}, {{"size", int64_t{3}}, {"coordinates", std::string("corners")}}),
              HasSubstr("coordinates"));
  EXPECT_THAT(made("resize", {x}, {{"size", int64_t{3}}, {"mode", std::string("cubic")}}), HasSubstr("mode"));
  EXPECT_THAT(made("resize_linear", {tensor(DType::i32, {4}, {1, 2, 3, 4})}, {{"size", int64_t{3}}}),
              HasSubstr("it must be of f32, f16 or bf16: cast it"));
}

TEST_F(Resizes, CostAMultiplyAddATap) {
  const ValueId x = tensor(DType::bf16, {kTokens, 4, 5, 6}, noise(360, 1));
  // 3 x 4 x 7 x 8 elements of 2 x 2 taps; 2 bytes each of 360 + 672 elements
  expect_cost(2 * 4 * 672, 2 * (360 + 672), "resize_linear", {x}, {{"size", Ints{7, 8}}});
  expect_cost(2 * 4 * 480, 2 * (360 + 480), "resize_bicubic", {x}, {{"size", Ints{5, 8}}});
}

}  // namespace
}  // namespace orrery::ops::test
