#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

constexpr size_t kRows = 3, kCols = 40;

struct Parts {
  Floats weight, bias;
};

std::vector<double> rms(const Floats& src, const Floats& weight, double eps) {
  std::vector<double> dst(src.size());
  for (size_t row = 0; row < kRows; ++row) {
    double squares = 0;
    for (size_t i = 0; i < kCols; ++i) squares += double(src[row * kCols + i]) * src[row * kCols + i];
    const double factor = 1 / std::sqrt(squares / kCols + eps);
    for (size_t i = 0; i < kCols; ++i) dst[row * kCols + i] = src[row * kCols + i] * factor * weight[i];
  }
  return dst;
}

std::vector<double> layer(const Floats& src, const Parts& parts, double eps) {
  std::vector<double> dst(src.size());
  for (size_t row = 0; row < kRows; ++row) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < kCols; ++i) mean += src[row * kCols + i] / double(kCols);
    for (size_t i = 0; i < kCols; ++i) variance += std::pow(src[row * kCols + i] - mean, 2) / double(kCols);
    for (size_t i = 0; i < kCols; ++i)
      dst[row * kCols + i] = (src[row * kCols + i] - mean) / std::sqrt(variance + eps) * parts.weight[i] +
                             (parts.bias.empty() ? 0.0 : parts.bias[i]);
  }
  return dst;
}

TEST(Norms, RmsNorm) {
  Bench bench;
  const Floats src = noise(kRows * kCols, 1), weight = noise(kCols, 2);
  const auto out =
      bench.run("rms_norm", {bench.rows("x", kTokens, src), bench.weight("w", DType::f32, {kCols}, weight)},
                {{"eps", 0.25}});
  expect_near(out.at(0), rms(src, weight, 0.25));
}

TEST(Norms, WeightsOfHalfPrecisionAreReadAsFloat) {
  Bench bench;
  const Floats src = noise(kRows * kCols, 1);
  const ValueId weight = bench.weight("w", DType::bf16, {kCols}, noise(kCols, 2));
  const auto out = bench.run("rms_norm", {bench.rows("x", kTokens, src), weight}, {{"eps", 1e-5}});
  expect_near(out.at(0), rms(src, bench.weight_values(weight), 1e-5));
}

TEST(Norms, RowsOfAnyRankAndFloat) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    SCOPED_TRACE(name_of(dtype));
    const double step = dtype == DType::f32 ? 1e-5 : dtype == DType::f16 ? 2e-3 : 2e-2;
    Bench bench;
    int made = 0;
    const auto rounded = [&](const Floats& data) {
      const ValueId weight =
          bench.weight("r" + std::to_string(made++), dtype, {static_cast<int64_t>(data.size())}, data);
      return bench.weight_values(weight);
    };
    const Floats src = rounded(noise(kRows * kCols, 1)), weight = rounded(noise(kCols, 2)),
                 bias = rounded(noise(kCols, 3));
    const auto cols = static_cast<int64_t>(kCols);
    const ValueId x = bench.tensor("x", dtype, {1, kTokens, cols}, src),
                  w = bench.tensor("w", dtype, {cols}, weight),
                  stored = bench.weight("stored", dtype, {cols}, weight),
                  b = bench.tensor("b", dtype, {cols}, bias);
    for (const ValueId gamma : {w, stored}) {
      const auto out = bench.run("rms_norm", {x, gamma}, {{"eps", 0.25}});
      expect_near(out.at(0), rms(src, weight, 0.25), step);
      expect_near(bench.run("layer_norm", {x, gamma, b}, {{"eps", 0.25}})[0],
                  layer(src, {weight, bias}, 0.25), step);
      expect_near(bench.run("layer_norm", {x, gamma}, {{"eps", 0.25}})[0], layer(src, {weight, {}}, 0.25),
                  step);
    }
    EXPECT_EQ(graph::to_string(bench.graph().value(x).type), graph::to_string({dtype, {1, kTokens, cols}}));
  }
}

TEST(Norms, GroupsOfChannels) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Bench bench;
    const ValueId x = bench.tensor("x", dtype, {1, 4, 2}, {1, 3, 5, 7, -2, 2, -2, 2}),
                  weight = bench.tensor("w", dtype, {4}, {1, 2, 1, 0.5F}),
                  bias = bench.tensor("b", dtype, {4}, {0, 0, 1, 0});
    const double unit = 1 / std::sqrt(5.0), step = dtype == DType::f32 ? 1e-5 : 8e-3;
    const Attributes pairs{{"num_groups", int64_t{2}}, {"epsilon", 0.0}};
    expect_near(bench.run("group_norm", {x, weight, bias}, pairs)[0],
                {-3 * unit, -unit, 2 * unit, 6 * unit, 0, 2, -0.5, 0.5}, step);
    expect_near(bench.run("group_norm", {x, {}, {}}, pairs)[0],
                {-3 * unit, -unit, unit, 3 * unit, -1, 1, -1, 1}, step);
    const auto refused = bench.add("group_norm", {x, {}, {}}, {{"num_groups", int64_t{3}}});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().to_string(), testing::HasSubstr("it must divide the 4 channels"));
  }
}

