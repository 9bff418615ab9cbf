// Two sides by the nodes of the graph that is drawn: the model graph, and a fused graph made of it.
#include "ui/session/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/fake_session.h"
#include "ui/graph/heat_model.h"
#include "ui/session/scope_values.h"

namespace orrery::ui::testing {
namespace {

api::NodeComparison row(const std::string& node, double a, double b, double nmse) {
  return {node, {}, {}, a, b, false, api::Difference{nmse, nmse, 1}};
}

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    api::CompareResult result;
    result.nodes = {row("layers.0.norm", 10, 5, 0), row("layers.0.proj", 30, 5, 0.2),
                    row("layers.0.residual", 8, 2, 0.1)};
    index_ = std::make_unique<ComparisonIndex>(
        Comparison{std::make_shared<const api::CompareResult>(std::move(result)),
                   sideLooks({"CPU", "CUDA 0"}, {false, true})});
    // norm and proj become one node; residual keeps its own.
    graph::Graph fused = *model_;
    const graph::Node& proj = fused.node(fused.find_path("layers.0.proj"));
    const auto added = fused.add_node({"linear",
                                       "layers.0",
                                       "norm_proj",
                                       {},
                                       proj.inputs,
                                       {{id("layers.0.norm"), 0.2}, {proj.id, 0.8}},
                                       {}});
    both_ = added.value();
    fused_ = std::make_shared<const graph::Graph>(std::move(fused));
  }
  NodeId id(const std::string& path) const { return model_->find_path(path); }

  graph::GraphVersion model_ = fakeGraph(1), fused_;
  NodeId both_;
  std::unique_ptr<ComparisonIndex> index_;
};

TEST_F(ComparisonTest, AFusedNodeHasTheSumOfItsOriginsAndTheirLargestDifference) {
  const SideFacts facts = index_->of(*fused_, *model_, both_);
  EXPECT_DOUBLE_EQ(facts.aUs, 40);
  EXPECT_DOUBLE_EQ(facts.bUs, 10);
  ASSERT_TRUE(facts.difference);
  EXPECT_DOUBLE_EQ(facts.difference->nmse, 0.2);
}

TEST_F(ComparisonTest, ANodeThatIsNotFusedIsFoundByItsPath) {
  EXPECT_DOUBLE_EQ(index_->of(*fused_, *model_, id("layers.0.residual")).aUs, 8);
  EXPECT_DOUBLE_EQ(index_->of(*model_, *model_, id("layers.0.norm")).bUs, 5);
  EXPECT_FALSE(index_->of(*model_, *model_, id("head")).difference) << "nothing is known of it";
}

TEST_F(ComparisonTest, APathLeadsToTheFusedNodeThatHoldsIt) {
  EXPECT_EQ(ComparisonIndex::find(*fused_, *model_, "layers.0.norm"), both_);
  EXPECT_EQ(ComparisonIndex::find(*fused_, *model_, "layers.0.residual"), id("layers.0.residual"));
  EXPECT_EQ(ComparisonIndex::find(*model_, *model_, "layers.0.norm"), id("layers.0.norm"));
  EXPECT_FALSE(ComparisonIndex::find(*fused_, *model_, "layers.7.norm").valid());
}

TEST_F(ComparisonTest, WhatWasMeasuredOfAScopeIsThatOfItsNodes) {
  ScopeValues values("KL");
  EXPECT_FALSE(values);
  values.add("layers.0", 0.5);
  values.add("layers.0.proj", 0.001);
  values.add("layers.0.proj", 0.002);
  EXPECT_EQ(values.of("layers.0.norm"), 0.5);
  EXPECT_EQ(values.of("layers.0.proj"), 0.002) << "the larger of two, and its own before its scope's";
  EXPECT_FALSE(values.of("head"));
  EXPECT_EQ(values.of(*fused_, *model_, both_), 0.5) << "the largest of what it was fused from";
  EXPECT_EQ(values.of(*model_, *model_, id("layers.0.proj")), 0.002);
  EXPECT_EQ(values.place(0.5), 1);
  EXPECT_EQ(values.place(0), 0);
  EXPECT_NEAR(values.place(std::sqrt(0.5 * values.low())), 0.5, 1e-9) << "logarithmic";
  values.add("head", std::numeric_limits<double>::infinity());
  EXPECT_EQ(values.high(), 0.5);
  EXPECT_EQ(values.place(std::numeric_limits<double>::infinity()), 1) << "as hot as can be";
  EXPECT_EQ(values.place(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(SideLooks, ADeviceHasItsColourAndTwoOfAKindAreToldApart) {
  const SideLooks turned = sideLooks({"CUDA 0", "CPU"}, {true, false});
  EXPECT_EQ(turned[0].token, Token::cuda);
  EXPECT_EQ(turned[1].token, Token::cpu);
  for (const bool card : {false, true}) {
    const SideLooks same = sideLooks({"A", "B"}, {card, card});
    EXPECT_NE(same[0].token, same[1].token);
    EXPECT_EQ(same[0].device, card) << "a circle is the CPU and a square a card, in either colour";
  }
}

TEST(SideLooks, ASideHasTheColourOfItsEndOfTheLegend) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const SideLooks looks = sideLooks({"A", "B"}, {a, b});
      HeatModel heat;
      heat.setSides(looks);
      EXPECT_EQ(heat.ends()[0].token, Token::cpu) << "the cold end of Theme::ratio(): " << a << b;
      EXPECT_EQ(heat.ends()[1].token, Token::cuda) << a << b;
      EXPECT_TRUE(a == b || looks[b].token == Token::cuda) << "a card has its own colour";
    }
}

}  // namespace
}  // namespace orrery::ui::testing
