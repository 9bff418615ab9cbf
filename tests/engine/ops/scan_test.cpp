// causal_convolution and selective_scan: against plain loops, over pages of four tokens; what they refuse and
// cost.
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;

constexpr size_t kTokenCount = 7, kChannels = 5, kKernel = 3, kStates = 2;

TEST(CausalConvolution, SeesTheTokensBeforeAndNoneAfter) {
  Bench bench(kTokenCount);
  const Floats src = noise(kTokenCount * kChannels, 1), weight = noise(kChannels * kKernel, 2),
               bias = noise(kChannels, 3);
  std::vector<double> expected;
  for (size_t t = 0; t < kTokenCount; ++t)
    for (size_t c = 0; c < kChannels; ++c) {
      double sum = bias[c];
      for (size_t k = 0; k < kKernel; ++k)
        if (t + k + 1 >= kKernel)
          sum += double(weight[c * kKernel + k]) * src[(t + k + 1 - kKernel) * kChannels + c];
      expected.push_back(sum);
    }
  const ValueId x = bench.rows("x", kTokens, src), b = bench.weight("b", DType::f32, {kChannels}, bias);
  for (const ValueId w : {bench.weight("flat", DType::f32, {kChannels, kKernel}, weight),
                          bench.weight("deep", DType::f32, {kChannels, 1, kKernel}, weight)}) {
    const auto node = bench.add("causal_convolution", {bench.record({kKernel - 1, kChannels}), x, w, b});
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    EXPECT_EQ(bench.graph().value(bench.graph().node(*node).outputs[1]).kind, graph::ValueKind::state);
    expect_near(bench.run(*node).at(0), expected);
  }
}

TEST(SelectiveScan, FollowsTheRecurrence) {
  Bench bench(kTokenCount);
  const Floats src = noise(kTokenCount * kChannels, 1), delta = noise(kTokenCount * kChannels, 2);
  const Floats b = noise(kTokenCount * kStates, 3), c = noise(kTokenCount * kStates, 4);
  const Floats log_a = noise(kChannels * kStates, 5), d = noise(kChannels, 6);
  std::vector<double> expected, h(kChannels * kStates);
  Floats a;
  for (const float x : log_a) a.push_back(-std::exp(x));
  for (size_t t = 0; t < kTokenCount; ++t)
    for (size_t i = 0; i < kChannels; ++i) {
      const double x = src[t * kChannels + i], step = std::log1p(std::exp(double(delta[t * kChannels + i])));
      double sum = d[i] * x;
      for (size_t n = 0; n < kStates; ++n) {
        double& state = h[i * kStates + n];
        state = std::exp(step * a[i * kStates + n]) * state + step * b[t * kStates + n] * x;
        sum += c[t * kStates + n] * state;
      }
      expected.push_back(sum);
    }
  const std::vector<ValueId> rows = {bench.rows("x", kTokens, src), bench.rows("delta", kTokens, delta),
                                     bench.rows("b", kTokens, b), bench.rows("c", kTokens, c)};
  const ValueId skip = bench.weight("d", DType::f32, {kChannels}, d);
  for (const bool logarithm : {false, true}) {
    const ValueId decay =
        bench.weight(logarithm ? "log_a" : "a", DType::f32, {kChannels, kStates}, logarithm ? log_a : a);
    const auto out =
        bench.run("selective_scan",
                  {bench.record({kStates, kChannels}), rows[0], rows[1], rows[2], rows[3], decay, skip},
                  {{"log_a", logarithm}});
    expect_near(out.at(0), expected);
  }
}

