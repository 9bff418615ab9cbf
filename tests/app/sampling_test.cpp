// What the command line makes of the sampling options, and of a recipe that sets the sampling node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<int32_t> reply_ids(const Words& more) {
  Words words = {"chat",   "smollm2", "--raw",        "--prompt", "Once upon a time",
                 "--seed", "5",       "--max-tokens", "12",       "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<int32_t> ids;
  const nlohmann::json document = outcome.json();
  for (const auto& token : document["tokens"]) ids.push_back(token["id"]);
  return ids;
}

TEST(SamplingOptions, ARecipeSetsTheNodeAndAnOptionGoesBeforeIt) {
  const auto usual = reply_ids({}), greedy = reply_ids({"--temperature", "0"});
  ASSERT_NE(usual, greedy);
  const std::string recipe = scratch_file(
      "one.json",
      R"({"orrery_recipe":1,"edits":[{"op":"set","node":"sampler.sample","attribute":"top_k","value":1}]})");
  EXPECT_EQ(reply_ids({"--recipe", recipe}), greedy);
  EXPECT_EQ(reply_ids({"--recipe", recipe, "--top-k", "40"}), usual);
}

TEST(SamplingOptions, SamplersRunInTheOrderThatIsGiven) {
  const Words cuts = {"--temperature", "5", "--top-k", "0", "--min-p", "0", "--top-p", "0.5", "--samplers"};
  const auto with = [&](const char* order) {
    Words words = cuts;
    words.push_back(order);
    return reply_ids(words);
  };
  EXPECT_NE(with("top_p,temperature"), with("temperature,top_p"));
}

TEST(SamplingOptions, BiasesAndBreakersAreTaken) {
  EXPECT_THAT(reply_ids({"--logit-bias", "905=1000"}), ::testing::Each(905));
  EXPECT_EQ(reply_ids({"--dry-multiplier", "1", "--dry-breaker", "\n", "--dry-breaker", "User:"}).size(),
            12U);
}

TEST(SamplingOptions, WhatCannotBeIsToldByItsOption) {
  const auto refusal = [](const char* option, const char* value) {
    const Outcome outcome = run({"chat", "smollm2", "--prompt", "x", option, value});
    EXPECT_EQ(outcome.exit_code, 1) << option;
    EXPECT_EQ(outcome.out, "") << option;
    return outcome.err;
  };
  EXPECT_THAT(refusal("--top-p", "1.5"), AllOf(HasSubstr("top_p is 1.5"), HasSubstr("(--top-p)")));
  EXPECT_THAT(refusal("--samplers", "top_k,tfs"), AllOf(HasSubstr("\"tfs\""), HasSubstr("top_n_sigma")));
  EXPECT_THAT(refusal("--logit-bias", "99999999=1"), HasSubstr("99999999"));
}

}  // namespace
}  // namespace orrery::cli::test
