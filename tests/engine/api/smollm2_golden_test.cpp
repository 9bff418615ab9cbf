// SmolLM2 against the float32 reference: log-probabilities, greedy text and perplexity, in both arithmetics
// and with a KV cache of 8 bits.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

struct Case {
  const char* name;
  bool exact;
  double logprob_error;  // largest over the reference's top 20; 0: not asked of this path
  double divergence;     // KL over the reference's top 20 and all others as one
  double perplexity;     // relative
  double margin;         // of two tokens, below which either may be chosen
  const char* kv_type = "f16";
};

class SmolLM2 : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { reference_ = golden("smollm2.json"); }

  void SetUp() override {
    OpenOptions options = smollm2();
    options.precision = GetParam().exact ? "exact" : "balanced";
    options.kv_type = GetParam().kv_type;
    session_ = open_or_fail(options);
    ASSERT_TRUE(session_);
  }

  /// Log-probabilities of what follows the text, for the reference's tokens that are among our top 20.
  std::map<int32_t, double> following(const std::string& text) {
    auto score = session_->score(text, 20, {});
    EXPECT_TRUE(score.ok()) << (score.ok() ? "" : score.error().to_string());
    std::map<int32_t, double> found;
    if (score.ok())
      for (const TokenAlternative& token : score.value().last_top) found[token.id] = token.logprob;
    return found;
  }

  static inline nlohmann::json reference_;
  std::shared_ptr<Session> session_;
};

TEST_P(SmolLM2, NextTokenProbabilitiesAreTheReferences) {
  for (const auto& item : reference_["logits"]) {
    const std::string text = item["text"];
    SCOPED_TRACE(text);
    const auto ours = following(text);
    double divergence = 0, largest = 0, mass = 0, our_mass = 0;
    int missing = 0;
    for (size_t i = 0; i < item["top_ids"].size(); ++i) {
      const double expected = item["top_logprobs"][i];
      const auto it = ours.find(item["top_ids"][i].get<int32_t>());
      if (it == ours.end()) {
        ++missing;  // pushed out of the top 20 by a near equal
        continue;
      }
      mass += std::exp(expected);
      our_mass += std::exp(it->second);
      divergence += std::exp(expected) * (expected - it->second);
      largest = std::max(largest, std::abs(expected - it->second));
    }
    if (mass < 1 && our_mass < 1) divergence += (1 - mass) * std::log((1 - mass) / (1 - our_mass));
    std::printf("  largest %.5f  KL %.6f\n", largest, divergence);
    EXPECT_LE(missing, GetParam().exact ? 1 : 2);
    EXPECT_LE(divergence, GetParam().divergence);
    if (GetParam().logprob_error > 0) {
      EXPECT_LE(largest, GetParam().logprob_error);
    }
  }
}

TEST_P(SmolLM2, GreedyTextIsTheReferencesUpToANarrowChoice) {
  for (const auto& item : reference_["greedy"]) {
    const std::string text = item["text"];
    SCOPED_TRACE(text);
    session_->forget_context();
    const auto ids = item["ids"].get<std::vector<int32_t>>();
    auto reply = session_->chat(raw_request(text, static_cast<int64_t>(ids.size())), {}, {});
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    const std::vector<int32_t> ours = ids_of(reply.value());
    size_t compared = 0;
    for (; compared < ids.size() && item["margins"][compared] > GetParam().margin; ++compared) {
      ASSERT_LT(compared, ours.size());
      ASSERT_EQ(ours[compared], ids[compared]) << "step " << compared;
    }
    if (compared == ids.size()) {
      EXPECT_EQ(ours, ids);
    }
  }
}

TEST_P(SmolLM2, PerplexityIsTheReferences) {
  for (const auto& item : reference_["perplexity"]) {
    auto score = session_->score(item["text"].get<std::string>(), 0, {});
    ASSERT_TRUE(score.ok()) << score.error().to_string();
    EXPECT_EQ(score.value().tokens, item["tokens"].get<int64_t>());
    const double expected = std::exp(item["nll_per_token"].get<double>());
    EXPECT_NEAR(score.value().perplexity / expected, 1.0, GetParam().perplexity);
  }
}

INSTANTIATE_TEST_SUITE_P(Arithmetic, SmolLM2,
                         testing::Values(Case{"exact", true, 2e-3, 1e-4, 1e-4, 4e-3},
                                         Case{"balanced", false, 0, 2e-3, 5e-3, 0.01},
                                         Case{"q8_0_cache", false, 0, 4e-3, 5e-3, 0.05, "q8_0"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace orrery::api
