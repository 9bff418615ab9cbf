// SmolLM2 after surgery against the same surgery on the modules of transformers, in float32: what follows two
// texts, and their perplexity. Written by tests/data/edits/make_surgery.py.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

std::string data(const char* name) { return std::string(ORRERY_TEST_DATA) + "/edits/" + name; }

class SurgeryGolden : public testing::Test {
 protected:
  void SetUp() override {
    OpenOptions options = smollm2();
    options.precision = "exact";
    session_ = open_or_fail(options);
    ASSERT_TRUE(session_);
  }

  void make(const nlohmann::json& edits) {
    std::vector<edit::Edit> made;
    for (std::string words : edits) {
      constexpr std::string_view kVector = "{vector}";
      if (const size_t at = words.find(kVector); at != std::string::npos)
        words.replace(at, kVector.size(), data("vector.npy"));
      const auto edit = edit::parse_edit(words);
      ASSERT_TRUE(edit.ok()) << edit.error().to_string();
      made.push_back(*edit);
    }
    if (made.empty()) return;
    const auto replayed = session_->replay(std::move(made));
    ASSERT_TRUE(replayed.ok()) << replayed.error().to_string();
  }

  void expect_same(const nlohmann::json& expected) {
    SCOPED_TRACE(expected["text"].get<std::string>());
    const auto score = session_->score(expected["text"].get<std::string>(), 30, {});
    ASSERT_TRUE(score.ok()) << score.error().to_string();
    EXPECT_EQ(score->tokens, expected["tokens"].get<int64_t>());
    EXPECT_NEAR(score->nll_per_token, expected["nll_per_token"].get<double>(), 1e-4);
    std::map<int32_t, double> ours;
    for (const TokenAlternative& token : score->last_top) ours[token.id] = token.logprob;
    for (size_t i = 0; i < expected["top_ids"].size(); ++i) {
      const auto found = ours.find(expected["top_ids"][i].get<int32_t>());
      ASSERT_NE(found, ours.end()) << "rank " << i;
      EXPECT_NEAR(found->second, expected["top_logprobs"][i].get<double>(), 2e-3) << "rank " << i;
    }
  }

  std::shared_ptr<Session> session_;
};

TEST_F(SurgeryGolden, EveryEditIsWhatTransformersComputes) {
  std::ifstream stream(data("smollm2.json"));
  const nlohmann::json cases = nlohmann::json::parse(stream)["cases"];
  ASSERT_GE(cases.size(), 9U);
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected["name"].get<std::string>());
    ASSERT_NO_FATAL_FAILURE(make(expected["edits"]));
    for (const auto& text : expected["texts"]) ASSERT_NO_FATAL_FAILURE(expect_same(text));
    for (size_t i = 0; i < expected["edits"].size(); ++i) ASSERT_TRUE(session_->undo().ok());
  }
}

}  // namespace
}  // namespace orrery::api
