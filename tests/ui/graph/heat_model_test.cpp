// Sums, averages and the scale behind the colours.
#include "ui/graph/heat_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/ui/graph/sample_graphs.h"

namespace orrery::ui {
namespace {

class HeatTest : public testing::Test {
 protected:
  void SetUp() override {
    scene = makeScene(samples::layeredGraph(4), {{kTokens, 1}}, {});
    heat.setScene(scene);
  }
  Figures figures(double us) const {
    Figures all;
    for (const SceneNode& node : scene->nodes) all[node.id].us = us;
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
  heat.setFigures(figures(10), 180, 0);
  EXPECT_DOUBLE_EQ(heat.us(whole()), 180);
  EXPECT_DOUBLE_EQ(heat.us({1, 5}), 40);
  EXPECT_DOUBLE_EQ(heat.share({1, 5}), 40.0 / 180);
  EXPECT_EQ(heat.text({1, 5}), "40.0 µs");
  EXPECT_DOUBLE_EQ(heat.heat({1, 9}, 8), heat.heat({0, 1}));
}

TEST_F(HeatTest, AveragesHaveAHalfLifeOfHalfASecond) {
  heat.setFigures(figures(100), 1, 0);
  heat.setFigures(figures(200), 1, 0.5);
  EXPECT_NEAR(heat.us({0, 1}), 150, 1e-9);
  heat.setFigures(figures(200), 1, 1.5);
  EXPECT_NEAR(heat.us({0, 1}), 187.5, 1e-9);
}

TEST_F(HeatTest, DigitsWaitForTheirTurn) {
  heat.setFigures(figures(100), 1, 0);
  heat.setFigures(figures(300), 1, 100);
  EXPECT_EQ(heat.text({0, 1}), "100 µs");
  heat.updateDigits();
  EXPECT_EQ(heat.text({0, 1}), "300 µs");
}

TEST_F(HeatTest, TheScaleWidensAtOnceAndShrinksAtANewRunOnly) {
  heat.setFigures(figures(50), 1, 0);
  heat.setFigures(figures(5000), 1, 100);
  EXPECT_DOUBLE_EQ(heat.high(), 5000);
  heat.setFigures(figures(50), 1, 200);
  EXPECT_DOUBLE_EQ(heat.high(), 5000);
  heat.reset();
  heat.setFigures(figures(50), 1, 201);
  EXPECT_DOUBLE_EQ(heat.high(), 50);
}

TEST_F(HeatTest, LogarithmicAndLinear) {
  Figures mixed = figures(1);
  mixed[scene->nodes.back().id].us = 100;
  mixed[scene->nodes.front().id].us = 10;
  heat.setFigures(mixed, 1, 0);
  EXPECT_NEAR(heat.heat({0, 1}), 0.5, 1e-9);
  heat.setLogarithmic(false);
  EXPECT_NEAR(heat.heat({0, 1}), 0.1, 1e-9);
}

TEST_F(HeatTest, TicksAreShort) {
  Figures mixed = figures(0.6);
  mixed[scene->nodes.back().id].us = 1700;
  heat.setFigures(mixed, 1, 0);
  EXPECT_EQ(heat.ticks(), (std::vector<QString>{"0.5 µs", "32 µs", "2 ms"}));
}

TEST_F(HeatTest, EstimatedTimesSaySo) {
  Figures all = figures(10);
  all[scene->nodes[1].id].estimated = true;
  heat.setFigures(all, 1, 0);
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
  Figures all = figures(10);
  for (auto& [node, figure] : all) figure.otherUs = 5;
  heat.setMode(HeatMode::ratio);
  heat.setFigures(all, 0, 0);
  const int count = static_cast<int>(scene->nodes.size());
  EXPECT_DOUBLE_EQ(heat.value({0, count}), 2);
  EXPECT_DOUBLE_EQ(heat.heat({0, 1}), (std::log2(2.0) + 4) / 8);
  EXPECT_EQ(heat.text({0, 1}), QStringLiteral("2.0×"));
  all[scene->nodes[0].id].otherUs = 0;
  heat.reset();
  heat.setFigures(all, 0, 1);
  EXPECT_TRUE(std::isnan(heat.heat({0, 1}))) << "B has no time of it";
  all[scene->nodes[0].id].otherUs = 1e6;
  heat.reset();
  heat.setFigures(all, 0, 2);
  EXPECT_EQ(heat.heat({0, 1}), 0.0);
}

TEST_F(HeatTest, ADeviceHasTheEndOfItsColourWhicheverSideItIs) {
  Figures all = figures(10);
  for (auto& [node, figure] : all) figure.otherUs = 5;
  heat.setMode(HeatMode::ratio);
  heat.setSides(sideLooks({"CUDA 0", "CPU"}, {true, false}));
  heat.setFigures(all, 0, 0);
  EXPECT_DOUBLE_EQ(heat.heat({0, 1}), 1 - (std::log2(2.0) + 4) / 8) << "the CPU is faster: its end";
  EXPECT_EQ(heat.ends()[0].name, "CPU");
  EXPECT_EQ(heat.text({0, 1}), QStringLiteral("2.0×")) << "A over B as everywhere";
}

}  // namespace
}  // namespace orrery::ui
