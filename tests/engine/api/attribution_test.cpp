// Attribution beside differences of the logit, on a tiny decoder; and what it refuses.
#include "engine/api/attribution.h"

#include <gmock/gmock.h>

#include "engine/models/builder.h"
#include "tests/engine/api/tiny_session.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;

/// No word comes twice, so that a row of the embeddings is one token's.
constexpr std::string_view kText = "w3 w17 w42 w5 w88 w61";
constexpr std::array<int, 6> kIds = {3, 17, 42, 5, 88, 61};

/// The model with rows of its embeddings grown by a share.
runtime::TinyModel grown(const std::vector<int>& rows, float share) {
  runtime::TinyModel tiny(2);
  const io::Tensor* table = tiny.file->find("embedding");
  auto* numbers = reinterpret_cast<float*>(const_cast<std::byte*>(table->data.data()));
  for (const int row : rows)
    for (int64_t i = 0; i < runtime::TinyModel::kWidth; ++i)
      numbers[row * runtime::TinyModel::kWidth + i] *= 1 + share;
  return tiny;
}

Attribution attributed(const runtime::TinyModel& tiny, const std::string& target) {
  const TinySession session(tiny);
  const auto made = attribute(*session.session, {std::string(kText), target});
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? *made : Attribution{};
}

double slope(const std::vector<int>& rows, const std::string& target) {
  constexpr float kShare = 0.01F;
  const auto at = [&](float share) { return attributed(grown(rows, share), target).logit; };
  return (8 * (at(kShare) - at(-kShare)) - (at(2 * kShare) - at(-2 * kShare))) / (12 * double{kShare});
}

TEST(Attribution, IsHowTheLogitMovesWithEachToken) {
  const Attribution all = attributed(runtime::TinyModel(2), "7");
  ASSERT_EQ(all.tokens.size(), kIds.size());
  EXPECT_EQ(all.target, 7);
  EXPECT_EQ(all.target_name, "w7");
  double sum = 0, largest = 0;
  for (const TokenScore& token : all.tokens) {
    sum += token.score;
    largest = std::max(largest, std::abs(token.score));
  }
  EXPECT_GT(largest, 0.01);
  for (size_t i = 0; i < kIds.size(); ++i) {
    EXPECT_EQ(all.tokens[i].id, kIds[i]);
    EXPECT_EQ(all.tokens[i].piece, fmt::format("w{}", kIds[i]));
    EXPECT_NEAR(all.tokens[i].score, slope({kIds[i]}, "7"), 2e-3 * largest) << i;
  }
  EXPECT_NEAR(sum, slope({kIds.begin(), kIds.end()}, "7"), 4e-3 * largest) << "all at once";
}

TEST(Attribution, ExplainsTheLikeliestUnlessAsked) {
  const TinySession session(2);
  const auto likeliest = attribute(*session.session, {std::string(kText)});
  ASSERT_TRUE(likeliest.ok()) << likeliest.error().to_string();
  const auto named = attribute(*session.session, {std::string(kText), likeliest->target_name});
  ASSERT_TRUE(named.ok()) << named.error().to_string();
  EXPECT_EQ(named->target, likeliest->target);
  EXPECT_EQ(named->logit, likeliest->logit) << "the same bits again";
  EXPECT_GT(likeliest->probability, 1.0 / runtime::TinyModel::kVocabulary);
}

TEST(Attribution, RefusesWhatItCannot) {
  const TinySession session(2);
  const auto refusal = [&](AttributionRequest request) {
    const auto made = attribute(*session.session, request);
    return made.ok() ? std::string("it was attributed") : made.error().to_string();
  };
  EXPECT_THAT(refusal({""}), HasSubstr("There is no text"));
  std::string long_text;
  for (int i = 0; i < 600; ++i) long_text += "w1 ";
  EXPECT_THAT(refusal({long_text}), HasSubstr("The text has 600 tokens"));
  EXPECT_THAT(refusal({std::string(kText), "-1"}), HasSubstr("-1 is none of the 96 numbers (target)"));
  EXPECT_THAT(refusal({std::string(kText), "96"}), HasSubstr("96 is none of the 96 numbers"));
  EXPECT_THAT(refusal({std::string(kText), "w1 w2"}), HasSubstr("\"w1 w2\" is 2 tokens"));
  const auto capped = session->apply(edit_of("set node=layers.1.attend attribute=softcap value=30.0"));
  ASSERT_TRUE(capped.ok()) << capped.error().to_string();
  EXPECT_THAT(refusal({std::string(kText)}), HasSubstr("has no softcap (layers.1"));
}

