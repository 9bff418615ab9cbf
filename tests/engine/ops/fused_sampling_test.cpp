// Tokens drawn from tensors of logits: which, what they cost and what is refused. Three tokens.
#include <limits>
#include <map>

#include "kernels/philox.h"
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct SamplingOfTensors : testing::Test {
  Bench bench{3, 1, 2};

  ValueId tensor(DType dtype, Shape shape, const Floats& data) {
    return bench.tensor("t" + std::to_string(count++), dtype, std::move(shape), data);
  }
  ValueId logits(const Floats& data) { return tensor(DType::f32, {static_cast<int64_t>(data.size())}, data); }
  /// Of one row: with what is not connected left out.
  Floats draw(std::vector<ValueId> inputs, Attributes attributes) {
    inputs.resize(5);
    return bench.run("fused_sampling", inputs, std::move(attributes))[0];
  }
  /// The types of the outputs; the message of its refusal.
  std::string made(std::vector<ValueId> inputs, Attributes attributes = {}) {
    inputs.resize(5);
    const auto node = bench.add("fused_sampling", inputs, std::move(attributes));
    if (!node.ok()) return node.error().to_string();
    std::string types;
    for (const ValueId output : bench.graph().node(*node).outputs)
      types += (types.empty() ? "" : ", ") + graph::to_string(bench.graph().value(output).type);
    return types;
  }
  int count = 0;
};

/// The token of a softmax at the draw that seed and position name: the running sum in order of probability.
int64_t drawn_from(const Floats& row, int64_t seed, int64_t position) {
  std::vector<std::pair<float, int64_t>> order;
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    order.emplace_back(-row[i], static_cast<int64_t>(i));
    sum += std::exp(row[i]);
  }
  std::sort(order.begin(), order.end());
  const double wanted =
      sum * kernels::philox_uniform(static_cast<uint64_t>(seed), static_cast<uint64_t>(position));
  double reached = 0;
  for (const auto& [below, id] : order)
    if ((reached += std::exp(-below)) > wanted) return id;
  return order.back().second;
}

TEST_F(SamplingOfTensors, ARowDrawsByItsSeedAndPosition) {
  constexpr size_t kVocabulary = 50;
  Floats data = noise(6 * kVocabulary, 3);
  for (float& x : data) x *= 3;
  const ValueId x = tensor(DType::f32, {kTokens, 2, kVocabulary}, data);
  const Floats seed_numbers = {7, 7, 7, 8, 8, 9}, place_numbers = {0, 1, 2, 2, 70000, 5};
  const ValueId seeds = tensor(DType::i64, {kTokens, 2}, seed_numbers),
                positions = tensor(DType::i64, {kTokens, 2}, place_numbers);
  const Floats one_each = draw({x, {}, {}, seeds, positions}, {{"seed", int64_t{1}}}),
               alike = draw({x}, {{"seed", int64_t{4}}, {"position", int64_t{11}}});
  for (size_t row = 0; row < 6; ++row) {
    const Floats alone(data.begin() + static_cast<int64_t>(row * kVocabulary),
                       data.begin() + static_cast<int64_t>((row + 1) * kVocabulary));
    const auto seed = static_cast<int64_t>(seed_numbers[row]),
               position = static_cast<int64_t>(place_numbers[row]);
    EXPECT_EQ(one_each[row], static_cast<float>(drawn_from(alone, seed, position))) << row;
    EXPECT_EQ(alike[row], static_cast<float>(drawn_from(alone, 4, 11))) << row;
    EXPECT_THAT(draw({logits(alone)}, {{"seed", seed}, {"position", position}}), ElementsAre(one_each[row]))
        << "alone as in the batch";
  }
}

