// A plan whose values are stored in bf16: the types are in its graph, and its buffers, costs and kernels
// follow them; the numbers are those of the same plan without.
#include <gmock/gmock.h>

#include "engine/compile/arena.h"
#include "engine/compile/demand.h"
#include "tests/engine/runtime/rounded_op.h"

namespace orrery::compile {
namespace {

using runtime::TinyModel;
using runtime::type_made_by;
using testing::HasSubstr;

class StoredPlan : public testing::Test {
 protected:
  std::shared_ptr<const Plan> plan(int64_t tokens, passes::Options passes = {}) {
    Options options;
    options.bucket = bucket_for(tokens, 1, 1);
    options.precision = kernels::Precision::exact;
    options.passes = std::move(passes);
    const auto made = compile(fused_, *tiny_.weights, team_, options);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
    return made.ok() ? made.value() : nullptr;
  }
  std::shared_ptr<runtime::Model> model(passes::Options passes) {
    auto version = runtime::make_version({.model = model_, .fused = fused_, .passes = std::move(passes)});
    EXPECT_TRUE(version.ok());
    return std::make_shared<runtime::Model>(tiny_.weights, version.value(), TinyModel::exact_options());
  }
  runtime::TinyReply reply(const std::shared_ptr<runtime::Model>& model) {
    return runtime::tiny_reply(scheduler_, model, runtime::tiny_text(17, 3), 12);
  }

  TinyModel tiny_;
  kernels::ThreadTeam team_{2};
  runtime::DeviceScheduler scheduler_{2};
  const runtime::RoundedOp op_;
  graph::GraphVersion model_ = op_.graph_of(tiny_), fused_ = TinyModel::version(model_)->fused;
  const passes::Options off_{{"store_rounded"}, true, false};
};

TEST_F(StoredPlan, TypesAreInItsGraph) {
  const auto with = plan(16), without = plan(16, off_);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->fused, fused_);
  EXPECT_EQ(type_made_by(*with->graph, "layers.0.first"), "bf16[tokens, 64]");
  EXPECT_EQ(type_made_by(*with->graph, "layers.0.second"), "bf16[tokens, 64]");
  EXPECT_EQ(type_made_by(*with->graph, "layers.0.third"), "f32[tokens, 64]") << "others read it";
  EXPECT_EQ(with->graph->order(), fused_->order());
  ASSERT_EQ(with->passes.size(), 1U);
  EXPECT_EQ(with->passes[0].rewrites, 2);
  EXPECT_EQ(without->graph, fused_);
  EXPECT_TRUE(without->passes[0].disabled);
  const Bindings bindings{{kTokens, 16}, {kSequences, 1}, {kOutputs, 1}};
  const NodeId second = fused_->find_path("layers.0.second");
  EXPECT_EQ(with->graph->cost(second, bindings).bytes, fused_->cost(second, bindings).bytes / 2);
}

TEST_F(StoredPlan, ABucketWhoseRowsRoundNothingRunsTheFusedGraphItself) {
  const auto decode = plan(1);
  ASSERT_TRUE(decode);
  EXPECT_EQ(decode->graph, fused_);
}

TEST_F(StoredPlan, TheNumbersAreTheSame) {
  const runtime::TinyReply with = reply(model({})), without = reply(model(off_));
  EXPECT_EQ(with.ids, without.ids);
  EXPECT_EQ(with.logprobs, without.logprobs) << "bit for bit";
}

TEST_F(StoredPlan, AVersionSaysWhichPassesItsPlansHaveAndProfilesCountTheirTypes) {
  const auto bytes = [&](passes::Options passes) {
    const auto running = model(std::move(passes));
    reply(running);
    const runtime::ProfileSnapshot read = running->profiler.snapshot(runtime::Phase::prefill);
    const auto second = std::ranges::find(read.nodes, fused_->find_path("layers.0.second"));
    if (second == read.nodes.end()) return 0.0;
    return read.costs.at(static_cast<size_t>(second - read.nodes.begin())).bytes;
  };
  EXPECT_EQ(bytes({}), 17 * 64 * (2 + 2));
  EXPECT_EQ(bytes(off_), 17 * 64 * (4 + 4));
}

TEST_F(StoredPlan, BuffersAreAsLargeAsTheTypes) {
  const Bucket bucket = bucket_for(16, 1, 1);
  const auto with = graph_of_plan(fused_, plan(16)->options);
  ASSERT_TRUE(with.ok());
  const auto bytes = [&](const graph::Graph& graph, const std::string& path) {
    const Liveness live = liveness(graph, bucket).value();
    const ValueId value = graph.node(graph.find_path(path)).outputs[0];
    const auto at = std::find(live.values.begin(), live.values.end(), value) - live.values.begin();
    return live.lifetimes.at(static_cast<size_t>(at)).bytes;
  };
  EXPECT_EQ(bytes(*with->graph, "layers.0.first"), 16U * 64 * 2);
  EXPECT_EQ(bytes(*fused_, "layers.0.first"), 16U * 64 * 4);
  for (const passes::Options& passes : {passes::Options(), off_}) {
    DemandOptions options;
    options.precision = kernels::Precision::exact;
    options.passes = passes;
    options.threads = team_.size();
    const auto asked = demand_of(fused_, std::span(&bucket, 1), options);
    ASSERT_TRUE(asked.ok()) << asked.error().to_string();
    EXPECT_EQ(asked->arena_bytes, plan(16, passes)->host_arena_bytes);
  }
}

// What nobody checked the rows for: the lowering refuses, where a kernel would write past its buffer.
TEST_F(StoredPlan, WhatNoRowWritesIsRefused) {
  auto graph = std::make_shared<graph::Graph>(*fused_);
  const NodeId norm = graph->find_path("output.norm");
  ASSERT_TRUE(graph->set_attribute(norm, "stored", std::string("bf16")).ok());
  ASSERT_TRUE(graph->infer_types().ok());
  fused_ = graph;
  Options options;
  options.bucket = bucket_for(16, 1, 1);
  const auto made = compile(fused_, *tiny_.weights, team_, options);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().what, "No kernel here writes what a rms_norm makes as bf16");
}

TEST_F(StoredPlan, WhatNoRowReadsIsRefusedByAll) {
  auto graph = std::make_shared<graph::Graph>(*fused_);
  const ValueId logits = graph->node(graph->find_path("output.head")).inputs[0];
  const auto cast = graph->add_node({"cast",
                                     "output",
                                     "cast",
                                     {{"dtype", std::string("bf16")}},
                                     {logits},
                                     {},
                                     graph->find_path("output.head")});
  ASSERT_TRUE(cast.ok());
  ASSERT_TRUE(graph->set_input(graph->find_path("output.head"), 0, graph->node(*cast).outputs[0]).ok());
  fused_ = graph;
  Options options;
  options.bucket = bucket_for(16, 1, 1);
  options.precision = kernels::Precision::exact;  // rows that round read what is rounded
  const auto made = compile(fused_, *tiny_.weights, team_, options);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().what, HasSubstr("No CPU kernel can run this linear"));
  EXPECT_THAT(made.error().what, HasSubstr("cpu.reference: src is bf16, which it does not read"));
}

}  // namespace
}  // namespace orrery::compile