TEST(Norms, GroupsOfARowAreNormedApart) {
  // Two heads of 40 elements a row are six rows of 40: src is [3, 80].
  Bench bench;
  const Floats src = noise(kRows * 2 * kCols, 1), weight = noise(kCols, 2);
  const auto out =
      bench.run("rms_norm", {bench.rows("x", kTokens, src), bench.weight("w", DType::f32, {kCols}, weight)},
                {{"eps", 0.25}, {"groups", int64_t{2}}});
  std::vector<double> expected = rms({src.begin(), src.begin() + kRows * kCols}, weight, 0.25);
  const std::vector<double> rest = rms({src.begin() + kRows * kCols, src.end()}, weight, 0.25);
  expected.insert(expected.end(), rest.begin(), rest.end());
  expect_near(out.at(0), expected);
}

TEST(Norms, GroupsMustDivideARow) {
  Bench bench;
  const auto node = bench.add("rms_norm",
                              {bench.rows("x", kTokens, noise(kRows * kCols, 1)),
                               bench.weight("w", DType::f32, {kCols}, noise(kCols, 2))},
                              {{"eps", 0.25}, {"groups", int64_t{3}}});
  ASSERT_FALSE(node.ok());
  EXPECT_THAT(node.error().to_string(), testing::HasSubstr("groups is 3; it must divide the 40 elements"));
}

TEST(Norms, WeightsStoredAsTheirDifferenceFromOne) {
  Bench bench;
  const Floats src = noise(kRows * kCols, 1);
  const ValueId stored = bench.weight("w", DType::bf16, {kCols}, noise(kCols, 2));
  Floats weight = bench.weight_values(stored);
  for (float& value : weight) value += 1;
  const auto out =
      bench.run("rms_norm", {bench.rows("x", kTokens, src), stored}, {{"eps", 1e-5}, {"unit_offset", true}});
  expect_near(out.at(0), rms(src, weight, 1e-5));
}

TEST(Norms, LayerNormWithAndWithoutBias) {
  for (const bool biased : {true, false}) {
    Bench bench;
    const Floats src = noise(kRows * kCols, 3);
    const Parts parts{noise(kCols, 4), biased ? noise(kCols, 5) : Floats{}};
    const ValueId bias = biased ? bench.weight("b", DType::f32, {kCols}, parts.bias) : ValueId{};
    const auto out =
        bench.run("layer_norm",
                  {bench.rows("x", kTokens, src), bench.weight("w", DType::f32, {kCols}, parts.weight), bias},
                  {{"eps", 1e-3}});
    expect_near(out.at(0), layer(src, parts, 1e-3));
  }
}

TEST(Norms, FusedNormsAlsoGiveTheSum) {
  Bench bench;
  const Floats a = noise(kRows * kCols, 6), b = noise(kRows * kCols, 7);
  const Parts parts{noise(kCols, 8), noise(kCols, 9)};
  Floats sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  const ValueId src = bench.rows("a", kTokens, a), residual = bench.rows("b", kTokens, b);
  const ValueId weight = bench.weight("w", DType::f32, {kCols}, parts.weight);
  const ValueId bias = bench.weight("bias", DType::f32, {kCols}, parts.bias);
  const auto root = bench.run("add_rms_norm", {src, residual, weight}, {{"eps", 1e-5}});
  expect_near(root.at(0), std::vector<double>(sum.begin(), sum.end()));
  expect_near(root.at(1), rms(sum, parts.weight, 1e-5));
  const auto mean = bench.run("add_layer_norm", {src, residual, weight, bias}, {{"eps", 1e-5}});
  expect_near(mean.at(0), std::vector<double>(sum.begin(), sum.end()));
  expect_near(mean.at(1), layer(sum, parts, 1e-5));
}

TEST(Norms, ASumThatNobodyReadsIsNotWritten) {
  Bench bench;
  const Floats a = noise(kRows * kCols, 16), b = noise(kRows * kCols, 17);
  const Parts parts{noise(kCols, 8), {}};
  Floats sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  const ValueId src = bench.rows("a", kTokens, a), residual = bench.rows("b", kTokens, b);
  const auto node = bench.add(
      "add_rms_norm", {src, residual, bench.weight("w", DType::f32, {kCols}, parts.weight)}, {{"eps", 1e-5}});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  bench.edit().set_outputs({bench.graph().node(*node).outputs[1]});
  const auto out = bench.run(*node);
  EXPECT_NE(out.at(0), sum);
  expect_near(out.at(1), rms(sum, parts.weight, 1e-5));
}

}  // namespace
}  // namespace orrery::ops::test
