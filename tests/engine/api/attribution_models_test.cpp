// Attribution on the default models: all scores together are how the logit moves when every embedding grows.
#include <gmock/gmock.h>

#include "engine/api/attribution.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

struct Case {
  OpenOptions options;
  AttributionRequest request;
  std::string embedding;  // the node that looks tokens up
};

/// With the embeddings scaled, by an edit.
double logit(const Case& each, const std::string& target, const std::string& factor) {
  const auto session = open_or_fail(each.options);
  if (!session) return 0;
  const auto edit = edit::parse_edit("scale node=" + each.embedding + " factor=" + factor);
  EXPECT_TRUE(edit.ok());
  const auto applied = session->apply(*edit);
  EXPECT_TRUE(applied.ok()) << (applied.ok() ? "" : applied.error().to_string());
  const auto made = attribute(*session, {each.request.text, target});
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? made->logit : 0;
}

void expect_sum(const Case& each, size_t tokens) {
  const auto session = open_or_fail(each.options);
  if (!session) return;
  const auto made = attribute(*session, each.request);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ(made->tokens.size(), tokens);
  double sum = 0, size = 0;
  for (const TokenScore& token : made->tokens) {
    sum += token.score;
    size += std::abs(token.score);
  }
  EXPECT_GT(size, 0.01);
  const std::string target = std::to_string(made->target);
  const double slope = (logit(each, target, "1.01") - logit(each, target, "0.99")) / 0.02;
  EXPECT_NEAR(sum, slope, 0.02 * size);
}

OpenOptions exact(OpenOptions options) {
  options.precision = "exact";
  return options;
}

TEST(AttributionOfModels, OfALabel) {
  expect_sum({exact(sentiment()), {"A wonderful film, but far too long."}, "embed.word_embedding"}, 11);
}

TEST(AttributionOfModels, OfTheNextToken) {
  expect_sum({exact(smollm2()), {"The capital of France is"}, "embed.token_embedding"}, 5);
}

}  // namespace
}  // namespace orrery::api
