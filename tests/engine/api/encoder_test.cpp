// Words through tiny encoders with random weights: the tokenizer, pairs of texts, labels of tokens, the
// refusals. What comes of them was computed by transformers (tests/data/encoders).
#include <gmock/gmock.h>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

std::string folder_of(const std::string& name) { return ORRERY_TEST_DATA "/encoders/" + name; }

std::shared_ptr<Session> open_tiny(const std::string& name) {
  OpenOptions options;
  options.model = folder_of(name);
  options.precision = "exact";
  return open_or_fail(options);
}

nlohmann::json expected_of(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(folder_of(name) + "/expected.json"));
}

TEST(Reranker, PassagesGetTheReferencesRelevance) {
  const auto session = open_tiny("bert_pairs");
  ASSERT_TRUE(session);
  const nlohmann::json expected = expected_of("bert_pairs");
  const auto passages = expected["passages"].get<std::vector<std::string>>();
  const auto relevance = session->rerank(expected["query"], passages, {});
  ASSERT_TRUE(relevance.ok()) << relevance.error().to_string();
  ASSERT_EQ(relevance->size(), passages.size());
  for (size_t i = 0; i < passages.size(); ++i) {
    const auto logit = expected["relevance"][i].get<double>();
    EXPECT_NEAR((*relevance)[i].logit, logit, 1e-4) << passages[i];
    EXPECT_NEAR((*relevance)[i].score, 1 / (1 + std::exp(-logit)), 1e-5) << passages[i];
  }
}

TEST(Reranker, OnlyModelsOfOneLabelTellRelevance) {
  const auto session = open_tiny("bert_tokens");
  ASSERT_TRUE(session);
  const auto refused = session->rerank("a", {"b"}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "This model gives no relevance");
}

TEST(TokenLabels, EveryTokenGetsTheReferencesLabel) {
  const auto session = open_tiny("bert_tokens");
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->info().classifies_tokens);
  const nlohmann::json expected = expected_of("bert_tokens");
  const auto results = session->classify({expected["text"], "comet"}, {}, {});
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  const std::vector<TokenLabel>& tokens = (*results)[0].tokens;
  ASSERT_EQ(tokens.size(), expected["ids"].size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].id, expected["ids"][i].get<int32_t>());
    EXPECT_EQ(tokens[i].label, expected["labels"][i].get<std::string>()) << tokens[i].piece;
    EXPECT_NEAR(tokens[i].probabilities[0], expected["probabilities"][i][0].get<float>(), 1e-5F);
  }
  EXPECT_EQ((*results)[1].tokens.size(), 3U) << "[CLS] comet [SEP]";
  EXPECT_THAT((*results)[0].probabilities, testing::IsEmpty());
}

}  // namespace
}  // namespace orrery::api
