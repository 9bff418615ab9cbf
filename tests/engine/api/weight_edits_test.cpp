// Edits of the running model's weights: what is requantised, steered or adapted runs at the next message, and
// is gone with its undo.
#include <gmock/gmock.h>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

class WeightEdits : public testing::Test {
 protected:
  void open(const OpenOptions& options) {
    session_ = open_or_fail(options);
    ASSERT_TRUE(session_);
  }
  EditRecord apply(const std::string& words) {
    auto edit = edit::parse_edit(words);
    EXPECT_TRUE(edit.ok()) << words;
    auto record = session_->apply(edit.value());
    EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().to_string());
    return record.ok() ? record.value() : EditRecord{};
  }
  /// How likely a text is, and what may follow it.
  std::vector<double> logprobs() {
    const auto scored = session_->score("The capital of France is Paris, and that of Italy is", 5, {});
    EXPECT_TRUE(scored.ok()) << (scored.ok() ? "" : scored.error().to_string());
    if (!scored.ok()) return {};
    std::vector<double> found{scored->nll_per_token};
    for (const TokenAlternative& next : scored->last_top) found.push_back(next.logprob);
    return found;
  }
  static double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
  }
  uint64_t derived_bytes() const {
    uint64_t bytes = 0;
    for (const DerivedWeight& weight : session_->derived_weights()) bytes += weight.bytes;
    return bytes;
  }

  std::shared_ptr<Session> session_;
};

TEST_F(WeightEdits, ARequantisedModelRunsNextAndUndoGivesItsMemoryBack) {
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  const std::vector<double> whole = logprobs();
  const uint64_t before = derived_bytes();
  ASSERT_TRUE(session_->chat(raw_request("The capital of", 2), {}, {}).ok());
  const EditRecord record = apply("quantise scope=layers.* type=q8_0");
  EXPECT_FALSE(record.kv_kept);
  EXPECT_THAT(session_->derived_weights(),
              Contains(AllOf(Field(&DerivedWeight::tensor, HasSubstr("blk.0.ffn_down.weight, as Q8_0")))));
  const std::vector<double> eight_bits = logprobs();
  const double close = largest_difference(eight_bits, whole);
  EXPECT_GT(close, 0);
  EXPECT_LT(close, 0.3);                                 // of unlikely tokens too
  EXPECT_NEAR(eight_bits.front(), whole.front(), 0.03);  // eight bits of what four bits hold
  apply("quantise scope=layers.* type=q4_0");
  EXPECT_GT(largest_difference(logprobs(), whole), close);
  ASSERT_TRUE(session_->undo().ok());
  ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(logprobs(), whole);
  EXPECT_EQ(derived_bytes(), before);
}

/// The numbers are those of transformers in surgery_golden_test.
TEST_F(WeightEdits, TwoTextsSteerAndTheRecipeKeepsTheirVector) {
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  const std::vector<double> whole = logprobs();
  const std::string words =
      "steer scope=layers.10 strength=3 toward=\"What a wonderful day!\" from=\"What a terrible day.\"";
  const auto measured = session_->measure({*edit::parse_edit(words)}, "The weather today is", {});
  ASSERT_TRUE(measured.ok()) << measured.error().to_string();
  EXPECT_GT(measured->kl, 1e-3) << "it is measured with its vector";
  EXPECT_TRUE(session_->recipe().empty());

  EXPECT_EQ(apply(words).name, "steer layers.10 by 3 of two texts");
  const std::vector<double> steered = logprobs();
  EXPECT_GT(largest_difference(steered, whole), 0.01);
  const std::vector<edit::Edit> recipe = session_->recipe();
  ASSERT_THAT(recipe, SizeIs(1));
  EXPECT_EQ(recipe[0].fields.at("toward"), "What a wonderful day!");
  EXPECT_EQ(recipe[0].fields.at("vector").size(), 576U * 4 / 3 * 4);
  ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(logprobs(), whole);
  ASSERT_TRUE(session_->redo().ok());
  EXPECT_EQ(logprobs(), steered);

  // From its file, also where the texts would make another vector: after another edit.
  const auto read = edit::parse_recipe(edit::write_recipe({recipe}));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  ASSERT_TRUE(session_->replay(read->edits).ok());
  EXPECT_EQ(logprobs(), steered);
  EXPECT_EQ(session_->recipe(), recipe);
  ASSERT_TRUE(session_->undo().ok());
  apply("bypass scope=layers.5");
  apply(words);
  EXPECT_NE(session_->recipe()[1].fields.at("vector"), recipe[0].fields.at("vector"));
}

TEST_F(WeightEdits, TextsOfARecipeAreReadAfterTheEditsBeforeThem) {
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  const edit::Edit bypass = *edit::parse_edit("bypass scope=layers.5"),
                   steer = *edit::parse_edit("steer scope=layers.10 toward=\"so glad\" from=\"so sad\"");
  ASSERT_TRUE(session_->replay({bypass, steer}).ok());
  const std::vector<edit::Edit> at_once = session_->recipe();
  ASSERT_TRUE(session_->undo().ok());
  ASSERT_TRUE(session_->undo().ok());
  ASSERT_TRUE(session_->apply(bypass).ok());
  ASSERT_TRUE(session_->apply(steer).ok());
  EXPECT_EQ(session_->recipe(), at_once);
  const auto refused = session_->replay({steer, *edit::parse_edit("bypass scope=layers.99")});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("edit 2 of the recipe"));
}

}  // namespace
}  // namespace orrery::api
