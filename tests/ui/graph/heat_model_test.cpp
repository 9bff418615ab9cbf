// Sums and the scale behind the colours.
#include "ui/graph/heat_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/made_profile.h"
#include "tests/ui/graph/sample_graphs.h"

namespace orrery::ui {
namespace {

class HeatTest : public testing::Test {
 protected:
  void SetUp() override {
    scene = makeScene(samples::layeredGraph(4), {{kTokens, 1}}, {});
    heat.setScene(scene);
  }
  /// The same for all but those named by position.
  Figures figures(double us, const std::map<size_t, double>& others = {}, size_t runs = 1,
                  api::Phase phase = api::Phase::decode) const {
    api::testing::MadeProfile made(runs, phase);
    for (size_t i = 0; i < scene->nodes.size(); ++i) {
      const auto other = others.find(i);
      made.add(scene->nodes[i].id, other == others.end() ? us : other->second, {}, true);
    }
    return {made.make(), false, {}, {}};
  }
  Figures sides(double a, double b) const {
    Figures all;
    for (const SceneNode& node : scene->nodes) all.sides[node.id] = {a, b, false};
    return all;
  }
  Span whole() const { return {0, static_cast<int>(scene->nodes.size())}; }

  std::shared_ptr<const SceneGraph> scene;
  HeatModel heat;
};

TEST_F(HeatTest, NothingIsKnownBeforeARun) {
  EXPECT_FALSE(heat.measured());
  EXPECT_TRUE(std::isnan(heat.us(whole())));
  EXPECT_TRUE(std::isnan(heat.heat({0, 1})));
  EXPECT_TRUE(heat.text({0, 1}).isEmpty());
}

TEST_F(HeatTest, GroupsAreSumsAndStacksAreColouredByTheirMean) {
  heat.setFigures(figures(10));
  const double nodes = static_cast<double>(scene->nodes.size());
  EXPECT_DOUBLE_EQ(heat.us(whole()), 10 * nodes);
  EXPECT_DOUBLE_EQ(heat.us({1, 5}), 40);
  EXPECT_DOUBLE_EQ(heat.share({1, 5}), 4 / nodes);
  EXPECT_DOUBLE_EQ(heat.share(whole()), 1);
  EXPECT_EQ(heat.text({1, 5}), "40.0 µs");
  EXPECT_DOUBLE_EQ(heat.heat({1, 9}, 8), heat.heat({0, 1}));
}

TEST_F(HeatTest, AGroupIsSummedInEachRunBeforeTheMedianIsTaken) {
  heat.setFigures(figures(10, {{0, 1000}}, 3));
  EXPECT_DOUBLE_EQ(heat.us({1, 2}), 11) << "of 10, 11 and 12";
  EXPECT_DOUBLE_EQ(heat.us({0, 2}), 1111);
  heat.setFigures(figures(10, {}, 3, api::Phase::prefill));
  EXPECT_DOUBLE_EQ(heat.us({1, 3}), 24) << "of a prefill the last run";
}

TEST_F(HeatTest, WhatWasMeasuredIsNotSummedUp) {
  Figures measured = figures(10);
  measured.measures = {"KL, bypass", 0.01, 1, {}};
  measured.measures.nodes[scene->nodes[2].id] = {0.1, 0.5};
  measured.measures.nodes[scene->nodes[3].id] = {0.0004, 0};
  heat.setMode(HeatMode::measure);
  heat.setFigures(measured);
  EXPECT_DOUBLE_EQ(heat.value({1, 5}), 0.1) << "the largest of a group";
  EXPECT_DOUBLE_EQ(heat.heat({1, 5}, 4), 0.5) << "also of several alike";
  EXPECT_EQ(heat.text({2, 3}), "0.100");
  EXPECT_EQ(heat.text({3, 4}), "4.0e-04");
  EXPECT_TRUE(std::isnan(heat.heat({0, 1}))) << "not measured";
  EXPECT_EQ(heat.title(), "KL, bypass");
  EXPECT_EQ(heat.ticks(), (std::vector<QString>{"0.0100", "0.100", "1.00"}));
  heat.setMode(HeatMode::time);
  EXPECT_DOUBLE_EQ(heat.value({1, 5}), 40) << "the times are there as before";
}

TEST_F(HeatTest, AnotherProfileLeavesNothingOfTheLastOne) {
  heat.setFigures(figures(100));
  heat.setFigures(figures(300));
  EXPECT_EQ(heat.text({0, 1}), "300 µs");
  heat.setFigures({});
  EXPECT_FALSE(heat.measured());
  EXPECT_TRUE(heat.text({0, 1}).isEmpty());
  EXPECT_TRUE(std::isnan(heat.heat({0, 1})));
  EXPECT_TRUE(std::isnan(heat.share(whole())));
}

TEST_F(HeatTest, ANodeThatDidNotRunHasNoFigure) {
  api::testing::MadeProfile made;
  made.add(scene->nodes[0].id, 10);
  heat.setFigures({made.make(), false, {}, {}});
  EXPECT_TRUE(heat.text({1, 2}).isEmpty());
  EXPECT_EQ(heat.text(whole()), "10.0 µs");
}

TEST_F(HeatTest, TheScaleWidensAtOnceAndShrinksAtANewRunOnly) {
  heat.setFigures(figures(50));
  heat.setFigures(figures(5000));
  EXPECT_DOUBLE_EQ(heat.high(), 5000);
  heat.setFigures(figures(50));
  EXPECT_DOUBLE_EQ(heat.high(), 5000);
  heat.resetScale();
  EXPECT_DOUBLE_EQ(heat.high(), 50);
}

TEST_F(HeatTest, LogarithmicAndLinear) {
  heat.setFigures(figures(1, {{0, 10}, {scene->nodes.size() - 1, 100}}));
  EXPECT_NEAR(heat.heat({0, 1}), 0.5, 1e-9);
  heat.setLogarithmic(false);
  EXPECT_NEAR(heat.heat({0, 1}), 0.1, 1e-9);
}

TEST_F(HeatTest, TicksAreShort) {
  heat.setFigures(figures(0.6, {{0, 1700}}));
  EXPECT_EQ(heat.ticks(), (std::vector<QString>{"0.5 µs", "32 µs", "2 ms"}));
  heat.setMode(HeatMode::share);
  EXPECT_EQ(heat.ticks(), (std::vector<QString>{"0.02 %", "1.4 %", "100 %"}));
  heat.setFigures(figures(0.001, {{0, 1e6}}));
  heat.resetScale();
  EXPECT_EQ(heat.ticks().front(), "0.001 %") << "what is less is as cold";
}

TEST_F(HeatTest, EstimatedTimesSaySo) {
  api::testing::MadeProfile made;
  for (size_t i = 0; i < scene->nodes.size(); ++i)
    made.add(scene->nodes[i].id, 10, {scene->nodes[i].id, 0, 0, i == 1});
  heat.setFigures({made.make(), false, {}, {}});
  EXPECT_EQ(heat.text({1, 2}), "≈ 10.0 µs");
  EXPECT_EQ(heat.text({0, 1}), "10.0 µs");
}

TEST_F(HeatTest, BytesAreKnownWithoutARun) {
  heat.setMode(HeatMode::bytes);
  EXPECT_DOUBLE_EQ(heat.value({0, 1}), 4096) << "the op's own cost";
  heat.setMode(HeatMode::off);
  EXPECT_TRUE(std::isnan(heat.heat({0, 1})));
}

TEST_F(HeatTest, TheRatioOfTwoSidesIsOfTheirSums) {
  Figures all = sides(10, 5);
  heat.setMode(HeatMode::ratio);
  heat.setFigures(all);
  EXPECT_DOUBLE_EQ(heat.value(whole()), 2);
  EXPECT_DOUBLE_EQ(heat.heat({0, 1}), (std::log2(2.0) + 4) / 8);
  EXPECT_EQ(heat.text({0, 1}), QStringLiteral("2.0×"));
  all.sides[scene->nodes[0].id].b = 0;
  heat.setFigures(all);
  EXPECT_TRUE(std::isnan(heat.heat({0, 1}))) << "B has no time of it";
  all.sides[scene->nodes[0].id].b = 1e6;
  heat.setFigures(all);
  EXPECT_EQ(heat.heat({0, 1}), 0.0);
}

TEST_F(HeatTest, ADeviceHasTheEndOfItsColourWhicheverSideItIs) {
  heat.setMode(HeatMode::ratio);
  heat.setSides(sideLooks({"CUDA 0", "CPU"}, {true, false}));
  heat.setFigures(sides(10, 5));
  EXPECT_DOUBLE_EQ(heat.heat({0, 1}), 1 - (std::log2(2.0) + 4) / 8) << "the CPU is faster: its end";
  EXPECT_EQ(heat.ends()[0].name, "CPU");
  EXPECT_EQ(heat.text({0, 1}), QStringLiteral("2.0×")) << "A over B as everywhere";
}

}  // namespace
}  // namespace orrery::ui
