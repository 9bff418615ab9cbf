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
  EXPECT_LT(close, 0.3);  // of unlikely tokens too
  EXPECT_NEAR(eight_bits.front(), whole.front(), 0.03);  // eight bits of what four bits hold
  apply("quantise scope=layers.* type=q4_0");
  EXPECT_GT(largest_difference(logprobs(), whole), close);
  ASSERT_TRUE(session_->undo().ok());
  ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(logprobs(), whole);
  EXPECT_EQ(derived_bytes(), before);
}

}  // namespace
}  // namespace orrery::api
