// Pools over windows against plain loops: what they compute, what they cost and what is refused. Three
// tokens.
#include <limits>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

struct Pools : TensorTest {};

TEST_F(Pools, AgreeWithPlainLoops) {
  const Floats src = noise(3 * 2 * 7 * 6, 1);
  const ValueId x = tensor(DType::f32, {kTokens, 2, 7, 6}, src);
  // Windows of 3 x 2 taps, 2 and 1 apart, in steps of 2 and 3, with 1 and 2 places around.
  std::vector<double> largest, mean, of_all;
  for (size_t plane = 0; plane < 6; ++plane)
    for (int y = 0; y < 3; ++y)
      for (int x0 = 0; x0 < 3; ++x0) {
        double most = -INFINITY, sum = 0, read = 0;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 2; ++j) {
            const int row = y * 2 - 1 + i * 2, col = x0 * 3 - 2 + j;
            if (row < 0 || row >= 7 || col < 0 || col >= 6) continue;
            const double value = src[(plane * 7 + static_cast<size_t>(row)) * 6 + static_cast<size_t>(col)];
            most = std::max(most, value);
            sum += value;
            ++read;
          }
        largest.push_back(most);
        mean.push_back(read == 0 ? NAN : sum / read);
        of_all.push_back(sum / 6);
      }
  const Attributes window = {
      {"kernel", Ints{3, 2}}, {"stride", Ints{2, 3}}, {"padding", Ints{1, 2}}, {"dilation", Ints{2, 1}}};
  Attributes read = window;
  read.emplace("count_include_pad", false);
  const Floats got = bench.run("max_pool2d", {x}, window)[0], means = bench.run("avg_pool2d", {x}, read)[0];
  ASSERT_EQ(got.size(), largest.size());
  ASSERT_EQ(means.size(), mean.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_FLOAT_EQ(got[i], static_cast<float>(largest[i])) << i;
    EXPECT_EQ(std::isnan(means[i]), std::isnan(mean[i])) << i;
    if (!std::isnan(mean[i])) {
      EXPECT_NEAR(means[i], mean[i], 1e-6) << i;
    }
  }
  expect_near(bench.run("avg_pool2d", {x}, window)[0], of_all);
}

TEST_F(Pools, TheGradientGoesToTheFirstOfTheLargest) {
  const ValueId x = tensor(DType::f32, {kTokens, 1, 4}, {1, 3, 3, 0, 5, 4, 6, 6, 2, 2, 2, 2}),
                grad = tensor(DType::f32, {kTokens, 1, 3}, {1, 2, 4, 8, 16, 32, 64, 128, 256});
  const Attributes window = {{"kernel", Ints{2}}};
  EXPECT_THAT(bench.run("max_pool_backward", {grad, x}, window)[0],
              ElementsAre(0, 3, 4, 0, 8, 0, 48, 0, 64, 128, 256, 0));
  EXPECT_EQ(made("max_pool_backward", {grad, x}, window), "f32[tokens, 1, 4]");
  EXPECT_THAT(
      made("max_pool_backward", {x, x}, window),
      HasSubstr("grad_dst is f32[tokens, 1, 4], but the pool of src f32[tokens, 1, 4] is f32[tokens, 1, 3]"));
  EXPECT_THAT(made("max_pool_backward", {x, tensor(DType::f32, {kTokens, 4}, noise(12, 1))}, window),
              HasSubstr("it must be [n, channels, spatial]"));
}

TEST_F(Pools, SizesAreRoundedDownOrUp) {
  const ValueId x = tensor(DType::f16, {kTokens, 2, 7, 8}, noise(336, 1));
  const auto with = [&](bool up, Attributes attributes) {
    attributes.emplace("ceil_mode", up);
    return made("max_pool2d", {x}, attributes);
  };
  EXPECT_EQ(with(false, {{"kernel", int64_t{3}}}), "f16[tokens, 2, 5, 6]") << "a stride of 1";
  EXPECT_EQ(with(false, {{"kernel", int64_t{2}}, {"stride", int64_t{2}}}), "f16[tokens, 2, 3, 4]");
  EXPECT_EQ(with(true, {{"kernel", int64_t{2}}, {"stride", int64_t{2}}}), "f16[tokens, 2, 4, 4]");
  EXPECT_EQ(with(true, {{"kernel", int64_t{1}}, {"stride", int64_t{2}}}), "f16[tokens, 2, 4, 4]")
      << "none begins right after src";
  // A last window that would begin in the padding after src is left out.
  EXPECT_EQ(with(true, {{"kernel", int64_t{2}}, {"stride", Ints{3, 3}}, {"padding", Ints{0, 2, 0, 1}}}),
            "f16[tokens, 2, 3, 3]");
  const ValueId line = tensor(DType::f32, {1, 1, 5}, {1, 2, 3, 4, 5});
  const Attributes halves = {{"kernel", int64_t{2}}, {"stride", int64_t{2}}, {"ceil_mode", true}};
  EXPECT_THAT(bench.run("max_pool1d", {line}, halves)[0], ElementsAre(2, 4, 5));
  EXPECT_THAT(bench.run("avg_pool1d", {line}, halves)[0], ElementsAre(1.5F, 3.5F, 5))
      << "what lies beyond the padding counts for nothing";
  EXPECT_EQ(made("avg_pool3d", {tensor(DType::f32, {2, 3, 4, 5, 6}, noise(720, 2))},
                 {{"kernel", Ints{4, 1, 2}}, {"stride", int64_t{2}}}),
            "f32[2, 3, 1, 3, 3]");
}

TEST_F(Pools, WhatDoesNotFitIsRefused) {
  const ValueId x = tensor(DType::f32, {kTokens, 4, 5, 6}, noise(360, 1));
  for (const std::string op : {"max_pool2d", "avg_pool2d"}) {
    EXPECT_THAT(made(op, {x}, {{"kernel", Ints{6, 2}}}),
                HasSubstr("src is f32[tokens, 4, 5, 6], but a window of kernel 6, 2 spans 6 of dim 2, which "
                          "has 5 and 0 around it, so dst would be empty"));
    EXPECT_THAT(made(op, {x}, {{"kernel", int64_t{0}}}), HasSubstr("kernel is 0, 0; it must be 1 or more"));
    EXPECT_THAT(made(op, {x}, {}), HasSubstr("needs the attribute kernel"));
    EXPECT_THAT(made(op, {x}, {{"kernel", int64_t{2}}, {"padding", int64_t{-1}}}),
                HasSubstr("padding is -1; it must be 0 or more"));
    EXPECT_THAT(made(op, {tensor(DType::i32, {2, 4, 5, 6}, Floats(240))}, {{"kernel", int64_t{2}}}),
                HasSubstr("it must be of f32, f16 or bf16: cast it"));
  }
  EXPECT_THAT(made("max_pool1d", {x}, {{"kernel", int64_t{2}}}),
              HasSubstr("src is f32[tokens, 4, 5, 6]; max_pool1d takes [n, channels, width]"));
}

TEST_F(Pools, CostAStepATap) {
  const ValueId x = tensor(DType::bf16, {kTokens, 4, 5, 6}, noise(360, 1));
  // 3 x 4 x 3 x 5 windows of 6 taps; 2 bytes each of 360 + 180 elements
  expect_cost(6 * 180, 2 * 540, "max_pool2d", {x}, {{"kernel", Ints{3, 2}}});
}

}  // namespace
}  // namespace orrery::ops::test
