// The ops of a mixture of experts: which experts, what they make of a token, what that costs.
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

constexpr int64_t kExperts = 4, kActive = 2, kWidth = 8, kInner = 6;
constexpr size_t kTokens3 = 3;

/// The bench gives whole numbers as floats.
std::vector<int32_t> whole_numbers(const Floats& values) { return {values.begin(), values.end()}; }

struct Mixture {
  Bench bench{kTokens3};
  Floats src = noise(kTokens3 * kWidth, 1);
  ValueId down = bench.weight("down", DType::f32, {kExperts, kWidth, kInner}, noise(kExperts * 48, 2));
  ValueId gate = bench.weight("gate", DType::bf16, {kExperts, kInner, kWidth}, noise(kExperts * 48, 3));
  ValueId up = bench.weight("up", DType::f16, {kExperts, kInner, kWidth}, noise(kExperts * 48, 4));
  NodeId chosen;

  Mixture() {
    const auto node =
        bench.add("top_experts", {bench.rows("logits", kTokens, {0, 1, 2, 3, 3, 2, 1, 0, 0, 5, 5, 1})},
                  {{"active", kActive}});
    EXPECT_TRUE(node.ok()) << node.error().to_string();
    chosen = *node;
  }
  ValueId output(size_t i) const { return bench.graph().node(chosen).outputs[i]; }

  /// Row `row` of the expert's matrix times a vector.
  static double product(const Floats& matrices, size_t expert, size_t rows, size_t row,
                        const std::vector<double>& x) {
    double sum = 0;
    for (size_t c = 0; c < x.size(); ++c) sum += matrices[(expert * rows + row) * x.size() + c] * x[c];
    return sum;
  }

  std::vector<double> expected(const std::vector<int32_t>& experts, const Floats& weights) const {
    const Floats gates = bench.weight_values(gate), ups = bench.weight_values(up),
                 downs = bench.weight_values(down);
    std::vector<double> result(kTokens3 * kWidth);
    for (size_t pair = 0; pair < experts.size(); ++pair) {
      const size_t token = pair / kActive;
      const auto expert = static_cast<size_t>(experts[pair]);
      const std::vector<double> x(src.begin() + static_cast<std::ptrdiff_t>(token * kWidth),
                                  src.begin() + static_cast<std::ptrdiff_t>((token + 1) * kWidth));
      std::vector<double> inner;
      for (size_t r = 0; r < kInner; ++r) {
        const double g = product(gates, expert, kInner, r, x);
        inner.push_back(g / (1 + std::exp(-g)) * product(ups, expert, kInner, r, x));
      }
      for (size_t r = 0; r < kWidth; ++r)
        result[token * kWidth + r] += weights[pair] * product(downs, expert, kWidth, r, inner);
    }
    return result;
  }
};

TEST(Dequantise, GivesTheNumbersOfAStack) {
  Bench bench{kTokens3};
  const ValueId stack = bench.weight("stack", DType::q8_0, {3, 2, 32}, noise(192, 5));
  const auto node = bench.add("dequantise", {stack});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  EXPECT_EQ(to_string(bench.graph().value(bench.graph().node(*node).outputs[0]).type), "f32[3, 2, 32]");
  EXPECT_EQ(bench.run("dequantise", {stack})[0], bench.weight_values(stack));
}

TEST(TopExperts, GivesTheLikeliestAndTheirShares) {
  Mixture mixture;
  const auto out = mixture.bench.run(mixture.chosen);
  EXPECT_EQ(whole_numbers(out.at(0)), (std::vector<int32_t>{3, 2, 0, 1, 1, 2}));
  const double more = 1 / (1 + std::exp(-1.0));
  expect_near(out.at(1), {more, 1 - more, more, 1 - more, 0.5, 0.5});
}

TEST(ExpertMlp, MixesWhatTheChosenExpertsMake) {
  Mixture mixture;
  const auto chosen = mixture.bench.run(mixture.chosen);
  const auto out =
      mixture.bench.run("expert_mlp", {mixture.bench.rows("x", kTokens, mixture.src), mixture.output(0),
                                       mixture.output(1), mixture.down, mixture.gate, mixture.up});
  expect_near(out.at(0), mixture.expected(whole_numbers(chosen.at(0)), chosen.at(1)));
}

