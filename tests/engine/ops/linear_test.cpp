#include <functional>

#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

constexpr size_t kTokenCount = 3, kCols = 64;

std::vector<double> matrix_product(const Floats& src, const Floats& weight, const Floats& bias) {
  const size_t rows = weight.size() / kCols;
  std::vector<double> dst;
  for (size_t t = 0; t < src.size() / kCols; ++t)
    for (size_t r = 0; r < rows; ++r) {
      double sum = bias.empty() ? 0.0 : bias[r];
      for (size_t i = 0; i < kCols; ++i) sum += double(src[t * kCols + i]) * weight[r * kCols + i];
      dst.push_back(sum);
    }
  return dst;
}

double silu(double x) { return x / (1 + std::exp(-x)); }

TEST(Linear, StoredTypesAndBiases) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1})
    for (const bool biased : {false, true}) {
      SCOPED_TRACE(name_of(dtype));
      Bench bench(kTokenCount);
      const Floats src = noise(kTokenCount * kCols, 1), bias = noise(24, 3);
      const ValueId weight = bench.weight("w", dtype, {24, kCols}, noise(24 * kCols, 2));
      const ValueId added = biased ? bench.weight("b", DType::f32, {24}, bias) : ValueId{};
      const auto out = bench.run("linear", {bench.rows("x", kTokens, src), weight, added});
      expect_near(out.at(0), matrix_product(src, bench.weight_values(weight), biased ? bias : Floats{}),
                  2e-5);
    }
}

TEST(Linear, Epilogues) {
  const std::pair<const char*, std::function<double(double)>> cases[] = {
      {"silu", silu},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"gelu_erf", [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }}};
  for (const auto& [name, function] : cases) {
    SCOPED_TRACE(name);
    Bench bench(kTokenCount);
    const Floats src = noise(kTokenCount * kCols, 1), weight = noise(16 * kCols, 2);
    auto expected = matrix_product(src, weight, {});
    for (double& x : expected) x = function(x);
    const auto out = bench.run(
        "linear", {bench.rows("x", kTokens, src), bench.weight("w", DType::f32, {16, kCols}, weight)},
        {{"epilogue", std::string(name)}});
    expect_near(out.at(0), expected, 2e-5);
  }
}

/// The op of an activation of kernels/activations.inc.
std::pair<std::string, Attributes> op_of(std::string_view activation) {
  if (!activation.starts_with("gelu_")) return {std::string(activation), {}};
  return {"gelu", {{"approximation", std::string(activation == "gelu_tanh" ? "tanh" : "none")}}};
}

TEST(Linear, EveryActivationIsAnOpAnEpilogueAndAGate) {
  for (const kernels::ActivationInfo& info : kernels::kActivations) {
    if (info.activation == kernels::Activation::none) continue;
    SCOPED_TRACE(info.name);
    Bench bench(kTokenCount);
    const ValueId src = bench.rows("x", kTokens, noise(kTokenCount * kCols, 1));
    const ValueId gate = bench.weight("g", DType::f32, {16, kCols}, noise(16 * kCols, 2));
    const ValueId up = bench.weight("u", DType::f32, {16, kCols}, noise(16 * kCols, 3));
    const Floats plain = bench.run("linear", {src, gate}).at(0), ups = bench.run("linear", {src, up}).at(0);
    const auto [op, attributes] = op_of(info.name);
    const Floats activated = bench.run(op, {bench.rows("plain", kTokens, plain)}, attributes).at(0);
    const std::vector<double> expected(activated.begin(), activated.end());
    expect_near(bench.run("linear", {src, gate}, {{"epilogue", std::string(info.name)}}).at(0), expected);
    std::vector<double> gated;
    for (size_t i = 0; i < expected.size(); ++i) gated.push_back(expected[i] * ups[i]);
    const std::string epilogue = std::string(info.name) + "_mul";
    const auto out =
        bench.run("fused_linear", {src, gate, up}, {{"segments", int64_t{2}}, {"epilogue", epilogue}});
    expect_near(out.at(0), gated);
  }
}

TEST(Linear, RowsBehindSelectRowsAreOutputs) {
  Bench bench(8, 1, 2);
  const Floats src = noise(2 * kCols, 1), weight = noise(16 * kCols, 2);
  const auto out = bench.run(
      "linear", {bench.rows("x", kOutputs, src), bench.weight("w", DType::f32, {16, kCols}, weight)});
  expect_near(out.at(0), matrix_product(src, weight, {}), 2e-5);
}

TEST(FusedLinear, SegmentsOfDifferentTypesAndBiases) {
  Bench bench(kTokenCount);
  const Floats src = noise(kTokenCount * kCols, 1), bias = noise(8, 5);
  const ValueId q = bench.weight("q", DType::q4_1, {24, kCols}, noise(24 * kCols, 2));
  const ValueId k = bench.weight("k", DType::q8_0, {16, kCols}, noise(16 * kCols, 3));
  const ValueId v = bench.weight("v", DType::f32, {8, kCols}, noise(8 * kCols, 4));
  const ValueId v_bias = bench.weight("vb", DType::f32, {8}, bias);
  const auto out = bench.run("fused_linear", {bench.rows("x", kTokens, src), q, k, v, v_bias},
                             {{"segments", int64_t{3}}, {"has_bias", std::vector<int64_t>{0, 0, 1}}});
  ASSERT_EQ(out.size(), 3u);
  expect_near(out[0], matrix_product(src, bench.weight_values(q), {}), 2e-5);
  expect_near(out[1], matrix_product(src, bench.weight_values(k), {}), 2e-5);
  expect_near(out[2], matrix_product(src, bench.weight_values(v), bias), 2e-5);
}

TEST(FusedLinear, AGatedPairGivesOneOutput) {
  Bench bench(kTokenCount);
  const Floats src = noise(kTokenCount * kCols, 1), gate = noise(16 * kCols, 2), up = noise(16 * kCols, 3);
  const auto out = bench.run("fused_linear",
                             {bench.rows("x", kTokens, src), bench.weight("g", DType::f32, {16, kCols}, gate),
                              bench.weight("u", DType::f32, {16, kCols}, up)},
                             {{"segments", int64_t{2}}, {"epilogue", std::string("silu_mul")}});
  ASSERT_EQ(out.size(), 1u);
  const auto gates = matrix_product(src, gate, {}), ups = matrix_product(src, up, {});
  std::vector<double> expected;
  for (size_t i = 0; i < gates.size(); ++i) expected.push_back(silu(gates[i]) * ups[i]);
  expect_near(out[0], expected, 5e-5);
}

}  // namespace
}  // namespace orrery::ops::test
