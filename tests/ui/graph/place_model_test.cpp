// Where nodes run, summed over groups; the wires that change devices.
#include "ui/graph/place_model.h"

#include <gtest/gtest.h>

#include "tests/ui/graph/sample_graphs.h"

namespace orrery::ui {
namespace {

class PlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    scene = makeScene(samples::layeredGraph(4), {{kTokens, 1}}, {});
    model.setScene(scene, {{kTokens, 1}});
  }
  Span spanOfGroup(const char* scope) const {
    const SceneGroup& group = scene->groups[static_cast<size_t>(scene->group(scope))];
    return {group.begin, group.end};
  }
  const SceneNode& node(const char* path) const { return *scene->find(scene->graph->find_path(path)); }
  /// Children of a group by the name of what they are.
  static Span only(int child) { return {child, child + 1}; }
  int childOf(const char* scope) const {
    return scene->groups[static_cast<size_t>(scene->group(scope))].child;
  }
  Places away(std::initializer_list<const char*> scopes) const {
    Places places{"CPU", {}};
    for (const char* scope : scopes)
      for (const NodeId id : scene->graph->in_scope(scope)) places.nodes[id] = {"CUDA 0", "CUDA 0", {}};
    return places;
  }

  std::shared_ptr<const SceneGraph> scene;
  PlaceModel model;
};

TEST_F(PlaceTest, OneDeviceHasNothingToDraw) {
  model.setPlaces({"CUDA 0", {}});
  EXPECT_FALSE(model.drawn());
  EXPECT_EQ(model.device(0), "CUDA 0");
  EXPECT_EQ(model.mark(spanOfGroup("layers.1")), DeviceMark::none);
  EXPECT_FALSE(model.crosses(0));
}

TEST_F(PlaceTest, AGroupIsTaggedWhenAllOfItIsAwayElseMixed) {
  model.setPlaces(away({"layers.1", "layers.2.mlp"}));
  EXPECT_EQ(model.tag(spanOfGroup("layers.1")), "CUDA 0");
  EXPECT_EQ(model.mark(spanOfGroup("layers.1")), DeviceMark::cuda);
  EXPECT_EQ(model.tag(spanOfGroup("layers.2")), "mixed");
  EXPECT_EQ(model.tag(spanOfGroup("layers.2.mlp")), "CUDA 0");
  EXPECT_TRUE(model.tag(spanOfGroup("layers.3")).isEmpty());
  EXPECT_EQ(model.devices(), QStringList({"CPU", "CUDA 0"}));
}

TEST_F(PlaceTest, AValueThatChangesDevicesIsCountedOnceWhereItsWireIsDrawn) {
  model.setPlaces(away({"layers.1"}));
  const Crossing in = model.crossing(0, only(childOf("layers.0")), only(childOf("layers.1")));
  ASSERT_EQ(in.values.size(), 1U);  // norm and residual of layers.1 read the same value
  EXPECT_EQ(in.to, DeviceMark::cuda);
  EXPECT_DOUBLE_EQ(in.bytes,
                   graph::bytes_of(scene->graph->value(in.values.front()).type, Bindings{{kTokens, 1}}));
  EXPECT_EQ(model.crossing(0, only(childOf("layers.1")), only(childOf("layers.2"))).to, DeviceMark::cpu);
  EXPECT_TRUE(model.crossing(0, only(childOf("layers.2")), only(childOf("layers.3"))).values.empty());
  EXPECT_FALSE(model.crosses(scene->group("layers.1")));  // inside, nothing changes
  const Span layers{childOf("layers.0"), childOf("layers.1") + 1};
  EXPECT_EQ(model.crossing(0, layers, only(childOf("layers.2"))).values.size(), 1U);  // of a stack
}

TEST_F(PlaceTest, ACrossingInsideAGroupIsDrawnThere) {
  model.setPlaces(away({"layers.2.mlp"}));
  const int layer = scene->group("layers.2");
  const int norm = node("layers.2.norm").child, residual = node("layers.2.residual").child;
  const int mlp = childOf("layers.2.mlp");
  EXPECT_EQ(model.crossing(layer, only(norm), only(mlp)).to, DeviceMark::cuda);
  EXPECT_EQ(model.crossing(layer, only(mlp), only(residual)).to, DeviceMark::cpu);
  EXPECT_FALSE(model.crosses(0));
}

TEST_F(PlaceTest, ACopyIsCountedForItsFirstReaderOnly) {
  model.setPlaces(away({"layers.1.norm", "layers.1.residual"}));
  const int layer = scene->group("layers.1");
  const int norm = node("layers.1.norm").child, mlp = childOf("layers.1.mlp"),
            residual = node("layers.1.residual").child;
  EXPECT_GT(model.crossing(layer, only(norm), only(mlp)).bytes, 0);
  EXPECT_GT(model.crossing(layer, only(mlp), only(residual)).bytes, 0);
  const Crossing stream = model.crossing(0, only(childOf("layers.0")), only(childOf("layers.1")));
  EXPECT_EQ(stream.values.size(), 1U);
  model.setPlaces(
      away({"layers.0.residual", "layers.2"}));  // layers.0 makes it, layers.1 and nothing else reads it
  EXPECT_GT(model.crossing(0, only(childOf("layers.0")), only(childOf("layers.1"))).bytes, 0);
}

TEST_F(PlaceTest, WhatRunsElsewhereThanAskedSaysWhy) {
  Places places{"CPU", {}};
  places.nodes[node("layers.3.norm").id] = {"CPU", "CUDA 0", "no row takes it"};
  model.setPlaces(places);
  EXPECT_TRUE(model.drawn());
  EXPECT_FALSE(model.several());
  ASSERT_NE(model.fellBack(node("layers.3.norm").position), nullptr);
  EXPECT_EQ(model.fellBack(node("layers.3.norm").position)->reason, "no row takes it");
  EXPECT_EQ(model.fellBack(spanOfGroup("layers.3")), 1);
  EXPECT_EQ(model.fellBack(spanOfGroup("layers.2")), 0);
}

}  // namespace
}  // namespace orrery::ui