/// A model of the test data, after edits.
struct ModelSession : GraphSession {
  ModelSession(const std::string& name, const std::vector<std::string>& edits)
      : ModelSession(file_of(name), edits) {}
  ModelSession(const std::shared_ptr<const io::ModelFile>& file, const std::vector<std::string>& edits)
      : GraphSession(std::make_shared<const graph::Graph>(graph_of(*file)), file,
                     std::make_shared<weights::WeightStore>(file, nullptr),
                     runtime::TinyModel::exact_options()) {
    for (const std::string& words : edits) {
      const auto edited = session->apply(edit_of(words));
      EXPECT_TRUE(edited.ok()) << words << ": " << (edited.ok() ? "" : edited.error().to_string());
    }
  }

  static std::shared_ptr<const io::ModelFile> file_of(const std::string& name) {
    auto file = io::open_model(ORRERY_TEST_DATA "/models/" + name, {}, {});
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().to_string());
    return *file;
  }
  static graph::Graph graph_of(const io::ModelFile& file) {
    auto built = models::build(file, nullptr);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().to_string());
    return std::move(built->graph);
  }
};

struct OtherModel {
  std::string name, file;
  std::vector<std::string> edits = {};
};
void PrintTo(const OtherModel& model, std::ostream* stream) { *stream << model.name; }

/// Mixtures, states of the whole text, Fastmax: all scores together are how the logit moves when every
/// embedding grows, and the text that is read whole has the answer that the chat gives.
class OtherModels : public testing::TestWithParam<OtherModel> {
 protected:
  static Attribution attributed(const std::string& target, const std::string& factor) {
    std::vector<std::string> edits = GetParam().edits;
    if (!factor.empty()) edits.push_back("scale node=embed.token_embedding factor=" + factor);
    const ModelSession session(GetParam().file, edits);
    const auto made = attribute(*session.session, {std::string(kText), target});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
    return made.ok() ? *made : Attribution{};
  }
};

TEST_P(OtherModels, AreAttributed) {
  const Attribution made = attributed("", "");
  ASSERT_EQ(made.tokens.size(), kIds.size());
  double sum = 0, size = 0;
  for (const TokenScore& token : made.tokens) {
    sum += token.score;
    size += std::abs(token.score);
  }
  EXPECT_GT(size, 1e-4);
  const auto at = [&](const char* factor) { return attributed(std::to_string(made.target), factor).logit; };
  const double slope = (8 * (at("1.01") - at("0.99")) - (at("1.02") - at("0.98"))) / 0.12;
  EXPECT_NEAR(sum, slope, 5e-3 * size);
  const ModelSession session(GetParam().file, GetParam().edits);
  const runtime::TinyReply reply = session.reply({kIds.begin(), kIds.end()}, 1);
  ASSERT_EQ(reply.ids.size(), 1U);
  EXPECT_EQ(reply.ids[0], made.target);
  EXPECT_NEAR(std::exp(reply.logprobs[0]), made.probability, 1e-4 * made.probability);
}

INSTANTIATE_TEST_SUITE_P(
    Models, OtherModels,
    testing::Values(OtherModel{"mixtral", "mixtral"}, OtherModel{"qwen3_moe", "qwen3_moe"},
                    OtherModel{"qwen3_moe_gguf", "qwen3_moe/model.gguf"}, OtherModel{"mamba", "mamba"},
                    OtherModel{"mamba_biased", "mamba_biased"},
                    OtherModel{"fastmax", "llama", {"attention scope=layers.* kind=fastmax"}},
                    OtherModel{"fastmax_line", "llama", {"attention scope=layers.1 kind=fastmax p=1"}}),
    [](const auto& info) { return info.param.name; });

TEST(Attribution, StopsAndTellsItsStages) {
  const TinySession session(2);
  std::vector<std::string> stages;
  std::stop_source source;
  const Watch watch{[&](std::string_view stage, uint64_t, uint64_t) {
                      stages.emplace_back(stage);
                      if (stages.size() == 2) source.request_stop();
                    },
                    source.get_token()};
  const auto made = attribute(*session.session, {std::string(kText)}, watch);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::cancelled);
  EXPECT_THAT(stages, testing::ElementsAre("Reading the text", "Drawing the gradients"));
}

}  // namespace
}  // namespace orrery::api