TEST(ExpertMlp, GateAndUpMayBeOneTensor) {
  Mixture mixture;
  mixture.bench.run(mixture.chosen);
  const ValueId src = mixture.bench.rows("x", kTokens, mixture.src);
  const Floats gate = noise(kExperts * 48, 5), up = noise(kExperts * 48, 6);
  Floats both;
  for (size_t expert = 0; expert < kExperts; ++expert)
    for (const Floats* half : {&gate, &up})
      both.insert(both.end(), half->begin() + static_cast<std::ptrdiff_t>(expert * 48),
                  half->begin() + static_cast<std::ptrdiff_t>(expert * 48 + 48));
  const auto apart = mixture.bench.run(
      "expert_mlp", {src, mixture.output(0), mixture.output(1), mixture.down,
                     mixture.bench.weight("g", DType::f32, {kExperts, kInner, kWidth}, gate),
                     mixture.bench.weight("u", DType::f32, {kExperts, kInner, kWidth}, up)});
  const auto fused = mixture.bench.run(
      "expert_mlp", {src, mixture.output(0), mixture.output(1), mixture.down,
                     mixture.bench.weight("gu", DType::f32, {kExperts, 2 * kInner, kWidth}, both)});
  EXPECT_EQ(fused, apart);
}

TEST(ExpertMlp, OnlyExpertsThatAreChosenCostBytes) {
  Bench bench(1);
  const ValueId logits = bench.rows("logits", kTokens, {0, 1, 2, 3});
  const auto chosen = bench.add("top_experts", {logits}, {{"active", kActive}});
  ASSERT_TRUE(chosen.ok());
  const std::vector<ValueId>& outputs = bench.graph().node(*chosen).outputs;
  const auto stack = [&](const char* name, int64_t rows, int64_t cols) {
    return bench.weight(name, DType::f32, {kExperts, rows, cols}, noise(kExperts * 48, 1));
  };
  const auto node = bench.add(
      "expert_mlp", {bench.rows("x", kTokens, noise(kWidth, 1)), outputs[0], outputs[1],
                     stack("d", kWidth, kInner), stack("g", kInner, kWidth), stack("u", kInner, kWidth)});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  const graph::Cost cost = bench.cost(*node);
  // 2 experts of 3 x 48 elements; src and dst of 8, experts and weights of 2 elements
  EXPECT_DOUBLE_EQ(cost.bytes, 2 * 3 * 48 * 4 + 2 * 32 + 2 * 8);
  EXPECT_DOUBLE_EQ(cost.flops, 2 * (6 * 48 + 5 * kInner + 2 * kWidth));
}

TEST(ExpertMlp, RefusesWhatDoesNotFit) {
  Mixture mixture;
  const ValueId src = mixture.bench.rows("x", kTokens, mixture.src);
  const auto refusal = [&](ValueId down, ValueId gate, ValueId up) {
    const auto node =
        mixture.bench.add("expert_mlp", {src, mixture.output(0), mixture.output(1), down, gate, up});
    return node.ok() ? "" : node.error().what;
  };
  EXPECT_EQ(refusal(mixture.down, mixture.gate, mixture.up), "");
  EXPECT_THAT(refusal(mixture.gate, mixture.gate, mixture.up), testing::HasSubstr("down is bf16[4, 6, 8]"));
  EXPECT_THAT(refusal(mixture.down, mixture.gate, {}), testing::HasSubstr("[4, 12, 8] is needed"));
  EXPECT_THAT(refusal(mixture.down, mixture.gate, mixture.down), testing::HasSubstr("up is f32[4, 8, 6]"));
  const auto many = mixture.bench.add("top_experts", {src}, {{"active", int64_t{9}}});
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().what, testing::HasSubstr("active is 9"));
}

}  // namespace
}  // namespace orrery::ops::test
