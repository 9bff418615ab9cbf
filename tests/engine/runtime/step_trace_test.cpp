#include "engine/runtime/step_trace.h"

#include <gmock/gmock.h>

#include "engine/runtime/devices.h"
#include "engine/runtime/host_steps.h"
#include "tests/engine/runtime/placed.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StepTraceTest : public testing::Test {
 protected:
  std::vector<std::shared_ptr<const StepTrace::Step>> steps() {
    return model_->profiler.trace().kept().steps;
  }
  void reply(int64_t prompt, int64_t tokens) { tiny_reply(scheduler_, model_, tiny_text(prompt, 1), tokens); }

  TinyModel tiny_;
  DeviceScheduler scheduler_{2};
  std::shared_ptr<Model> model_ = tiny_.model();
};

TEST_F(StepTraceTest, OffItKeepsNothing) {
  reply(10, 5);
  EXPECT_THAT(steps(), IsEmpty());
}

TEST_F(StepTraceTest, StepsFollowEachOtherAndHoldTheirNodes) {
  model_->profiler.trace().set_on(true);
  const int64_t before = monotonic_ns();
  reply(10, 5);
  const auto kept = steps();
  ASSERT_EQ(kept.size(), 5U);
  int64_t time = before;
  for (const auto& step : kept) {
    EXPECT_GE(step->begin, time);
    ASSERT_TRUE(step->plan);
    ASSERT_EQ(step->times.size(), step->plan->nodes.size());
    int64_t last = step->begin;
    for (const TimeSpan& time : step->times) {
      EXPECT_GE(time.begin, last);
      EXPECT_GE(time.end, time.begin);
      last = time.end;
    }
    EXPECT_LE(last, step->end);
    EXPECT_LT(step->times.front().begin, last);
    EXPECT_EQ(step->plan->nodes.front().device, "cpu");
    EXPECT_TRUE(step->plan->graph->find(step->plan->nodes.front().node));
    time = step->end;
  }
  EXPECT_LE(time, monotonic_ns());
  EXPECT_EQ(kept[0]->phase, Phase::prefill);
  EXPECT_EQ(kept[0]->tokens, 10);
  EXPECT_EQ(kept[1]->phase, Phase::decode);
  EXPECT_EQ(kept[1]->plan, kept[2]->plan) << "the names of a plan are kept once";
  EXPECT_EQ(kept[1]->bindings.at(kContext), 11);
  EXPECT_EQ(kept[2]->bindings.at(kContext), 12) << "costs are of that step";
}

TEST_F(StepTraceTest, ACompileIsToldBeforeTheStepThatNeededIt) {
  model_->profiler.trace().set_on(true);
  reply(10, 4);
  const auto kept = steps();
  ASSERT_EQ(kept.size(), 4U);
  for (const size_t first : {0U, 1U}) {
    ASSERT_EQ(kept[first]->host.size(), 1U);
    EXPECT_STREQ(kept[first]->host[0].what, "compile");
    EXPECT_LT(kept[first]->host[0].begin, kept[first]->host[0].end);
    EXPECT_LE(kept[first]->host[0].end, kept[first]->begin);
  }
  EXPECT_THAT(kept[2]->host, IsEmpty());
}

TEST_F(StepTraceTest, NodesNameTheDeviceThatRanThem) {
  const auto card = open_device(0);
  ASSERT_TRUE(card.ok()) << card.error().to_string();
  model_ = std::make_shared<Model>(
      tiny_.weights, placed_version(tiny_.graph(), {{"layers.0", "cuda:0"}}, "cpu", {card.value()}),
      TinyModel::exact_options());
  model_->profiler.trace().set_on(true);
  reply(10, 20);
  std::map<std::string, int> ran;
  for (const auto& step : steps()) {
    if (!step->plan) continue;
    EXPECT_GT(step->times.front().begin, step->begin) << "on the clock of the program";
    EXPECT_LT(step->times.back().end, step->end);
    for (const StepTrace::Names::Node& node : step->plan->nodes) {
      ++ran[node.device];
      const std::string& scope = step->plan->graph->node(node.node).scope;
      const std::string asked = scope == "layers.0" ? "cuda:0" : "cpu";
      EXPECT_TRUE(node.device == asked || node.op == "transfer") << scope << " " << node.op;
    }
  }
  EXPECT_GT(ran["cpu"], 0);
  EXPECT_GT(ran["cuda:0"], 0);
  ASSERT_GE(steps().back()->host.size(), 3U);
  EXPECT_STREQ(steps().back()->host[0].what, "stage");
  EXPECT_STREQ(steps().back()->host[1].what, "launch");
  EXPECT_STREQ(steps().back()->host[2].what, "wait");
}

