// The settings of a sampling node: what they become, what is refused, and which of them need a chain.
#include "engine/ops/sampling.h"

#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using kernels::Sampler;
using testing::AllOf;
using testing::HasSubstr;

/// Those of a node that nobody edited.
Attributes usual(Attributes changed = {}) {
  for (const graph::AttributeSpec& spec : sampling_attributes()) changed.emplace(spec.name, *spec.fallback);
  return changed;
}

std::string refusal(Attributes changed) {
  const auto values = sampling_values(usual(std::move(changed)));
  return values.ok() ? "" : values.error().to_string();
}

TEST(Sampling, WhatIsUsualIsThePlainOrder) {
  const SamplingValues values = sampling_values(usual()).value();
  const kernels::SamplingParams params;
  EXPECT_FALSE(values.chained);
  EXPECT_EQ(values.params.temperature, params.temperature);
  EXPECT_EQ(values.params.top_k, params.top_k);
  EXPECT_EQ(values.params.top_p, params.top_p);
  EXPECT_EQ(values.params.min_p, params.min_p);
  EXPECT_EQ(values.params.repeat_penalty, params.repeat_penalty);
  const kernels::SamplerChain chain;
  EXPECT_TRUE(std::equal(chain.order, chain.order + kernels::kSamplers, values.chain.order));
  EXPECT_EQ(values.chain.order_count, kernels::kSamplers);
  EXPECT_EQ(values.chain.penalty_range, chain.penalty_range);
  EXPECT_EQ(values.chain.dry_base, chain.dry_base);
}

TEST(Sampling, OnlyWhatThePlainOrderHasNotNeedsAChain) {
  const auto chained = [](const char* name, graph::Attribute value) {
    return sampling_values(usual({{name, std::move(value)}})).value().chained;
  };
  EXPECT_FALSE(chained("temperature", 0.0));
  EXPECT_FALSE(chained("top_k", int64_t{5}));
  EXPECT_FALSE(chained("repeat_penalty", 1.3));
  EXPECT_FALSE(chained("frequency_penalty", -0.1));
  EXPECT_FALSE(chained("presence_penalty", 0.1));
  EXPECT_FALSE(chained("penalty_range", int64_t{7})) << "there is no penalty that looks";
  EXPECT_FALSE(chained("dry_base", 2.0)) << "DRY is off";
  for (const char* penalty : {"repeat_penalty", "frequency_penalty", "presence_penalty"})
    EXPECT_TRUE(sampling_values(usual({{"penalty_range", int64_t{7}}, {penalty, 1.3}})).value().chained);
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, graph::Attribute>>{{"temperature_range", 0.3},
                                                             {"typical", 0.9},
                                                             {"top_n_sigma", 1.0},
                                                             {"xtc_probability", 0.5},
                                                             {"dry_multiplier", 0.8},
                                                             {"mirostat", int64_t{2}},
                                                             {"samplers", std::string("temperature,top_k")}})
    EXPECT_TRUE(chained(name, value)) << name;
}

TEST(Sampling, TheOrderIsRead) {
  const auto values = sampling_values(usual({{"samplers", std::string("min_p, temperature,xtc")}})).value();
  ASSERT_EQ(values.chain.order_count, 3);
  EXPECT_EQ(values.chain.order[0], Sampler::min_p);
  EXPECT_EQ(values.chain.order[1], Sampler::temperature);
  EXPECT_EQ(values.chain.order[2], Sampler::xtc);
  EXPECT_EQ(sampling_values(usual({{"samplers", std::string()}})).value().chain.order_count, 0);
  EXPECT_THAT(
      refusal({{"samplers", std::string("top_k,tail_free")}}),
      AllOf(HasSubstr("no sampler \"tail_free\""), HasSubstr("--samplers"), HasSubstr("top_n_sigma")));
  EXPECT_THAT(refusal({{"samplers", std::string("top_k,min_p,top_k")}}), HasSubstr("\"top_k\" comes twice"));
}

TEST(Sampling, EveryNumberHasARangeAndIsRefusedBeyondIt) {
  size_t numbers = 0;
  for (const graph::AttributeSpec& spec : sampling_attributes())
    numbers += !std::holds_alternative<std::string>(*spec.fallback);
  EXPECT_EQ(sampling_ranges().size(), numbers);
  for (const SamplingRange& range : sampling_ranges()) {
    std::string option = "--" + std::string(range.name);
    std::replace(option.begin(), option.end(), '_', '-');
    const auto refused_at = [&](double value) { return refusal({{std::string(range.name), value}}); };
    EXPECT_THAT(refused_at(range.low - 1), AllOf(HasSubstr(option), HasSubstr("at most"))) << range.name;
    EXPECT_NE(refused_at(range.high * 2 + 1), "") << range.name;
    EXPECT_NE(refused_at(std::nan("")), "") << range.name;
    EXPECT_EQ(refused_at(range.high), "") << range.name;
    EXPECT_EQ(refused_at(range.low) != "", range.above_low) << range.name;
  }
}

TEST(Sampling, AnEditOfTheNodeIsRefusedAtOnceAndItsKernelsAreAskedForTheChain) {
  Bench bench(1);
  const ValueId logits = bench.rows("logits", kOutputs, {0.0F, 1.0F, 2.0F});
  const auto refused = bench.add("sample", {logits}, {{"top_p", 1.5}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("top_p is 1.5"));
  EXPECT_TRUE(bench.add("sample", {logits}, {{"mirostat", int64_t{2}}}).ok());
}

}  // namespace
}  // namespace orrery::ops::test
