// What a session shows of values that are stored rounded: the types of the largest steps in the graph that
// runs, those of a phase in its plan, and none of it in the graph that is edited.
#include <gmock/gmock.h>

#include "engine/passes/passes.h"
#include "tests/engine/api/tiny_session.h"
#include "tests/engine/runtime/rounded_op.h"

namespace orrery::api {
namespace {

using runtime::type_made_by;

class StoredTypes : public testing::Test {
 protected:
  const runtime::RoundedOp op_;
  const runtime::TinyModel tiny_;
  const graph::GraphVersion graph_ = op_.graph_of(tiny_);
  GraphSession session_{graph_, tiny_.file, tiny_.weights, runtime::TinyModel::exact_options()};
};

TEST_F(StoredTypes, AreShownInTheGraphThatRuns) {
  const auto check = [&] {
    EXPECT_EQ(type_made_by(*session_->fused_graph(), "layers.0.first"), "bf16[tokens, 64]");
    EXPECT_EQ(type_made_by(*session_->fused_graph(), "layers.0.third"), "f32[tokens, 64]");
    EXPECT_EQ(type_made_by(*session_->model_graph(), "layers.0.first"), "f32[tokens, 64]");
    EXPECT_EQ(type_made_by(*session_->state()->version->fused, "layers.0.first"), "f32[tokens, 64]");
    EXPECT_TRUE(belongs_together(*session_->state()));
  };
  check();
  ASSERT_TRUE(session_->apply(edit_of("bypass scope=layers.1")).ok());
  check();
  EXPECT_TRUE(session_->fused_graph()->find_path("layers.1.out").valid()) << "dead, and drawn";
  ASSERT_TRUE(session_->undo().ok());
  check();
}

TEST_F(StoredTypes, AreThoseOfThePlan) {
  const auto prefill = session_->plan(Phase::prefill), decode = session_->plan(Phase::decode);
  ASSERT_TRUE(prefill.ok() && decode.ok());
  EXPECT_EQ(type_made_by(*prefill->graph, "layers.0.second"), "bf16[tokens, 64]");
  EXPECT_EQ(type_made_by(*decode->graph, "layers.0.second"), "f32[tokens, 64]") << "its kernel reads float32";
  EXPECT_EQ(prefill->passes.size(), passes::all_passes().size());
  EXPECT_EQ(prefill->passes.back().name, "store_rounded");
  EXPECT_EQ(prefill->passes.back().rewrites, 2);
  EXPECT_EQ(decode->passes.back().rewrites, 0);
  const auto bytes = [](const PlanReport& plan) {
    for (const PlanStep& step : plan.steps)
      if (step.path == "layers.0.second") return step.bytes;
    return 0.0;
  };
  EXPECT_EQ(bytes(*prefill), 64 * 64 * (2 + 2));
  EXPECT_EQ(bytes(*decode), 64 * (4 + 4));
}

// Whoever compares or looks up what ran goes by the version and by node ids.
TEST_F(StoredTypes, StepsAreMeasuredAndTheContextIsThatOfTheModelGraph) {
  session_.reply(runtime::tiny_text(40, 5), 3);
  const ProfilePtr read = session_->profile(Phase::prefill);
  EXPECT_EQ(read->fused_graph, session_->state()->version->fused);
  const NodeId second = session_->fused_graph()->find_path("layers.0.second");
  EXPECT_GT(read->measured(second, true).timing.us, 0);

  passes::Options without;
  without.disabled = {"store_rounded"};
  const auto plain =
      prepare_version(graph_, preparation_of(runtime::TinyModel::exact_options(), "cpu", without));
  ASSERT_TRUE(plain.ok()) << plain.error().to_string();
  EXPECT_EQ(type_made_by(*plain.value()->drawn, "layers.0.first"), "f32[tokens, 64]");
  const std::vector<runtime::StateLayout>& states = session_->state()->version->states;
  ASSERT_EQ(plain.value()->states.size(), states.size());
  for (size_t i = 0; i < states.size(); ++i) EXPECT_EQ(plain.value()->states[i].hash, states[i].hash);
}

}  // namespace
}  // namespace orrery::api
