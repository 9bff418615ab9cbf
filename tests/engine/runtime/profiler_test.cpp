#include "engine/runtime/profiler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <random>
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

struct OneTokenPlan {
  TinyModel tiny;
  std::shared_ptr<Model> model = tiny.model();
  kernels::ThreadTeam team{1};
  std::shared_ptr<const compile::Plan> plan;

  OneTokenPlan() {
    auto made = model->plan(*model->version(), compile::bucket_for(1, 1, 1), team);
    if (made.ok()) plan = made.value();
  }
  NodeTime time_of(const ProfileSnapshot& snapshot, std::string_view op) const {
    for (const NodeTime& time : snapshot.nodes)
      if (snapshot.fused->node(time.node).op->name == op) return time;
    ADD_FAILURE() << op;
    return {};
  }
};

TEST(Profiler, AttentionReadsTheContextThatIsThere) {
  const OneTokenPlan one;
  ASSERT_TRUE(one.plan);
  Profiler profiler;
  std::vector<int64_t> times(one.plan->steps.size() + 1, 500'000'000);  // half a second: weighs one half
  times[0] = 0;
  const auto record = [&](Phase phase, int32_t length) {
    ops::StepContext context;
    context.tokens = context.sequences = context.outputs = 1;
    context.kv_lengths = &length;
    profiler.record(*one.plan, phase, context, times);
    return one.time_of(profiler.snapshot(phase), "attention");
  };
  // A query and a result of 64 floats; a key and a value of 2 x 16 floats for each token of the context.
  const auto bytes = [](double context) { return 2 * 64 * 4 + context * 2 * 2 * 16 * 4; };
  EXPECT_DOUBLE_EQ(record(Phase::decode, 100).bytes, bytes(100));
  const NodeTime mean = record(Phase::decode, 200);
  EXPECT_DOUBLE_EQ(mean.bytes, bytes(150)) << "the mean of the steps, as the mean time";
  EXPECT_DOUBLE_EQ(mean.flops, 4 * 64 * 150 + 5 * 4 * 150);
  EXPECT_DOUBLE_EQ(record(Phase::prefill, 100).bytes, bytes(100));
  EXPECT_DOUBLE_EQ(record(Phase::prefill, 30).bytes, bytes(30)) << "a prefill: the last step";
  EXPECT_DOUBLE_EQ(one.time_of(profiler.snapshot(Phase::prefill), "kv_append").bytes,
                   2 * 32 * 4 + 2 * 32 * 4);
}

TEST(Profiler, PercentilesAreThoseOfTheSortedWindow) {
  const OneTokenPlan one;
  ASSERT_TRUE(one.plan);
  const size_t nodes = one.plan->steps.size();
  std::mt19937 random(5);
  ops::StepContext context;
  context.tokens = context.sequences = context.outputs = 1;
  for (const size_t runs : {1U, 2U, 3U, 20U, 255U, 256U, 300U}) {
    Profiler profiler;
    std::vector<std::vector<float>> seen(nodes);
    for (size_t run = 0; run < runs; ++run) {
      std::vector<int64_t> times(nodes + 1, 0);
      for (size_t i = 0; i < nodes; ++i) {  // from all alike to all different
        const auto ns = static_cast<int64_t>(1000 * (random() % (1U << (i % 16))));
        times[i + 1] = times[i] + ns;
        seen[i].push_back(static_cast<float>(static_cast<double>(ns) * 1e-3));
      }
      profiler.record(*one.plan, Phase::decode, context, times);
    }
    const ProfileSnapshot snapshot = profiler.snapshot(Phase::decode);
    for (size_t i = 0; i < nodes; ++i) {
      if (runs > 256) seen[i].erase(seen[i].begin(), seen[i].end() - 256);
      std::sort(seen[i].begin(), seen[i].end());
      const auto at = [&](double share) {
        return seen[i][static_cast<size_t>(share * static_cast<double>(seen[i].size() - 1) + 0.5)];
      };
      EXPECT_EQ(snapshot.nodes[i].p50_us, at(0.50)) << runs << " runs, node " << i;
      EXPECT_EQ(snapshot.nodes[i].p95_us, at(0.95)) << runs << " runs, node " << i;
    }
  }
}

}  // namespace
}  // namespace orrery::runtime