TEST_F(StepTraceTest, WithoutTheProfilerOnlyWholeSteps) {
  model_->profiler.set_enabled(false);
  model_->profiler.trace().set_on(true);
  reply(10, 3);
  ASSERT_EQ(steps().size(), 3U);
  for (const auto& step : steps()) {
    EXPECT_FALSE(step->plan);
    EXPECT_LT(step->begin, step->end);
  }
}

TEST_F(StepTraceTest, TurnedOffItKeepsTurnedOnItBeginsAnew) {
  StepTrace& trace = model_->profiler.trace();
  trace.set_on(true);
  reply(10, 3);
  trace.set_on(false);
  reply(10, 3);
  EXPECT_EQ(steps().size(), 3U);
  trace.set_on(true);
  EXPECT_THAT(steps(), IsEmpty());
}

TEST_F(StepTraceTest, OldStepsMakeRoom) {
  kernels::ThreadTeam team(1);
  const auto plan = model_->plan(*model_->version(), compile::bucket_for(1, 1, 1), team);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const size_t nodes = plan.value()->steps.size();
  const size_t room = StepTrace::kMostSpans / (nodes + 1);  // a step's span, its times
  StepTrace trace;
  trace.set_on(true);
  for (size_t i = 0; i < room + 10; ++i) {
    trace.begin_step();
    trace.add_nodes(*plan.value(), {}, std::vector<TimeSpan>(nodes, {monotonic_ns(), monotonic_ns()}));
    trace.end_step(Phase::decode, static_cast<int64_t>(i), 1);
  }
  const StepTrace::Kept kept = trace.kept();
  EXPECT_EQ(kept.steps.size(), room);
  EXPECT_EQ(kept.forgotten, 10U);
  EXPECT_EQ(kept.steps.front()->tokens, 10) << "the oldest went";
}

TEST_F(StepTraceTest, WhatAClockMovedOutOfTheStepIsHeldAtItsEdge) {
  kernels::ThreadTeam team(1);
  const auto plan = model_->plan(*model_->version(), compile::bucket_for(1, 1, 1), team);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  const size_t nodes = plan.value()->steps.size();
  StepTrace trace;
  trace.set_on(true);
  trace.begin_step();
  const int64_t now = monotonic_ns();
  std::vector<TimeSpan> times(nodes, {now, now});
  times.front().begin -= 1'000'000;
  times[2].begin -= 2'000'000;
  times.back().end += 1'000'000'000;
  trace.add_nodes(*plan.value(), {}, times);
  trace.end_step(Phase::decode, 1, 1);
  const auto step = trace.kept().steps.at(0);
  EXPECT_EQ(step->times.front().begin, step->begin);
  EXPECT_EQ(step->times[2].begin, step->times[1].end);
  EXPECT_EQ(step->times.back().end, step->end);
}

TEST_F(StepTraceTest, AStepThatFailedIsNotThere) {
  StepTrace trace;
  trace.set_on(true);
  trace.begin_step();
  trace.add_host("launch", 1, 2);
  trace.begin_step();
  trace.end_step(Phase::decode, 1, 1);
  trace.end_step(Phase::decode, 1, 1);
  ASSERT_EQ(trace.kept().steps.size(), 1U);
  EXPECT_THAT(trace.kept().steps[0]->host, IsEmpty());
}

}  // namespace
}  // namespace orrery::runtime