TEST_F(SamplingOfTensors, SettingsAndInputsReachTheDraw) {
  const ValueId x = logits({1.0F, 3.0F, 2.0F, kMinusInfinity});
  const Attributes greedy = {{"temperature", 0.0}};
  const auto with = [](Attributes attributes, const char* name, graph::Attribute value) {
    attributes[name] = std::move(value);
    return attributes;
  };
  EXPECT_THAT(draw({x}, greedy), ElementsAre(1));
  const ValueId bias = tensor(DType::f32, {4}, {0, 0, 1.5F, 9});
  EXPECT_THAT(draw({x, bias}, greedy), ElementsAre(2));
  const ValueId recent = tensor(DType::i32, {3}, {1, 1, -1});
  EXPECT_THAT(draw({x, {}, recent}, greedy), ElementsAre(1));
  EXPECT_THAT(draw({x, {}, recent}, with(greedy, "repeat_penalty", 2.0)), ElementsAre(2));
  EXPECT_THAT(draw({x, {}, recent}, with(greedy, "frequency_penalty", 0.6)), ElementsAre(2));
  EXPECT_THAT(draw({x, {}, recent}, with(greedy, "presence_penalty", 0.6)), ElementsAre(1)) << "2.4 once";
  const auto kept = [&](Attributes attributes) {
    std::map<float, int> tokens;
    for (int64_t i = 0; i < 200; ++i) ++tokens[draw({x}, with(attributes, "position", i))[0]];
    return tokens.size();
  };
  EXPECT_EQ(kept({}), 3U) << "-infinity is never drawn";
  EXPECT_EQ(kept({{"top_k", int64_t{2}}}), 2U);
  EXPECT_EQ(kept({{"top_p", 0.5}}), 1U) << "the first has 0.665";
  EXPECT_EQ(kept({{"top_p", 0.7}}), 2U) << "the one that crosses 0.7 stays";
  EXPECT_EQ(kept({{"min_p", 0.3}}), 2U) << "0.37 and 0.14 of the largest";
}

TEST_F(SamplingOfTensors, RowsHaveTheirOwnBiasAndRecentTokens) {
  const ValueId x = tensor(DType::bf16, {kTokens, 3}, {1, 2, 3, 1, 2, 3, 1, 2, 3});
  const ValueId bias = tensor(DType::f32, {kTokens, 3}, {5, 0, 0, 0, 5, 0, 0, 0, 0});
  const ValueId recent = tensor(DType::i32, {kTokens, 2}, {-1, 7, 1, 1, 2, 0});
  const Attributes greedy = {{"temperature", 0.0}, {"presence_penalty", 4.0}};
  EXPECT_THAT(draw({x, bias}, greedy), ElementsAre(0, 1, 2));
  EXPECT_THAT(draw({x, {}, recent}, greedy), ElementsAre(2, 2, 1));
  EXPECT_THAT(draw({x, bias, recent}, greedy), ElementsAre(0, 1, 1)) << "3, 2 - 4 + 5 is as large: the first";
}

TEST_F(SamplingOfTensors, TheLikeliestAreGivenWithTheirProbabilities) {
  const ValueId x = tensor(DType::f32, {2, 4},
                           {0, std::log(2.0F), std::log(5.0F), kMinusInfinity,  //
                            kMinusInfinity, kMinusInfinity, 1, kMinusInfinity});
  const auto out =
      bench.run("fused_sampling", {x, {}, {}, {}, {}}, {{"temperature", 0.0}, {"logprobs", int64_t{2}}});
  ASSERT_EQ(out.size(), 4U);
  EXPECT_THAT(out[0], ElementsAre(2, 2));
  expect_near(out[1], {std::log(0.625), 0}, 1e-6);
  EXPECT_THAT(out[2], ElementsAre(2, 1, 2, -1));
  expect_near({out[3].begin(), out[3].end() - 1}, {std::log(0.625), std::log(0.25), 0}, 1e-6);
  EXPECT_EQ(out[3].back(), kMinusInfinity);
  EXPECT_EQ(bench.run("fused_sampling", {x, {}, {}, {}, {}}).size(), 2U);
  const ValueId none = logits({kMinusInfinity, std::nanf("")});
  const auto nothing = bench.run("fused_sampling", {none, {}, {}, {}, {}});
  EXPECT_THAT(nothing[0], ElementsAre(-1));
  EXPECT_THAT(nothing[1], ElementsAre(kMinusInfinity));
}

