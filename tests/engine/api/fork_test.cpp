// What could be, tried beside what is: sessions over the same weights, and what edits cost by measure.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;

constexpr const char* kScored =
    "The capital of France is Paris, and that of Italy is Rome. Both lie on a river.";

edit::Edit edit_of(const std::string& words) { return edit::parse_edit(words).value(); }

std::shared_ptr<Session> forked(const Session& session, const Fork& otherwise) {
  const auto fork = session.fork(otherwise, {});
  EXPECT_TRUE(fork.ok()) << (fork.ok() ? "" : fork.error().to_string());
  return fork.ok() ? *fork : nullptr;
}

double nll(Session& session) {
  const auto score = session.score(kScored, 0, {});
  EXPECT_TRUE(score.ok()) << (score.ok() ? "" : score.error().to_string());
  return score.ok() ? score->nll_per_token : 0;
}

class ForkTest : public testing::Test {
 protected:
  void SetUp() override {
    session = open_or_fail(smollm2());
    ASSERT_TRUE(session);
  }
  std::shared_ptr<Session> session;
};

TEST_F(ForkTest, TriesEditsBesideTheChat) {
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 4), {}, {}).ok());
  const int64_t used = session->context_used();
  const size_t derived = session->derived_weights().size();
  const double before = nll(*session);
  const auto fork = forked(*session, {.edits = {edit_of("bypass scope=layers.3")}});
  ASSERT_TRUE(fork);
  EXPECT_EQ(fork->edits().size(), 1U);
  EXPECT_EQ(fork->context_used(), 0);
  const double tried = nll(*fork);
  EXPECT_NE(tried, before);
  EXPECT_TRUE(session->edits().empty());
  EXPECT_EQ(session->context_used(), used);
  EXPECT_EQ(session->derived_weights().size(), derived) << "nothing was packed anew";
  EXPECT_EQ(nll(*session), before);
  ASSERT_TRUE(session->apply(edit_of("bypass scope=layers.3")).ok());
  EXPECT_EQ(nll(*session), tried) << "the fork told what the edit does";
}

TEST_F(ForkTest, BeginsWithTheHistoryAndGoesItsOwnWay) {
  ASSERT_TRUE(session->apply(edit_of("bypass scope=layers.3")).ok());
  const auto fork = forked(*session, {.edits = {edit_of("bypass scope=layers.4")}});
  ASSERT_TRUE(fork);
  EXPECT_EQ(fork->recipe().size(), 2U);
  ASSERT_TRUE(session->undo().ok());
  EXPECT_EQ(fork->recipe().size(), 2U);
  ASSERT_TRUE(fork->jump_to(0).ok());
  EXPECT_EQ(nll(*fork), nll(*session));
}

TEST_F(ForkTest, ComputesAsItIsAsked) {
  const auto fork = forked(*session, {.precision = "exact", .fusion = false});
  ASSERT_TRUE(fork);
  EXPECT_EQ(fork->options().precision, "exact");
  EXPECT_FALSE(fork->state()->fusion);
  const auto plan = fork->plan(Phase::decode);
  ASSERT_TRUE(plan.ok());
  for (const PlanStep& step : plan->steps)
    EXPECT_TRUE(step.computes.empty() || step.computes == "float32") << step.path;
  EXPECT_NEAR(nll(*fork), nll(*session), 0.02);
  EXPECT_TRUE(session->state()->fusion);
}

TEST_F(ForkTest, IsRefusedWhereAnEditIs) {
  const auto fork = session->fork({.edits = {edit_of("bypass scope=layers.99")}}, {});
  ASSERT_FALSE(fork.ok());
  EXPECT_THAT(fork.error().to_string(), HasSubstr("layers.99"));
  EXPECT_FALSE(session->fork({.precision = "int3"}, {}).ok());
  EXPECT_FALSE(session->fork({.disabled_passes = std::set<std::string>{"no-such-pass"}}, {}).ok());
}

TEST_F(ForkTest, MeasuredCostsAreThoseOfAForkWithTheEdits) {
  const std::vector<edit::Edit> edits{edit_of("bypass scope=layers.12"), edit_of("bypass scope=layers.20")};
  const auto change = session->measure(edits, kScored, {});
  ASSERT_TRUE(change.ok()) << change.error().to_string();
  const auto fork = forked(*session, {.edits = edits});
  ASSERT_TRUE(fork && change->nll_before && change->nll_after);
  EXPECT_NEAR(*change->nll_before, nll(*session), 2e-3);
  EXPECT_NEAR(*change->nll_after, nll(*fork), 2e-3);
  ASSERT_EQ(change->kl_by_position.size(), static_cast<size_t>(change->positions));
  const double sum = std::accumulate(change->kl_by_position.begin(), change->kl_by_position.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(change->positions), *change->kl, 1e-5);
  EXPECT_GT(*change->tokens_per_second_after, 0);
  ASSERT_EQ(change->memory.size(), 1U);
  EXPECT_LT(change->memory[0].after.weights, change->memory[0].before.weights);
}

TEST_F(ForkTest, MeasuresNoOtherVocabulary) {
  const auto change = session->measure({edit_of("set node=sampler.sample attribute=top_k value=3")}, "a", {});
  ASSERT_TRUE(change.ok()) << change.error().to_string();
  EXPECT_FALSE(change->nll_after) << "one token foretells none that is there";
  EXPECT_EQ(*change->kl, 0);
}

}  // namespace
}  // namespace orrery::api
