// Which activations of a plan are stored in bf16: those that all their readers round, made by what can write
// them so.
#include <gmock/gmock.h>

#include <unordered_map>

#include "engine/passes/bypassed.h"
#include "engine/passes/passes.h"

namespace orrery::passes {
namespace {

using testing::HasSubstr;

constexpr ops::Rounding kReads{DType::bf16, DType::f32}, kWrites{DType::f32, DType::bf16};

/// source -> maker -> the readers that a test adds, all linears.
class StoreRounded : public testing::Test {
 protected:
  ValueId add(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
              graph::Attributes attributes = {}) {
    auto node = graph_.add_node({op, "", name, std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    return graph_.node(node.value()).outputs.front();
  }
  ValueId linear(const std::string& name, ValueId src) {
    return add("linear", name, {src, weight(name + "_weight")});
  }
  ValueId weight(const std::string& name) {
    return add("weight", name, {},
               {{"tensor", name}, {"dtype", std::string("bf16")}, {"shape", std::vector<int64_t>{8, 8}}});
  }
  ValueId source(const std::string& name) {
    return add("constant", name, {}, {{"value", 1.0}, {"shape", std::vector<int64_t>{2, 8}}});
  }
  NodeId node_of(ValueId value) const { return graph_.value(value).producer; }
  void rounds(ValueId value, ops::Rounding rounding) { roundings_[node_of(value)] = rounding; }

  Outcome run(const Options& options = {}) {
    before_ = std::make_shared<const graph::Graph>(graph_);
    auto outcome = run_plan_passes(before_, options, [this](const graph::Graph&, const graph::Node& node) {
      const auto it = roundings_.find(node.id);
      return it == roundings_.end() ? ops::Rounding{} : it->second;
    });
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().to_string());
    return outcome.ok() ? std::move(outcome).value() : Outcome{before_, {}};
  }
  DType stored(ValueId value) { return run().graph->value(value).type.dtype; }

  graph::Graph graph_{ops::registry()};
  graph::GraphVersion before_;
  std::unordered_map<NodeId, ops::Rounding> roundings_;
  ValueId made_ = linear("maker", source("x"));
};

TEST_F(StoreRounded, WhatEveryReaderRounds) {
  const ValueId a = linear("a", made_), b = linear("b", made_);
  graph_.set_outputs({a, b});
  rounds(made_, kWrites), rounds(a, kReads), rounds(b, kReads);
  const Outcome outcome = run();
  EXPECT_EQ(to_string(outcome.graph->value(made_).type), "bf16[2, 8]");
  EXPECT_EQ(graph::stored_as(outcome.graph->node(node_of(made_))), DType::bf16);
  EXPECT_THAT(print(*outcome.graph), HasSubstr("stored=bf16}  # maker bf16[2, 8]"));
  EXPECT_EQ(outcome.graph->value(a).type.dtype, DType::f32) << "what it makes has its own type";
  EXPECT_EQ(outcome.graph->order(), graph_.order()) << "the same nodes";
  EXPECT_EQ(before_->value(made_).type.dtype, DType::f32) << "the graph of the version is as it was";
  EXPECT_TRUE(verify(*outcome.graph).empty());
  const Bindings bindings;
  EXPECT_EQ(outcome.graph->cost(node_of(made_), bindings).bytes,
            before_->cost(node_of(made_), bindings).bytes - 2 * 8 * 2);
  EXPECT_EQ(outcome.graph->cost(node_of(a), bindings).bytes,
            before_->cost(node_of(a), bindings).bytes - 2 * 8 * 2);
}

TEST_F(StoreRounded, IsAPassLikeTheOthers) {
  const ValueId a = linear("a", made_);
  graph_.set_outputs({a});
  rounds(made_, kWrites), rounds(a, kReads);
  Options options;
  options.snapshots = true;
  const Outcome on = run(options);
  ASSERT_EQ(on.records.size(), 1U);
  EXPECT_EQ(on.records[0].pass, "store_rounded");
  EXPECT_EQ(on.records[0].rewrites, 1);
  EXPECT_EQ(on.records[0].after->value(made_).type.dtype, DType::bf16);
  EXPECT_EQ(all_passes().back().name, "store_rounded");
  EXPECT_EQ(all_passes().back().stage, Stage::plan);

  options.disabled = {"store_rounded"};
  const Outcome off = run(options);
  EXPECT_TRUE(off.records[0].disabled);
  EXPECT_EQ(off.graph, before_) << "the same graph, not a copy of it";
  EXPECT_EQ(off.graph->value(made_).type.dtype, DType::f32);
}

TEST_F(StoreRounded, NotWhatOneReaderTakesAsItIs) {
  const ValueId a = linear("a", made_), b = linear("b", made_);
  graph_.set_outputs({a, b});
  rounds(made_, kWrites), rounds(a, kReads);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.graph, before_);
  EXPECT_EQ(outcome.records[0].rewrites, 0);
}

TEST_F(StoreRounded, NotWhatItsMakerCannotWrite) {
  const ValueId a = linear("a", made_);
  graph_.set_outputs({a});
  EXPECT_EQ(run().graph, before_) << "nothing rounds";
  rounds(a, kReads);
  EXPECT_EQ(stored(made_), DType::f32);
}

TEST_F(StoreRounded, NotAnOutputNorAnotherInputThanTheFirst) {
  const ValueId a = linear("a", made_);
  graph_.set_outputs({a, made_});
  rounds(made_, kWrites), rounds(a, kReads);
  EXPECT_EQ(stored(made_), DType::f32);
  const ValueId sum = add("add", "sum", {a, made_});
  graph_.set_outputs({sum});
  rounds(sum, kReads);
  EXPECT_EQ(stored(made_), DType::f32);
}

TEST_F(StoreRounded, AllThatAReaderTakesRoundedOrNone) {
  const ValueId key = linear("key", source("y")), value = linear("value", source("z"));
  const ValueId starts = add("input", "sequence_starts", {}, {{"name", std::string("sequence_starts")}});
  const ValueId attended = add("packed_attention", "attend", {made_, key, value, starts},
                               {{"heads", int64_t{2}}, {"kv_heads", int64_t{2}}, {"scale", 0.5}});
  graph_.set_outputs({attended});
  rounds(attended, {DType::bf16, DType::f32, 3});
  rounds(made_, kWrites), rounds(key, kWrites);
  EXPECT_EQ(stored(made_), DType::f32) << "value's maker cannot write it";
  rounds(value, kWrites);
  const Outcome outcome = run();
  for (const ValueId each : {made_, key, value})
    EXPECT_EQ(outcome.graph->value(each).type.dtype, DType::bf16);
  EXPECT_EQ(outcome.graph->value(attended).type.dtype, DType::f32);
  EXPECT_TRUE(verify(*outcome.graph).empty());
}

TEST_F(StoreRounded, AllOutputsOfANodeOrNone) {
  const ValueId fused =
      add("fused_linear", "fused", {source("y"), weight("w0"), weight("w1")}, {{"segments", int64_t{2}}});
  const ValueId other = graph_.node(node_of(fused)).outputs[1];
  const ValueId a = linear("a", fused), b = linear("b", other);
  graph_.set_outputs({a, b});
  rounds(fused, kWrites), rounds(a, kReads);
  EXPECT_EQ(stored(fused), DType::f32);
  rounds(b, kReads);
  EXPECT_EQ(stored(fused), DType::bf16);
  EXPECT_EQ(stored(other), DType::bf16);
}

TEST_F(StoreRounded, AChainOfMakersThatAreReaders) {
  const ValueId middle = linear("middle", made_), last = linear("last", middle);
  graph_.set_outputs({last});
  rounds(made_, kWrites), rounds(middle, {DType::bf16, DType::bf16}), rounds(last, kReads);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.records[0].rewrites, 2);
  EXPECT_EQ(outcome.graph->value(made_).type.dtype, DType::bf16);
  EXPECT_EQ(outcome.graph->value(middle).type.dtype, DType::bf16);
}

// Types fit every node of a graph. Those that no output needs have gone by then, unless that pass is off too.
TEST_F(StoreRounded, AReaderThatDoesNotRunHasASayWhileItIsThere) {
  const ValueId a = linear("a", made_);
  const ValueId dead = add("tanh", "bypassed", {made_});
  graph_.set_outputs({a});
  rounds(made_, kWrites), rounds(a, kReads);
  EXPECT_EQ(stored(made_), DType::f32);
  ASSERT_TRUE(graph_.remove_node(node_of(dead)).ok());
  EXPECT_EQ(stored(made_), DType::bf16);
}

// A transfer carries a value as it is: the kernel of its device rounds what it reads of the copy.
TEST_F(StoreRounded, NotWhatIsCarriedToAnotherDevice) {
  const ValueId copy = add("transfer", "carried", {made_}, {{"device", std::string("cuda:0")}});
  const ValueId a = linear("a", copy);
  graph_.set_outputs({a});
  rounds(made_, kWrites), rounds(copy, {DType::bf16, DType::bf16}), rounds(a, kReads);
  EXPECT_EQ(stored(made_), DType::f32);
  EXPECT_EQ(stored(copy), DType::f32);
  const auto refused = graph_.set_attribute(node_of(copy), "stored", std::string("bf16"));
  ASSERT_TRUE(refused.ok());
  const auto inferred = graph_.infer(node_of(copy));
  ASSERT_FALSE(inferred.ok());
  EXPECT_THAT(inferred.error().what, HasSubstr("carries a value as it is"));
}

TEST_F(StoreRounded, WhatABypassedNodeReadIsDrawnRoundedToo) {
  const ValueId activated = add("gelu", "gelu", {made_});
  const ValueId a = linear("a", activated), dead = add("tanh", "bypassed", {activated});
  graph_.set_outputs({a});
  const graph::Graph model = graph_;
  ASSERT_TRUE(graph_.remove_node(node_of(dead)).ok());
  auto fused = run_passes(graph_, {});
  ASSERT_TRUE(fused.ok());
  graph_ = *fused->graph;
  const ValueId both = graph_.node(graph_.find_path("a")).inputs[0];
  ASSERT_NE(both, activated) << "linear and gelu are one node";
  rounds(both, kWrites), rounds(a, kReads);
  const graph::GraphVersion drawn = with_bypassed(run().graph, model);
  EXPECT_EQ(drawn->value(both).type.dtype, DType::bf16);
  EXPECT_EQ(drawn->node(drawn->find_path("bypassed")).inputs, std::vector{both});
}

}  // namespace
}  // namespace orrery::passes