TEST_F(SamplingOfTensors, TypesFollowFromTheLogits) {
  const ValueId x = tensor(DType::f16, {kTokens, 2, 6}, noise(36, 2));
  EXPECT_EQ(made({x}), "i64[tokens, 2], f32[tokens, 2]");
  EXPECT_EQ(made({x}, {{"logprobs", int64_t{5}}}),
            "i64[tokens, 2], f32[tokens, 2], i64[tokens, 2, 5], f32[tokens, 2, 5]");
  EXPECT_EQ(made({logits({1, 2})}), "i64[], f32[]");
}

TEST_F(SamplingOfTensors, WhatDoesNotFitIsRefused) {
  const ValueId x = tensor(DType::f32, {kTokens, 6}, noise(18, 3));
  EXPECT_THAT(made({tensor(DType::i32, {6}, noise(6, 1))}), HasSubstr("logits"));
  EXPECT_THAT(made({tensor(DType::f32, {}, {1})}), HasSubstr("its last dim must be a fixed size"));
  EXPECT_THAT(made({x, tensor(DType::f32, {5}, noise(5, 1))}),
              HasSubstr("bias is f32[5], but logits f32[tokens, 6] need f32[6] or f32[tokens, 6]"));
  EXPECT_THAT(made({x, tensor(DType::f16, {6}, noise(6, 1))}), HasSubstr("bias is f16[6]"));
  EXPECT_THAT(made({x, {}, tensor(DType::i32, {4}, noise(4, 1))}), HasSubstr("need i32[tokens, 4]"));
  EXPECT_THAT(made({x, {}, {}, tensor(DType::i32, {kTokens}, noise(3, 1))}),
              HasSubstr("seeds is i32[tokens], but logits f32[tokens, 6] need i64[tokens]"));
  EXPECT_THAT(made({x, {}, {}, {}, tensor(DType::i64, {1}, {0})}), HasSubstr("positions is i64[1]"));
  for (const auto& [name, value] : std::vector<std::pair<const char*, graph::Attribute>>{
           {"temperature", -0.1},
           {"top_k", int64_t{-1}},
           {"top_p", 0.0},
           {"min_p", 1.5},
           {"repeat_penalty", 0.0},
           {"frequency_penalty", std::numeric_limits<double>::quiet_NaN()},
           {"logprobs", int64_t{21}}})
    EXPECT_THAT(made({x}, {{name, value}}), HasSubstr(std::string(name) + " is ")) << name;
}

TEST_F(SamplingOfTensors, CostsASoftmax) {
  const ValueId x = tensor(DType::bf16, {kTokens, 10}, noise(30, 4));
  const auto expect_cost = [&](double flops, double bytes, std::vector<ValueId> inputs,
                               Attributes attributes) {
    inputs.resize(5);
    const auto node = bench.add("fused_sampling", inputs, std::move(attributes));
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    bench.edit().set_outputs(bench.graph().node(*node).outputs);
    EXPECT_DOUBLE_EQ(bench.cost(*node).flops, flops);
    EXPECT_DOUBLE_EQ(bench.cost(*node).bytes, bytes);
    bench.edit().set_outputs({});
  };
  expect_cost(150, 60 + 3 * (8 + 4), {x}, {});
  expect_cost(180, 60 + 40 + 3 * (8 + 4) * 5, {x, tensor(DType::f32, {10}, noise(10, 1))},
              {{"logprobs", int64_t{4}}});
}

}  // namespace
}  // namespace orrery::ops::test
