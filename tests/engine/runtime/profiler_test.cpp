#include "engine/runtime/profiler.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

size_t steps_of(const Model& model, Phase phase) { return model.profiler.snapshot(phase).runs; }

TEST(Profiler, TheTimesOfEveryNodeInEveryRunAreKept) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  tiny_reply(scheduler, model, tiny_text(40, 1), 60);
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const ProfileSnapshot snapshot = model->profiler.snapshot(phase);
    EXPECT_EQ(snapshot.runs, phase == Phase::prefill ? 1U : 59U);
    EXPECT_EQ(snapshot.tokens, phase == Phase::prefill ? 40 : 1);
    EXPECT_EQ(snapshot.fused, model->version()->fused);
    EXPECT_EQ(snapshot.model, model->version()->model);
    ASSERT_FALSE(snapshot.nodes.empty());
    ASSERT_EQ(snapshot.times.size(), snapshot.nodes.size() * snapshot.runs);
    ASSERT_EQ(snapshot.costs.size(), snapshot.nodes.size());
    std::set<NodeId> seen;
    for (const NodeId node : snapshot.nodes) {
      EXPECT_TRUE(seen.insert(node).second);
      EXPECT_TRUE(snapshot.fused->find(node));
    }
    for (const int64_t time : snapshot.times) EXPECT_GT(time, 0);
    EXPECT_GT(snapshot.overhead_share, 0);
  }
}

TEST(Profiler, LatenciesAreThoseThatThePersonIsTold) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  const TinyReply reply = tiny_reply(scheduler, model, tiny_text(40, 1), 100);
  const std::vector<int64_t> told = model->profiler.snapshot(Phase::decode).latencies;
  ASSERT_EQ(told.size(), Profiler::kRuns) << "the last of 99";
  for (size_t i = 0; i < told.size(); ++i)
    EXPECT_NEAR(static_cast<double>(told[i]) * 1e-6, reply.step_ms[reply.step_ms.size() - told.size() + i],
                1e-5);
  EXPECT_EQ(model->profiler.snapshot(Phase::prefill).latencies.size(), 1U);
}

TEST(Profiler, CostsAreThoseOfTheLastStep) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  tiny_reply(scheduler, model, tiny_text(40, 1), 4);
  const auto flops = [&](Phase phase) {
    double sum = 0;
    for (const graph::Cost& cost : model->profiler.snapshot(phase).costs) sum += cost.flops;
    return sum;
  };
  EXPECT_GT(flops(Phase::prefill), 20 * flops(Phase::decode));
}

TEST(Profiler, OffMeasuresNoNodesAndForgetsThoseMeasured) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  tiny_reply(scheduler, model, tiny_text(10, 1), 10);
  EXPECT_EQ(steps_of(*model, Phase::decode), 9U);
  model->profiler.set_enabled(false);
  EXPECT_EQ(steps_of(*model, Phase::decode), 0U);
  tiny_reply(scheduler, model, tiny_text(10, 1), 10);
  EXPECT_EQ(steps_of(*model, Phase::decode), 0U);
  EXPECT_EQ(model->profiler.snapshot(Phase::decode).latencies.size(), 18U) << "latencies go on";
  model->profiler.set_enabled(true);
  tiny_reply(scheduler, model, tiny_text(10, 1), 10);
  EXPECT_EQ(steps_of(*model, Phase::decode), 9U);
}

TEST(Profiler, AVersionBeginsWithEmptyTables) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  tiny_reply(scheduler, model, tiny_text(10, 1), 10);
  const uint64_t generation = model->profiler.generation(Phase::decode);
  model->set_version(TinyModel::version(tiny.graph({1})));
  EXPECT_NE(model->profiler.generation(Phase::decode), generation) << "readers see that it changed";
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    EXPECT_EQ(steps_of(*model, phase), 0U);
    EXPECT_THAT(model->profiler.snapshot(phase).latencies, IsEmpty());
  }
  tiny_reply(scheduler, model, tiny_text(10, 1), 5);
  EXPECT_EQ(model->profiler.snapshot(Phase::decode).fused, model->version()->fused);
  EXPECT_EQ(steps_of(*model, Phase::decode), 4U);
}

/// A plan of one token, and a profiler that follows its version.
struct OneTokenPlan {
  TinyModel tiny;
  std::shared_ptr<Model> model = tiny.model();
  kernels::ThreadTeam team{1};
  std::shared_ptr<const compile::Plan> plan;
  Profiler profiler;

