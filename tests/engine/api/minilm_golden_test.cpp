// MiniLM and the sentiment adapter against the float32 reference, alone and packed with others.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

std::vector<std::string> texts_of(const nlohmann::json& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(item["text"]);
  return texts;
}

class MiniLm : public testing::TestWithParam<bool> {
 protected:
  static OpenOptions with_arithmetic(OpenOptions options) {
    options.precision = GetParam() ? "exact" : "balanced";
    return options;
  }
  nlohmann::json reference_ = golden("minilm.json");
};

TEST_P(MiniLm, VectorsAreTheReferences) {
  const auto session = open_or_fail(with_arithmetic(minilm()));
  ASSERT_TRUE(session);
  EXPECT_EQ(session->info().task, Task::embed);
  const auto texts = texts_of(reference_["embed"]);
  const auto together = session->embed(texts, {});
  ASSERT_TRUE(together.ok()) << together.error().to_string();
  ASSERT_EQ(together.value().size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto expected = reference_["embed"][i]["mean_pooled_unit_vector"].get<std::vector<float>>();
    const std::vector<float>& ours = together.value()[i].vector;
    ASSERT_EQ(ours.size(), expected.size());
    EXPECT_GE(cosine(ours, expected), GetParam() ? 0.99999 : 0.9995) << texts[i];
    EXPECT_NEAR(cosine(ours, ours), 1.0, 1e-6);
    double norm = 0;
    for (const float value : ours) norm += double{value} * value;
    EXPECT_NEAR(norm, 1.0, 1e-4) << "unit length";
    const auto alone = session->embed({texts[i]}, {});
    ASSERT_TRUE(alone.ok());
    EXPECT_GE(cosine(alone.value()[0].vector, ours), 0.999999) << texts[i];
  }
}

TEST_P(MiniLm, ProbabilitiesAreTheReferences) {
  const auto session = open_or_fail(with_arithmetic(sentiment()));
  ASSERT_TRUE(session);
  EXPECT_EQ(session->info().task, Task::classify);
  EXPECT_THAT(session->info().labels, testing::ElementsAre("negative", "neutral", "positive"));
  std::vector<size_t> order;
  const auto results = session->classify(texts_of(reference_["classify"]),
                                         [&](size_t index, const Classification&) {
                                           order.push_back(index);
                                           return true;
                                         },
                                         {});
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  for (size_t i = 0; i < results.value().size(); ++i) {
    EXPECT_EQ(order.at(i), i);
    const Classification& ours = results.value()[i];
    const auto expected = reference_["classify"][i]["probabilities"].get<std::vector<float>>();
    ASSERT_EQ(ours.probabilities.size(), expected.size());
    size_t best = 0;
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(ours.probabilities[k], expected[k], GetParam() ? 1e-3 : 1e-2) << ours.text;
      if (expected[k] > expected[best]) best = k;
    }
    EXPECT_EQ(ours.label, session->info().labels[best]);
    EXPECT_GT(ours.ms, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Arithmetic, MiniLm, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "exact" : "balanced"; });

TEST(Encoders, ALongTextIsCutAtTheLimitAndManyArePacked) {
  OpenOptions options = sentiment();
  options.batch_tokens = 200;
  const auto session = open_or_fail(options);
  ASSERT_TRUE(session);
  std::string longer;
  for (int i = 0; i < 3000; ++i) longer += "good ";
  std::vector<std::string> texts{longer};
  for (int i = 0; i < 100; ++i) texts.push_back("This is text number " + std::to_string(i) + ".");
  const auto results = session->classify(texts, {}, {});
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  ASSERT_EQ(results.value().size(), texts.size());
  std::string fitting;  // 510 words and the two special tokens are all that the model reads
  for (int i = 0; i < 510; ++i) fitting += "good ";
  const auto cut = session->classify({fitting}, {}, {});
  ASSERT_TRUE(cut.ok());
  for (size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(cut.value()[0].probabilities[k], results.value()[0].probabilities[k], 1e-4);
  const auto alone = session->classify({texts[77]}, {}, {});
  ASSERT_TRUE(alone.ok());
  for (size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(alone.value()[0].probabilities[k], results.value()[77].probabilities[k], 1e-4);
}

TEST(Encoders, TheCallbackAndTheStopTokenEndIt) {
  OpenOptions options = sentiment();
  options.batch_tokens = 16;
  const auto session = open_or_fail(options);
  ASSERT_TRUE(session);
  const std::vector<std::string> texts(40, "An ordinary film.");
  const auto three =
      session->classify(texts, [](size_t index, const Classification&) { return index < 2; }, {});
  ASSERT_TRUE(three.ok());
  EXPECT_EQ(three.value().size(), 3U);
  std::stop_source stop;
  const auto some = session->classify(
      texts,
      [&](size_t index, const Classification&) {
        if (index == 4) stop.request_stop();
        return true;
      },
      stop.get_token());
  ASSERT_TRUE(some.ok());
  EXPECT_GE(some.value().size(), 5U);
  EXPECT_LT(some.value().size(), 40U);
}

TEST(Encoders, AnEmptyTextIsATextAndNoTextsAreNone) {
  const auto session = open_or_fail(sentiment());
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->classify({""}, {}, {}).ok());
  const auto none = session->classify({}, {}, {});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none.value().empty());
}

TEST(Encoders, TheyDoNotChat) {
  const auto session = open_or_fail(minilm());
  ASSERT_TRUE(session);
  const auto reply = session->chat(raw_request("Hello", 4), {}, {});
  ASSERT_FALSE(reply.ok());
  EXPECT_THAT(reply.error().to_string(), testing::HasSubstr("does not write text"));
  EXPECT_FALSE(session->score("Hello there", 0, {}).ok());
  EXPECT_FALSE(session->classify({"Hello"}, {}, {}).ok());
}

}  // namespace
}  // namespace orrery::api
