#include "engine/runtime/profiler.h"

#include <gmock/gmock.h>

#include <chrono>
#include <set>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

TEST(Profiler, NodesAddUpToTheStep) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  tiny_reply(scheduler, model, tiny_text(40, 1), 60);
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const ProfileSnapshot snapshot = model->profiler.snapshot(phase);
    EXPECT_EQ(snapshot.generation, phase == Phase::prefill ? 1U : 59U);
    ASSERT_FALSE(snapshot.nodes.empty());
    EXPECT_NEAR(snapshot.nodes_us / snapshot.step_us, 1.0, 1e-3);
    std::set<NodeId> seen;
    for (const NodeTime& node : snapshot.nodes) {
      EXPECT_TRUE(seen.insert(node.node).second);
      EXPECT_TRUE(snapshot.fused->find(node.node));
      EXPECT_LE(node.p50_us, node.p95_us);
      EXPECT_GE(node.mean_us, 0);
      EXPECT_EQ(node.runs, snapshot.generation);
    }
  }
}

TEST(Profiler, CostsAreThoseOfTheLastStep) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  tiny_reply(scheduler, model, tiny_text(40, 1), 4);
  const auto flops = [&](Phase phase) {
    double sum = 0;
    for (const NodeTime& node : model->profiler.snapshot(phase).nodes) sum += node.flops;
    return sum;
  };
  EXPECT_GT(flops(Phase::prefill), 20 * flops(Phase::decode));
}

TEST(Profiler, OffRecordsNothingAndClearForgets) {
  const TinyModel tiny;
  DeviceScheduler scheduler(2);
  const auto model = tiny.model();
  model->profiler.set_enabled(false);
  tiny_reply(scheduler, model, tiny_text(10, 1), 10);
  EXPECT_EQ(model->profiler.snapshot(Phase::decode).generation, 0U);
  model->profiler.set_enabled(true);
  tiny_reply(scheduler, model, tiny_text(10, 1), 10);
  EXPECT_EQ(model->profiler.snapshot(Phase::decode).generation, 9U);
  model->profiler.clear();
  EXPECT_TRUE(model->profiler.snapshot(Phase::decode).nodes.empty());
}

TEST(Profiler, PercentilesAndMeanFollowTheTimes) {
  const TinyModel tiny;
  const auto model = tiny.model();
  kernels::ThreadTeam team(1);
  auto plan = model->plan(*model->version(), compile::bucket_for(1, 1, 1), team);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  ops::StepContext context;
  context.tokens = context.sequences = context.outputs = 1;
  Profiler profiler;
  const size_t steps = plan.value()->steps.size();
  for (int run = 1; run <= 100; ++run) {
    std::vector<int64_t> times(steps + 1, 0);
    for (size_t i = 0; i < steps; ++i) times[i + 1] = times[i] + (i == 0 ? run * 1000 : 500);
    profiler.record(*plan.value(), Phase::decode, context, times);
  }
  const ProfileSnapshot snapshot = profiler.snapshot(Phase::decode);
  EXPECT_NEAR(snapshot.nodes[0].p50_us, 50.5, 1.0);
  EXPECT_NEAR(snapshot.nodes[0].p95_us, 95, 1.0);
  EXPECT_DOUBLE_EQ(snapshot.nodes[0].last_us, 100);
  EXPECT_GT(snapshot.nodes[0].mean_us, 1);
  EXPECT_LT(snapshot.nodes[0].mean_us, 100);
  EXPECT_NEAR(snapshot.nodes[1].mean_us, 0.5, 1e-6);
  EXPECT_GT(snapshot.overhead_share, 0);
}

}  // namespace
}  // namespace orrery::runtime
