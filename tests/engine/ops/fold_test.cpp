// Sums of windows against numbers worked out by hand, what they cost and what is refused. Three tokens.
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

struct Folds : TensorTest {};

TEST_F(Folds, AddWindowsWhereTheyOverlap) {
  // Four windows of two by two of an image of three by three, all ones.
  const Attributes window = {{"output_size", int64_t{3}}, {"kernel", int64_t{2}}};
  const ValueId ones = tensor(DType::f32, {1, 4, 4}, Floats(16, 1.0F));
  EXPECT_THAT(bench.run("fold", {ones}, window)[0], ElementsAre(1, 2, 1, 2, 4, 2, 1, 2, 1));
  // Without overlap, windows are put side by side; two channels.
  const ValueId tiles = tensor(DType::f32, {1, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(bench.run("fold", {tiles},
                        {{"output_size", Ints{1, 4}}, {"kernel", Ints{1, 2}}, {"stride", Ints{1, 2}}})[0],
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_EQ(made("fold", {tensor(DType::f16, {kTokens, 18, 12}, Floats(648))},
                 {{"output_size", Ints{3, 4}}, {"kernel", int64_t{3}}, {"padding", int64_t{1}}}),
            "f16[tokens, 2, 3, 4]");
}

TEST_F(Folds, WhatDoesNotFitIsRefused) {
  const ValueId src = tensor(DType::f32, {kTokens, 8, 4}, noise(96, 1));
  EXPECT_THAT(
      made("fold", {src}, {{"output_size", int64_t{4}}, {"kernel", int64_t{2}}}),
      HasSubstr("src is f32[tokens, 8, 4], but an image of 4 x 4 has 9 windows of 4 taps; src must be "
                "[n, multiple of 4, 9]"));
  EXPECT_THAT(made("fold", {src}, {{"output_size", int64_t{2}}, {"kernel", int64_t{3}}}),
              HasSubstr("0 windows"));
  EXPECT_THAT(made("fold", {src}, {{"kernel", int64_t{2}}}), HasSubstr("output_size"));
  EXPECT_THAT(made("fold", {tensor(DType::f32, {8, 4}, noise(32, 1))},
                   {{"output_size", int64_t{3}}, {"kernel", int64_t{2}}}),
              HasSubstr("src is f32[8, 4]; fold takes [n, channels * taps, windows]"));
}

TEST_F(Folds, CostAnAdditionAnElement) {
  const ValueId src = tensor(DType::bf16, {kTokens, 8, 4}, noise(96, 1));
  expect_cost(96, 2 * (96 + 54), "fold", {src}, {{"output_size", int64_t{3}}, {"kernel", int64_t{2}}});
}

}  // namespace
}  // namespace orrery::ops::test
