// Values that follow from their place: ranges, bands of matrices, random numbers and masks.
#include <cmath>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;
using Places = TensorTest;
const std::string kI32 = "i32", kF16 = "f16";

TEST_F(Places, Ranges) {
  EXPECT_EQ(made("range", {}, {{"stop", 5.0}}), "f32[5]");
  expect_near(bench.run("range", {}, {{"stop", 5.0}})[0], Numbers{0, 1, 2, 3, 4}, 0);
  expect_near(bench.run("range", {}, {{"start", 1.0}, {"stop", -1.0}, {"step", -0.75}})[0],
              Numbers{1, 0.25, -0.5}, 0);
  const Attributes down{{"start", 3.0}, {"stop", -3.0}, {"step", -2.0}, {"dtype", kI32}};
  EXPECT_EQ(made("range", {}, down), "i32[3]");
  expect_near(bench.run("range", {}, down)[0], Numbers{3, 1, -1}, 0);
  expect_cost(10, 20, "range", {}, {{"stop", 5.0}});
  EXPECT_THAT(made("range", {}, {{"stop", -1.0}}), HasSubstr("there are no numbers"));
  EXPECT_THAT(made("range", {}, {{"stop", 1.0}, {"step", 0.0}}), HasSubstr("there are no numbers"));
  EXPECT_THAT(made("range", {}, {{"stop", 3.0}, {"step", 0.5}, {"dtype", kI32}}),
              HasSubstr("is 0.5, which is no i64"));
  EXPECT_THAT(made("range", {}, {{"stop", 300.0}, {"dtype", std::string("u8")}}),
              HasSubstr("299, which is no u8"));
  EXPECT_THAT(made("range", {}, {{"stop", 3.0}, {"dtype", std::string("bool")}}),
              HasSubstr("dtype is \"bool\""));
}

TEST_F(Places, BandsOfMatrices) {
  const ValueId x = tensor(DType::i32, {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto band = [&](int64_t lower, int64_t upper, bool exclude) {
    return bench.run("band_part", {x}, {{"num_lower", lower}, {"num_upper", upper}, {"exclude", exclude}})[0];
  };
  expect_near(band(-1, 0, false), Numbers{1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0}, 0);
  expect_near(band(0, 1, false), Numbers{1, 2, 0, 0, 5, 6, 7, 8, 0, 0, 11, 12}, 0);
  expect_near(band(0, 0, true), Numbers{0, 2, 3, 4, 0, 6, 0, 8, 9, 10, 0, 12}, 0);
  expect_near(band(-1, -1, false), Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 0);
  EXPECT_THAT(made("band_part", {tensor(DType::i32, {2}, {1, 2})}), HasSubstr("it must be a matrix"));
  EXPECT_THAT(made("band_part", {x}, {{"num_lower", int64_t{-2}}}), HasSubstr("num_lower is -2"));
}

TEST_F(Places, RandomNumbersAreTheirSeedsAndShapes) {
  const std::vector<int64_t> shape{20, 50};
  const auto drawn = [&](const char* op, int64_t seed, const std::vector<int64_t>& sizes) {
    return bench.run(op, {}, {{"shape", sizes}, {"seed", seed}})[0];
  };
  for (const char* op : {"random_uniform", "random_gaussian"}) {
    EXPECT_EQ(made(op, {}, {{"shape", shape}, {"dtype", kF16}}), "f16[20, 50]");
    const Floats first = drawn(op, 1, shape);
    EXPECT_EQ(drawn(op, 1, {1000}), first) << "the place of an element is counted through all dims";
    EXPECT_NE(drawn(op, 2, shape), first);
    EXPECT_THAT(made(op, {}, {{"shape", shape}, {"dtype", kI32}}),
                HasSubstr("random numbers are f32, f16 or bf16"));
    EXPECT_THAT(made(op, {}, {{"shape", std::vector<int64_t>{0}}}), HasSubstr("sizes begin at 1"));
  }
  const Floats uniform = bench.run("random_uniform", {}, {{"shape", shape}, {"low", 2.0}, {"high", 3.0}})[0];
  for (const float x : uniform) {
    EXPECT_GE(x, 2);
    EXPECT_LE(x, 3);
  }
  const Floats gaussian =
      bench.run("random_gaussian", {}, {{"shape", shape}, {"mean", 5.0}, {"std", 0.5}})[0];
  double sum = 0;
  for (const float x : gaussian) sum += x;
  EXPECT_NEAR(sum / 1000, 5, 0.1);
  EXPECT_THAT(made("random_uniform", {}, {{"shape", shape}, {"low", 2.0}}),
              HasSubstr("low is 2, but high is 1"));
  EXPECT_THAT(made("random_gaussian", {}, {{"shape", shape}, {"std", -1.0}}), HasSubstr("std is -1"));
}

TEST_F(Places, DropoutHasTheMaskOfTheNorm) {
  const Floats ones(3 * 2 * 10, 1.0F);
  const ValueId x = tensor(DType::bf16, {kTokens, 2, 10}, ones);
  const Attributes half{{"p", 0.5}, {"seed", int64_t{9}}};
  EXPECT_EQ(made("dropout", {x}, half), "bf16[tokens, 2, 10]");
  const Floats dropped = bench.run("dropout", {x}, half)[0];
  const ValueId weight = bench.vector("weight", Floats(10, 1.0F));
  expect_near(bench.run("dropout_add_layer_norm", {x, {}, weight}, half)[1],
              Numbers(dropped.begin(), dropped.end()), 0);
  const auto zeros = std::count(dropped.begin(), dropped.end(), 0.0F),
             twos = std::count(dropped.begin(), dropped.end(), 2.0F);
  EXPECT_EQ(zeros + twos, 60);
  EXPECT_GT(zeros, 15);
  EXPECT_GT(twos, 15);
  expect_near(bench.run("dropout", {x})[0], Numbers(ones.begin(), ones.end()), 0);
  expect_cost(60, 240, "dropout", {x}, half);
  EXPECT_THAT(made("dropout", {x}, {{"p", 1.0}}), HasSubstr("p is 1; it must be at least 0 and less than 1"));
}

}  // namespace
}  // namespace orrery::ops::test
