#include "engine/compile/plan.h"

#include <gmock/gmock.h>

#include <set>

#include "engine/compile/arena.h"
#include "engine/compile/states.h"
#include "engine/runtime/devices.h"
#include "tests/engine/runtime/placed.h"

namespace orrery::compile {
namespace {

using runtime::TinyModel;

class PlanTest : public testing::Test {
 protected:
  std::shared_ptr<const Plan> plan(const graph::GraphVersion& graph, int64_t tokens) {
    Options options;
    options.bucket = bucket_for(tokens, 1, 1);
    options.precision = kernels::Precision::exact;
    auto plan = compile(graph, *tiny_.weights, team_, options);
    EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().to_string());
    return plan.ok() ? plan.value() : nullptr;
  }

  TinyModel tiny_;
  kernels::ThreadTeam team_{2};
};

TEST_F(PlanTest, EveryLiveNodeIsOneStepInOrder) {
  const auto graph = TinyModel::version(tiny_.graph())->fused;
  const auto compiled = plan(graph, 8);
  ASSERT_TRUE(compiled);
  std::vector<NodeId> expected;
  for (const NodeId id : graph->order())
    if (!graph->node(id).is_source()) expected.push_back(id);
  std::vector<NodeId> steps;
  for (const Step& step : compiled->steps) {
    steps.push_back(step.node);
    EXPECT_FALSE(step.kernel.empty()) << step.op;
    for (const kernels::Refusal& refusal : step.refused)
      EXPECT_FALSE(refusal.reason.empty()) << refusal.kernel;
  }
  EXPECT_EQ(steps, expected);
  EXPECT_EQ(compiled->states.size(), 2U);
  EXPECT_EQ(compiled->output_slots.size(), graph->outputs().size());
}

TEST_F(PlanTest, DeadNodesAreNoSteps) {
  auto graph = std::make_shared<graph::Graph>(*tiny_.graph());
  const ValueId input = graph->node(graph->find_path("inputs.token_ids")).outputs[0];
  const ValueId table = graph->node(graph->find_path("weights.embedding")).outputs[0];
  auto dead = graph->add_node({"embedding", "", "unused", {}, {input, table}, {}, {}});
  ASSERT_TRUE(dead.ok()) << dead.error().to_string();
  const auto compiled = plan(graph, 4);
  ASSERT_TRUE(compiled);
  for (const Step& step : compiled->steps) EXPECT_NE(step.node, dead.value());
}

TEST_F(PlanTest, NodesOnTheCardMakeSegmentsWithTheTransfersAroundThem) {
  const auto card = runtime::open_device(0);
  ASSERT_TRUE(card.ok()) << card.error().to_string();
  Options options;
  options.bucket = bucket_for(4, 1, 1);
  options.cards = {card.value()};
  const auto version = runtime::placed_version(tiny_.graph(), {{"layers.1", "cuda:0"}}, "cpu");
  const auto compiled = compile(version->fused, *tiny_.weights, team_, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const Plan& plan = *compiled.value();
  size_t end = 0;
  std::vector<std::string> sides;
  for (const Segment& segment : plan.segments) {
    EXPECT_EQ(segment.begin, end);
    EXPECT_LT(segment.begin, segment.end);
    end = segment.end;
    sides.push_back(to_string(segment.device));
    for (size_t i = segment.begin; i < segment.end; ++i) {
      const Step& step = plan.steps[i];
      const bool there = segment.device == kernels::cuda_id(0);
      EXPECT_EQ(step.kernel.starts_with("cuda.test.") || step.kernel.starts_with("transfer."), there);
      EXPECT_EQ(step.transfer.has_value(), !step.run) << step.kernel;
      EXPECT_EQ(step.kernel == "transfer.to_host", step.transfer && step.device.is_cpu());
    }
  }
  EXPECT_EQ(end, plan.steps.size());
  EXPECT_THAT(sides, testing::ElementsAre("cpu", "cuda:0", "cpu"));
  EXPECT_GT(plan.host_arena_bytes, 0U);
  ASSERT_EQ(plan.cards.size(), 1U);
  EXPECT_GT(plan.cards[0].arena_bytes, 0U);
  for (const OutputSlot& output : plan.output_slots) {
    if (output.slot.kind != ops::Slot::Kind::arena) continue;
    EXPECT_EQ(output.device, kernels::kCpuId);
  }
}

TEST_F(PlanTest, AValueOfTheOtherSideIsRefused) {
  const auto card = runtime::open_device(0);
  ASSERT_TRUE(card.ok());
  auto graph = std::make_shared<graph::Graph>(*tiny_.graph());
  ASSERT_TRUE(graph->set_attribute(graph->find_path("layers.0.query"), "device", std::string("cuda:0")).ok());
  Options options;
  options.bucket = bucket_for(1, 1, 1);
  options.cards = {card.value()};
  const auto compiled = compile(graph, *tiny_.weights, team_, options);
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().to_string(),
              testing::AllOf(testing::HasSubstr("layers.0.query"), testing::HasSubstr("no transfer")));
}

TEST_F(PlanTest, LargerBucketsNeedMoreArena) {
  const auto graph = tiny_.graph();
  EXPECT_GT(plan(graph, 64)->host_arena_bytes, plan(graph, 1)->host_arena_bytes);
  EXPECT_TRUE(plan(graph, 64)->cards.empty()) << "nothing lies on a card";
}

TEST_F(PlanTest, RowsAfterTheChosenAreNamed) {
  const auto compiled = plan(tiny_.graph(), 8);
  ASSERT_TRUE(compiled);
  std::set<std::string> ends;
  for (const Step& step : compiled->steps) {
    for (const std::string& row : step.after) EXPECT_NE(row, step.kernel);
    ends.insert(step.after.empty() ? step.kernel : step.after.back());
  }
  EXPECT_THAT(ends, testing::Each(testing::HasSubstr("ref"))) << "the last row of each op is the reference";
}

TEST_F(PlanTest, AMissingWeightIsAnErrorThatNamesTheNode) {
  auto graph = std::make_shared<graph::Graph>(*tiny_.graph());
  ASSERT_TRUE(graph->set_attribute(graph->find_path("weights.head"), "tensor", std::string("gone")).ok());
  Options options;
  options.bucket = bucket_for(1, 1, 1);
  const auto compiled = compile(graph, *tiny_.weights, team_, options);
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().to_string(), testing::HasSubstr("gone"));
}

