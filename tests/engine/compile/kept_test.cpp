// Which activations a plan keeps in bf16: those that all their readers round, made by what can write them so.
#include "engine/compile/kept.h"

#include <gtest/gtest.h>

namespace orrery::compile {
namespace {

constexpr ops::Rounding kReads{DType::bf16, DType::f32}, kWrites{DType::f32, DType::bf16};

/// source -> maker -> the readers that a test adds.
class KeptTest : public ::testing::Test {
 protected:
  ValueId add(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
              graph::Attributes attributes = {}) {
    auto node = graph_.add_node({op, "", name, std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    return graph_.node(node.value()).outputs.front();
  }
  NodeId node_of(ValueId value) const { return graph_.value(value).producer; }
  ValueId source(const std::string& name) {
    const ValueId value = add("constant", name, {}, {{"value", 1.0}, {"shape", std::vector<int64_t>{2, 8}}});
    return value;
  }
  bool kept(ValueId value) const { return kept_types(graph_, roundings_).contains(value); }

  graph::Graph graph_{ops::registry()};
  Roundings roundings_;
  ValueId made_ = add("silu", "maker", {source("x")});
};

TEST_F(KeptTest, WhatEveryReaderRounds) {
  const ValueId a = add("relu", "a", {made_}), b = add("tanh", "b", {made_});
  graph_.set_outputs({a, b});
  roundings_ = {{node_of(made_), kWrites}, {node_of(a), kReads}, {node_of(b), kReads}};
  EXPECT_TRUE(kept(made_));
  EXPECT_EQ(kept_types(graph_, roundings_).at(made_), DType::bf16);
  EXPECT_EQ(kept_types(graph_, roundings_).size(), 1U);
}

TEST_F(KeptTest, NotWhatOneReaderTakesAsItIs) {
  const ValueId a = add("relu", "a", {made_}), b = add("tanh", "b", {made_});
  graph_.set_outputs({a, b});
  roundings_ = {{node_of(made_), kWrites}, {node_of(a), kReads}};
  EXPECT_FALSE(kept(made_));
}

TEST_F(KeptTest, NotWhatItsMakerCannotWrite) {
  const ValueId a = add("relu", "a", {made_});
  graph_.set_outputs({a});
  roundings_ = {{node_of(a), kReads}};
  EXPECT_FALSE(kept(made_));
}

TEST_F(KeptTest, NotAnOutputNorAnotherInputThanTheFirst) {
  const ValueId a = add("relu", "a", {made_});
  graph_.set_outputs({a, made_});
  roundings_ = {{node_of(made_), kWrites}, {node_of(a), kReads}};
  EXPECT_FALSE(kept(made_));
  const ValueId sum = add("add", "sum", {a, made_});
  graph_.set_outputs({sum});
  roundings_[node_of(sum)] = kReads;
  EXPECT_FALSE(kept(made_));
}

TEST_F(KeptTest, AReaderThatDoesNotRunHasNoSay) {
  const ValueId a = add("relu", "a", {made_});
  add("tanh", "bypassed", {made_});
  graph_.set_outputs({a});
  roundings_ = {{node_of(made_), kWrites}, {node_of(a), kReads}};
  EXPECT_TRUE(kept(made_));
}

}  // namespace
}  // namespace orrery::compile
