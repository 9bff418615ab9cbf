// What the passes of a model did, and what each is worth.
#include "engine/api/pass_gain.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;

const PassReport& report_of(const std::vector<PassReport>& reports, const std::string& name) {
  return *std::ranges::find(reports, name, &PassReport::name);
}

TEST(PassGain, SpreadsAreTheMiddleOfAll) {
  const StepSpread spread = spread_of({5, 1, 3, 2, 4});
  EXPECT_EQ(spread.us, 3);
  EXPECT_EQ(spread.low, 1.5);
  EXPECT_EQ(spread.high, 4.5);
  EXPECT_EQ(spread_of({7}).us, 7);
  EXPECT_EQ(spread_of({1, 2}).us, 1.5);
  EXPECT_EQ(spread_of({}).us, 0);
}

TEST(PassGain, SpreadsThatOverlapTellNothing) {
  const StepGain apart{{96, 95, 97}, {100, 99, 101}};
  EXPECT_NEAR(apart.change(), -0.04, 1e-12);
  EXPECT_FALSE(apart.within_noise());
  EXPECT_FALSE((StepGain{{104, 103, 105}, {100, 99, 101}}).within_noise())
      << "a pass that makes it slower shows, too";
  EXPECT_TRUE((StepGain{{99, 97, 101}, {100, 98, 102}}).within_noise());
}

class PassGainTest : public testing::Test {
 protected:
  void SetUp() override {
    session = open_or_fail(smollm2());
    ASSERT_TRUE(session);
  }
  std::vector<PassReport> reports() const {
    auto result = pass_reports(*session);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
    return result.ok() ? *result : std::vector<PassReport>();
  }
  std::shared_ptr<Session> session;
};

TEST_F(PassGainTest, TellsWhatEachPassDid) {
  const std::vector<PassReport> passes = reports();
  ASSERT_EQ(passes.size(), 10U);
  for (size_t i = 1; i < passes.size(); ++i)
    EXPECT_EQ(passes[i].nodes_before, passes[i - 1].nodes_after) << passes[i].name;
  const PassReport& qkv = report_of(passes, "fuse_qkv");
  EXPECT_EQ(qkv.rewrites, 30);
  EXPECT_EQ(qkv.nodes_before - qkv.nodes_after, 60) << "three became one in each layer";
  EXPECT_TRUE(qkv.fuses);
  ASSERT_EQ(qkv.made.size(), 30U);
  const graph::GraphVersion fused = session->fused_graph();
  for (const NodeId node : qkv.made) {
    ASSERT_TRUE(fused->find(node));
    EXPECT_EQ(fused->node(node).op->name, "fused_linear");
    EXPECT_EQ(fused->node(node).origins.size(), 3U);
  }
  EXPECT_TRUE(report_of(passes, "fold_constants").made.empty());
}

TEST_F(PassGainTest, OfWhatIsSwitchedOffAndOfEdits) {
  ASSERT_TRUE(session->set_passes({"fuse_qkv"}).ok());
  const auto bypass = edit::parse_edit("bypass scope=layers.3");
  ASSERT_TRUE(session->apply(*bypass).ok());
  const std::vector<PassReport> passes = reports();
  EXPECT_TRUE(report_of(passes, "fuse_qkv").disabled);
  EXPECT_EQ(report_of(passes, "fuse_qkv").rewrites, 0);
  EXPECT_TRUE(report_of(passes, "fuse_qkv").made.empty());
  EXPECT_GT(report_of(passes, "remove_dead_nodes").rewrites, 0) << "the layer that is bypassed";
  EXPECT_EQ(report_of(passes, "fuse_gate_up").made.size(), 29U);
  ASSERT_TRUE(session->set_fusion(false).ok());
  for (const PassReport& pass : reports())
    EXPECT_EQ(pass.disabled, pass.fuses || pass.name == "fuse_qkv") << pass.name;
}

TEST_F(PassGainTest, MeasuresBesideTheChat) {
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 4), {}, {}).ok());
  const SessionStatePtr before = session->state();
  const int64_t used = session->context_used();
  const PassGainOptions sizes{.prompt = 16, .gen = 2, .rounds = 3};
  for (const bool off : {false, true}) {  // a pass is measured whether it is on or not
    if (off) {
      ASSERT_TRUE(session->set_passes({"fuse_gate_up"}).ok());
    }
    std::vector<uint64_t> told;
    const auto gain =
        pass_gain(*session, "fuse_gate_up", sizes,
                  [&told](std::string_view, uint64_t done, uint64_t) { told.push_back(done); }, {});
    ASSERT_TRUE(gain.ok()) << gain.error().to_string();
    EXPECT_EQ(gain->rewrites, 30);
    EXPECT_EQ(gain->rounds, 3);
    EXPECT_EQ(told, (std::vector<uint64_t>{0, 1, 2}));
    ASSERT_TRUE(gain->decode && gain->prefill);
    EXPECT_FALSE(gain->encode);
    for (const StepGain& step : {*gain->decode, *gain->prefill})
      for (const StepSpread& spread : {step.with, step.without}) {
        EXPECT_GT(spread.low, 0);
        EXPECT_LE(spread.low, spread.us);
        EXPECT_LE(spread.us, spread.high);
      }
    EXPECT_LT(gain->decode->with.us, gain->prefill->with.us) << "a token, and sixteen";
    if (!off) {
      EXPECT_EQ(session->state(), before);
    }
  }
  EXPECT_EQ(session->context_used(), used);
}

TEST_F(PassGainTest, OfATextWhereNothingIsWritten) {
  const auto encoder = open_or_fail(minilm());
  ASSERT_TRUE(encoder);
  const auto gain = pass_gain(*encoder, "fuse_qkv", {.tokens = 16, .rounds = 2}, {}, {});
  ASSERT_TRUE(gain.ok()) << gain.error().to_string();
  EXPECT_GT(gain->rewrites, 0);
  ASSERT_TRUE(gain->encode);
  EXPECT_FALSE(gain->decode || gain->prefill);
  EXPECT_GT(gain->encode->with.us, 0);
}

TEST_F(PassGainTest, NothingToMeasureAndRefusals) {
  const auto nothing = pass_gain(*session, "split_weights", {.rounds = 2}, {}, {});
  ASSERT_TRUE(nothing.ok()) << nothing.error().to_string();
  EXPECT_EQ(nothing->rewrites, 0);
  EXPECT_FALSE(nothing->decode);
  const auto unknown = pass_gain(*session, "fuse_all", {}, {}, {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("There is no pass \"fuse_all\""));
  const auto none = pass_gain(*session, "fuse_qkv", {.rounds = 0}, {}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  std::stop_source stop;
  const auto stopped = pass_gain(
      *session, "fuse_qkv", {.prompt = 16, .gen = 2, .rounds = 500},
      [&stop](std::string_view, uint64_t done, uint64_t) {
        if (done == 1) stop.request_stop();
      },
      stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace orrery::api