TEST_F(PlanTest, AStopRequestEndsItBetweenNodes) {
  std::stop_source stop;
  Options options;
  options.bucket = bucket_for(1, 1, 1);
  options.stop = stop.get_token();
  const auto compiled = compile(tiny_.graph(), *tiny_.weights, team_, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_FALSE(compiled.value()->options.stop.stop_possible()) << "a plan outlives who asked for it";
  stop.request_stop();
  const auto stopped = compile(tiny_.graph(), *tiny_.weights, team_, options);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

TEST_F(PlanTest, StatesKeepTheirSourceThroughPasses) {
  const auto version = TinyModel::version(tiny_.graph());
  const auto drawn = states_of(*version->model), fused = states_of(*version->fused);
  ASSERT_TRUE(drawn.ok());
  ASSERT_TRUE(fused.ok());
  ASSERT_EQ(drawn.value().size(), 2U);
  ASSERT_EQ(fused.value().size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(drawn.value()[i].source, fused.value()[i].source);
    EXPECT_EQ(drawn.value()[i].form.kv_heads, TinyModel::kKvHeads);
    EXPECT_TRUE(drawn.value()[i].last.valid());
  }
  EXPECT_NE(version->states[0].hash, version->states[1].hash);
}

TEST_F(PlanTest, OutputsLiveToTheEnd) {
  const auto graph = tiny_.graph();
  const auto live = liveness(*graph, bucket_for(4, 1, 1));
  ASSERT_TRUE(live.ok());
  const int end = static_cast<int>(live.value().steps.size());
  int kept = 0;
  for (size_t i = 0; i < live.value().values.size(); ++i) kept += live.value().lifetimes[i].last == end;
  EXPECT_EQ(kept, 2) << "the tokens and the logits";
}

}  // namespace
}  // namespace orrery::compile
