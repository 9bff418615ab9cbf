// One edit at a time over all places: what is tried, that rows are what measure says, and that a sweep is
// gone on with as if it had never stopped.
#include "engine/api/sweep.h"

#include <gmock/gmock.h>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;

constexpr const char* kRead = "The capital of France is Paris.";

void expect_equal(const SweepRow& row, const SweepRow& other) {
  EXPECT_EQ(row.edit, other.edit);
  EXPECT_EQ(row.refusal, other.refusal);
  EXPECT_EQ(row.change.kl, other.change.kl) << row.scope;
  EXPECT_EQ(row.change.top1_agreement, other.change.top1_agreement) << row.scope;
  EXPECT_EQ(row.change.nll_after, other.change.nll_after) << row.scope;
  EXPECT_EQ(row.change.kl_by_position, other.change.kl_by_position) << row.scope;
}

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    session = open_or_fail(smollm2());
    ASSERT_TRUE(session);
  }

  std::vector<SweepPlace> places(SweepKind what, const std::string& to = "") const {
    const auto places = sweep_places(*session->model_graph(), {what, to, ""});
    EXPECT_TRUE(places.ok()) << (places.ok() ? "" : places.error().to_string());
    return places.ok() ? *places : std::vector<SweepPlace>{};
  }

  /// Of the first rows: it is stopped after them.
  Sweep first_rows(Sweep begun, size_t rows) const {
    std::stop_source stop;
    auto done = sweep(
        *session, std::move(begun),
        [&](const Sweep& now) {
          if (now.rows.size() == rows) stop.request_stop();
        },
        stop.get_token());
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().to_string());
    return done.ok() ? std::move(done).value() : Sweep{};
  }

  std::shared_ptr<Session> session;
};

TEST_F(SweepTest, TriesEveryPlaceOnceInTheOrderOfTheGraph) {
  const auto layers = places(SweepKind::bypass_layers);
  ASSERT_EQ(layers.size(), 30U);
  for (size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(layers[i].scope, "layers." + std::to_string(i));
  const auto tensors = places(SweepKind::quantise_tensors, "q4_0");
  ASSERT_EQ(tensors.size(), 30 * 7 + 1U) << "the head reads the embedding's matrix";
  EXPECT_EQ(tensors[0].edit.to_string(), "quantise scope=embed.token_embedding type=q4_0");
  EXPECT_EQ(tensors[1].edit.to_string(), "quantise scope=layers.0.attention.q_proj type=q4_0");
  const auto heads = places(SweepKind::zero_heads);
  ASSERT_EQ(heads.size(), 30 * 9U);
  EXPECT_EQ(heads[10].edit.to_string(), "zero heads=1 node=layers.1.attention.sdpa");
  EXPECT_EQ(places(SweepKind::precision, "int8").size(), 30 * 7 + 1U);
  ASSERT_TRUE(session->apply(edit::parse_edit("bypass scope=layers.3").value()).ok());
  EXPECT_EQ(places(SweepKind::bypass_layers).size(), 29U) << "what is bypassed is no place";
}

TEST_F(SweepTest, ARowIsWhatMeasureSaysOfTheEdit) {
  const Sweep done = first_rows({{SweepKind::bypass_layers, "", kRead}}, 3);
  ASSERT_EQ(done.rows.size(), 3U);
  for (const SweepRow& row : done.rows) {
    const auto alone = session->measure({row.edit}, kRead, {});
    ASSERT_TRUE(alone.ok()) << alone.error().to_string();
    expect_equal(row, {{row.scope, row.edit}, "", *alone, 0});
    EXPECT_GT(*row.change.kl, 0);
  }
  EXPECT_TRUE(session->edits().empty());
}

TEST_F(SweepTest, IsGoneOnWithAsIfItHadNeverStopped) {
  const SweepRequest request{SweepKind::bypass_layers, "", kRead};
  const Sweep stopped = first_rows({request}, 2);
  EXPECT_FALSE(stopped.complete());
  ASSERT_EQ(stopped.rows.size(), 2U);
  const auto saved = parse_sweep(write_sweep(stopped));
  ASSERT_TRUE(saved.ok()) << saved.error().to_string();
  EXPECT_EQ(write_sweep(*saved), write_sweep(stopped));
  const Sweep resumed = first_rows(*saved, 5), at_once = first_rows({request}, 5);
  ASSERT_EQ(resumed.rows.size(), 5U);
  ASSERT_EQ(at_once.rows.size(), 5U);
  for (size_t i = 0; i < 5; ++i) expect_equal(resumed.rows[i], at_once.rows[i]);
}

TEST_F(SweepTest, IsNotGoneOnWithOnAnotherGraph) {
  const Sweep stopped = first_rows({{SweepKind::bypass_layers, "", kRead}}, 1);
  ASSERT_TRUE(session->apply(edit::parse_edit("precision scope=layers.3 dtype=exact").value()).ok());
  const auto refused = sweep(*session, stopped, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("other conditions (recipe"));
}

TEST_F(SweepTest, WhatCannotBeMadeIsARowWithItsReason) {
  const Sweep done = first_rows({{SweepKind::quantise_tensors, "q4_k", kRead}}, 8);
  ASSERT_EQ(done.rows.size(), 8U);
  EXPECT_THAT(done.rows[1].refusal, HasSubstr("rows of 576"));
  EXPECT_EQ(done.rows[7].scope, "layers.0.mlp.down_proj");
  EXPECT_EQ(done.rows[7].refusal, "") << "its rows of 1536 divide into blocks of 256";
  const auto saved = parse_sweep(write_sweep(done));
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->rows[1].refusal, done.rows[1].refusal);
}

TEST_F(SweepTest, RefusesTypesThatTheEditDoesNotTake) {
  for (const SweepRequest& request :
       {SweepRequest{SweepKind::quantise_tensors, "q9_9", ""}, SweepRequest{SweepKind::precision, "", ""},
        SweepRequest{SweepKind::bypass_layers, "q4_0", ""}})
    EXPECT_FALSE(sweep(*session, {request}, {}, {}).ok()) << request.to;
}

TEST(SweepFile, RefusesWhatIsNoSweep) {
  for (const char* text : {"", "[]", "{}", R"({"orrery_sweep": 2})",
                           R"({"orrery_sweep": 1, "what": "nothing", "to": "", "text": ""})"})
    EXPECT_FALSE(parse_sweep(text).ok()) << text;
}

TEST(SweepFile, KeepsWhatIsInfinitelyFar) {
  Sweep sweep{{SweepKind::zero_heads, "", "text"}, 1};
  SweepRow row{{"a", {"zero", {{"node", "a"}, {"heads", "1"}}}}};
  row.change.kl = std::numeric_limits<double>::infinity();
  row.change.tokens_per_second_after = 1 / 3.0;
  row.change.kl_by_position = {0.1F, std::numeric_limits<float>::infinity()};
  sweep.rows.push_back(row);
  const auto read = parse_sweep(write_sweep(sweep));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->rows[0].change.kl, row.change.kl);
  EXPECT_EQ(read->rows[0].change.tokens_per_second_after, row.change.tokens_per_second_after);
  EXPECT_EQ(read->rows[0].change.kl_by_position, row.change.kl_by_position);
}

}  // namespace
}  // namespace orrery::api