  OneTokenPlan() {
    auto made = model->plan(*model->version(), compile::bucket_for(1, 1, 1), team);
    if (made.ok()) plan = made.value();
    profiler.begin(model->version()->model, model->version()->fused);
  }
  /// Every node takes `microseconds(node)`.
  template <class Microseconds>
  void record(Phase phase, Microseconds&& microseconds, int32_t length = 0) {
    std::vector<TimeSpan> times(plan->steps.size());
    int64_t now = 0;
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      times[i] = {now, now + static_cast<int64_t>(microseconds(i)) * 1000};
      now = times[i].end;
    }
    ops::StepContext context;
    context.tokens = context.sequences = context.outputs = 1;
    if (length > 0) context.kv_lengths = &length;
    profiler.record(*plan, phase, context, times);
  }
  std::vector<int64_t> microseconds_of(size_t node, Phase phase) const {
    const ProfileSnapshot snapshot = profiler.snapshot(phase);
    std::vector<int64_t> times(snapshot.runs);
    for (size_t run = 0; run < times.size(); ++run)
      times[run] = snapshot.times[node * snapshot.runs + run] / 1000;
    return times;
  }
  graph::Cost cost_of(std::string_view op, Phase phase) const {
    const ProfileSnapshot snapshot = profiler.snapshot(phase);
    for (size_t i = 0; i < snapshot.nodes.size(); ++i)
      if (snapshot.fused->node(snapshot.nodes[i]).op->name == op) return snapshot.costs[i];
    ADD_FAILURE() << op;
    return {};
  }
};

TEST(Profiler, RunsAreKeptOldestFirstAndPhasesApart) {
  OneTokenPlan one;
  ASSERT_TRUE(one.plan);
  for (int run = 1; run <= 3; ++run)
    one.record(Phase::decode, [&](size_t node) { return node == 0 ? run : 7; });
  one.record(Phase::prefill, [](size_t) { return 500; });
  EXPECT_THAT(one.microseconds_of(0, Phase::decode), ElementsAre(1, 2, 3));
  EXPECT_THAT(one.microseconds_of(1, Phase::decode), ElementsAre(7, 7, 7));
  EXPECT_THAT(one.microseconds_of(0, Phase::prefill), ElementsAre(500));
  for (int run = 4; run <= 100; ++run) one.record(Phase::decode, [&](size_t) { return run; });
  const std::vector<int64_t> kept = one.microseconds_of(0, Phase::decode);
  ASSERT_EQ(kept.size(), Profiler::kRuns);
  EXPECT_EQ(kept.front(), 100 - static_cast<int64_t>(Profiler::kRuns) + 1);
  EXPECT_EQ(kept.back(), 100);
}

TEST(Profiler, WhatStillRunsOnAnotherVersionIsNotRecorded) {
  OneTokenPlan one;
  ASSERT_TRUE(one.plan);
  one.profiler.begin(one.model->version()->model, TinyModel::version(one.tiny.graph({1}))->fused);
  one.record(Phase::decode, [](size_t) { return 5; });
  one.profiler.record_latency(*one.plan, Phase::decode, 4);
  EXPECT_EQ(one.profiler.snapshot(Phase::decode).runs, 0U);
  EXPECT_THAT(one.profiler.snapshot(Phase::decode).latencies, IsEmpty());
}

TEST(Profiler, AttentionReadsTheContextThatIsThere) {
  OneTokenPlan one;
  ASSERT_TRUE(one.plan);
  const auto record = [&](Phase phase, int32_t length) {
    one.record(
        phase, [](size_t) { return 500; }, length);
    return one.cost_of("attention", phase);
  };
  // A query and a result of 64 floats; a key and a value of 2 x 16 floats for each token of the context.
  const auto bytes = [](double context) { return 2 * 64 * 4 + context * 2 * 2 * 16 * 4; };
  EXPECT_DOUBLE_EQ(record(Phase::decode, 100).bytes, bytes(100));
  const graph::Cost mean = record(Phase::decode, 200);
  EXPECT_DOUBLE_EQ(mean.bytes, bytes(150)) << "the mean of the runs";
  EXPECT_DOUBLE_EQ(mean.flops, 4 * 64 * 150 + 5 * 4 * 150);
  EXPECT_DOUBLE_EQ(record(Phase::prefill, 100).bytes, bytes(100));
  EXPECT_DOUBLE_EQ(record(Phase::prefill, 30).bytes, bytes(30)) << "a prefill: the last step";
  EXPECT_DOUBLE_EQ(one.cost_of("kv_append", Phase::prefill).bytes, 2 * 32 * 4 + 2 * 32 * 4);
}

}  // namespace
}  // namespace orrery::runtime