struct Recurrences : testing::Test {
  Bench bench{3, 1, 2};
  ValueId x = bench.rows("x", kTokens, noise(3 * 64, 1)), y = bench.rows("y", kTokens, noise(3 * 4, 2));
  ValueId chosen = bench.rows("chosen", kOutputs, noise(2 * 64, 2));
  ValueId weight = bench.weight("w", DType::f32, {64, 4}, noise(64 * 4, 3));
  ValueId quantised = bench.weight("q", DType::q8_0, {64, 32}, noise(64 * 32, 3));
  ValueId vector = bench.weight("v", DType::f16, {64}, noise(64, 4));
  ValueId few = bench.weight("few", DType::f32, {32}, noise(32, 4));
  ValueId inputs = bench.record({3, 64}), states = bench.record({4, 64});

  std::string refused(const std::string& op, std::vector<ValueId> operands) {
    const auto node = bench.add(op, std::move(operands));
    return node.ok() ? "" : node.error().to_string();
  }
};

TEST_F(Recurrences, RefuseWhatDoesNotFit) {
  EXPECT_EQ(refused("causal_convolution", {inputs, x, weight}), "");
  EXPECT_EQ(refused("causal_convolution", {inputs, x, weight, vector}), "");
  EXPECT_THAT(refused("causal_convolution", {states, x, weight}),
              HasSubstr("record f32[4, 64] is of 4 tokens"));
  EXPECT_THAT(refused("causal_convolution", {bench.state(2, 32), x, weight}),
              HasSubstr("must keep a record f32[rows, channels]"));
  EXPECT_THAT(refused("causal_convolution", {inputs, chosen, weight}), HasSubstr("reads every token"));
  EXPECT_THAT(refused("causal_convolution", {inputs, y, weight}), HasSubstr("has 64 channels"));
  EXPECT_THAT(refused("causal_convolution", {inputs, x, quantised}), HasSubstr("weight is Q8_0[64, 32]"));
  EXPECT_THAT(refused("causal_convolution", {inputs, x, weight, few}), HasSubstr("bias is f32[32]"));
  EXPECT_EQ(refused("selective_scan", {states, x, x, y, y, weight, vector}), "");
  EXPECT_THAT(refused("selective_scan", {inputs, x, x, y, y, weight, vector}), HasSubstr("has 3 states"));
  EXPECT_THAT(refused("selective_scan", {states, x, y, y, y, weight, vector}), HasSubstr("delta is"));
  EXPECT_THAT(refused("selective_scan", {states, x, x, y, x, weight, vector}), HasSubstr("c is"));
  EXPECT_THAT(refused("selective_scan", {states, x, x, y, y, vector, vector}), HasSubstr("a is f16[64]"));
  EXPECT_THAT(refused("selective_scan", {states, x, x, y, y, weight, few}), HasSubstr("d is f32[32]"));
  EXPECT_THAT(refused("kv_append", {inputs, x, x}), HasSubstr("must keep keys and values"));
}

TEST_F(Recurrences, CostWhatTheyReadAndWrite) {
  const auto cost = [&](const std::string& op, std::vector<ValueId> operands, int64_t sequences) {
    const auto node = bench.add(op, std::move(operands));
    EXPECT_TRUE(node.ok()) << node.error().to_string();
    Bindings bindings{{kTokens, 3}, {kSequences, sequences}};
    return bench.graph().cost(*node, bindings);
  };
  const graph::Cost convolution = cost("causal_convolution", {inputs, x, weight, vector}, 1);
  EXPECT_EQ(convolution.flops, 3 * 64 * 8);
  EXPECT_EQ(convolution.bytes, 2 * 768 + 1024 + 128 + 2 * 768);
  EXPECT_EQ(cost("causal_convolution", {inputs, x, weight}, 2).bytes, 2 * 768 + 1024 + 4 * 768);
  const graph::Cost scan = cost("selective_scan", {states, x, x, y, y, weight, vector}, 1);
  EXPECT_EQ(scan.flops, 3 * 64 * (7 * 4 + 5));
  EXPECT_EQ(scan.bytes, 3 * 768 + 2 * 48 + 1024 + 128 + 2 * 1024);
}

}  // namespace
}  // namespace orrery::ops::test
