// What stays where it is: under edits, undo, renaming, and from one start to the next.
#include "ui/graph/arrangement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/arrangement_text.h"
#include "ui/graph/geometry.h"
#include "ui/graph/kept_layout.h"

namespace orrery::ui {
namespace {

using samples::kSmol;
using samples::kStep;

class ArrangementTest : public testing::Test {
 protected:
  void SetUp() override {
    auto built = samples::modelGraph(kSmol, false);
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    opened = *built;
    show(opened);
  }

  /// As the view does for another version.
  void show(const graph::GraphVersion& graph) {
    Drawing next;
    next.scene = makeScene(graph, kStep, {});
    if (drawing) keepEdited(arrangement, *drawing.scene, drawing.layout, *next.scene);
    next.layout = hierarchy.layout(*next.scene, open, {}, &arrangement);
    adopt(arrangement, *next.scene, next.layout);
    drawing = next;
  }
  Rect boxOf(const std::string& path) const {
    const SceneNode* node = drawing.scene->find(drawing.scene->graph->find_path(path));
    const auto box =
        node ? boxOfNode(drawing, node->position) : boxOfGroup(drawing, drawing.scene->group(path));
    EXPECT_TRUE(box) << path;
    return box.value_or(Rect{});
  }
  /// Of all nodes of the open layer that both drawings have.
  double mostMoved(const Drawing& before) const {
    double most = 0;
    for (const SceneNode& node : before.scene->nodes) {
      const SceneNode* now = drawing.scene->find(node.id);
      if (!now || now->id != node.id || !node.path.starts_with("layers.0.")) continue;
      const Rect a = *boxOfNode(before, node.position), b = *boxOfNode(drawing, now->position);
      most = std::max({most, std::abs(a.x - b.x), std::abs(a.y - b.y)});
    }
    return most;
  }
  static bool overlap(const Drawing& drawing, const std::string& path) {
    const SceneNode* node = drawing.scene->find(drawing.scene->graph->find_path(path));
    const Rect box = *boxOfNode(drawing, node->position);
    const auto near = thingsIn(drawing, box);
    return near.size() > 1;
  }
  graph::GraphVersion with(const std::function<void(graph::Graph&)>& change) const {
    auto edited = std::make_shared<graph::Graph>(*drawing.scene->graph);
    change(*edited);
    EXPECT_TRUE(edited->infer_types().ok());
    return edited;
  }
  graph::GraphVersion withoutSilu() const {
    return with([](graph::Graph& graph) {
      const graph::Node silu = graph.node(graph.find_path("layers.0.mlp.act"));
      for (const graph::Use& use : graph.users(silu.outputs.front()))
        ASSERT_TRUE(graph.set_input(use.node, use.input, silu.inputs.front()).ok());
      ASSERT_TRUE(graph.remove_node(silu.id).ok());
    });
  }
  graph::GraphVersion withNode(const std::string& name) const {
    return with([&name](graph::Graph& graph) {
      const graph::Node& up = graph.node(graph.find_path("layers.0.mlp.up_proj"));
      const ValueId value = up.outputs.front();
      graph::Graph::NewNode node;
      node.op = "relu";
      node.scope = "layers.0.mlp";
      node.name = name;
      node.inputs = {value};
      node.before = graph.find_path("layers.0.mlp.gate");
      const auto id = graph.add_node(std::move(node));
      ASSERT_TRUE(id.ok());
      ASSERT_TRUE(
          graph.set_input(graph.find_path("layers.0.mlp.gate"), 1, graph.node(*id).outputs.front()).ok());
    });
  }

  Hierarchy hierarchy;
  Arrangement arrangement;
  graph::GraphVersion opened;
  Drawing drawing;
  std::unordered_set<std::string> open{"layers.0", "layers.0.attention", "layers.0.mlp"};
};

TEST_F(ArrangementTest, WhatAnEditDidNotTouchStays) {
  const Drawing before = drawing;
  show(withoutSilu());
  EXPECT_LT(mostMoved(before), 0.01);
  const Drawing deleted = drawing;
  show(withNode("clip"));
  EXPECT_LT(mostMoved(deleted), 0.01);
  EXPECT_FALSE(overlap(drawing, "layers.0.mlp.clip")) << "a new one stands on free ground";
}

TEST_F(ArrangementTest, UndoBringsANodeBackToItsPlace) {
  const Drawing before = drawing;
  const Rect silu = boxOf("layers.0.mlp.act");
  show(withoutSilu());
  show(opened);
  EXPECT_LT(mostMoved(before), 0.01);
  EXPECT_NEAR(boxOf("layers.0.mlp.act").y, silu.y, 0.01);
}

TEST_F(ArrangementTest, AFreshLayoutComesWhenItIsAskedFor) {
  const Rect mul = boxOf("layers.0.mlp.gate");
  show(withoutSilu());
  EXPECT_NEAR(boxOf("layers.0.mlp.gate").y, mul.y, 0.01);
  arrangement = {};
  drawing.layout = hierarchy.layout(*drawing.scene, open);
  EXPECT_LT(boxOf("layers.0.mlp.gate").y, mul.y - 20) << "the rows close up";
}

TEST_F(ArrangementTest, ADraggedNodeStandsWhereItWasPutAndItsWiresFollow) {
  const Rect mul = boxOf("layers.0.mlp.gate");
  const LaidOut mlp = laidOut(drawing, drawing.scene->group("layers.0.mlp"));
  const Rect own = mul.moved(-mlp.origin.x + 90, -mlp.origin.y + 6);
  arrangement.put("layers.0.mlp", "layers.0.mlp.gate", own);
  const Drawing before = drawing;
  show(opened);
  EXPECT_NEAR(boxOf("layers.0.mlp.gate").x, mul.x + 90, 0.01);
  const SceneNode* node = drawing.scene->find(opened->find_path("layers.0.mlp.gate"));
  const Hit hit = describeAt(drawing, node->position, -1);
  const LaidOut holder = laidOut(drawing, hit.holder);
  int arrives = 0;
  for (const PlacedWire& wire : holder.layout->wires) {
    if (wire.to == hit.item) {
      ++arrives;
      EXPECT_NEAR(wire.points.back().y + holder.origin.y, hit.box.y, 0.01);
      EXPECT_GE(wire.points.back().x + holder.origin.x, hit.box.x);
      EXPECT_LE(wire.points.back().x + holder.origin.x, hit.box.right());
    }
    if (wire.from == hit.item) {
      EXPECT_NEAR(wire.points.front().x + holder.origin.x, hit.box.x + hit.box.w / 2, 0.01);
    }
  }
  EXPECT_EQ(arrives, 2);
  const Drawing dragged = drawing;
  show(withoutSilu());
  EXPECT_LT(mostMoved(dragged), 0.01) << "an edit leaves it there";
}

TEST_F(ArrangementTest, FoldingMovesOnlyWhatIsBelow) {
  arrangement.put("layers.0", "layers.0.mlp", [&] {
    const LaidOut layer = laidOut(drawing, drawing.scene->group("layers.0"));
    return boxOf("layers.0.mlp").moved(-layer.origin.x + 12, -layer.origin.y);
  }());
  show(opened);
  const Rect norm = boxOf("layers.0.attention.norm"), mlp = boxOf("layers.0.mlp");
  open.erase("layers.0.attention");
  show(opened);
  EXPECT_LT(boxOf("layers.0.mlp").y, mlp.y);
  open.insert("layers.0.attention");
  show(opened);
  EXPECT_NEAR(boxOf("layers.0.attention.norm").y, norm.y, 0.01);
}

TEST_F(ArrangementTest, OtherLayersOfTheSameStructureStayAsTheyAre) {
  open = {"layers.0", "layers.0.mlp", "layers.1", "layers.1.mlp"};
  show(opened);
  const Rect other = boxOf("layers.1.mlp.gate"), own = boxOf("layers.0.mlp.gate");
  const LaidOut mlp = laidOut(drawing, drawing.scene->group("layers.0.mlp"));
  arrangement.put("layers.0.mlp", "layers.0.mlp.gate", own.moved(-mlp.origin.x + 60, -mlp.origin.y));
  show(opened);
  EXPECT_NEAR(boxOf("layers.0.mlp.gate").x, own.x + 60, 0.01);
  EXPECT_NEAR(boxOf("layers.1.mlp.gate").x, other.x, 0.01);
}

TEST_F(ArrangementTest, ARenamedNodeKeepsItsPlace) {
  arrangement.put("layers.0.mlp", "layers.0.mlp.gate", {10, 20, 184, 34});
  arrangement.notes["layers.0.mlp.gate"] = {-170, 0};
  arrangement.rename("layers.0.mlp.gate", "layers.0.mlp.product");
  EXPECT_TRUE(arrangement.groups.at("layers.0.mlp").boxes.contains("layers.0.mlp.product"));
  EXPECT_TRUE(arrangement.groups.at("layers.0.mlp").byHand.contains("layers.0.mlp.product"));
  EXPECT_TRUE(arrangement.notes.contains("layers.0.mlp.product"));
}

TEST_F(ArrangementTest, IsKeptAsText) {
  EXPECT_TRUE(textOf(Arrangement()).isEmpty());
  show(withoutSilu());
  EXPECT_TRUE(textOf(arrangement).isEmpty()) << "what only stayed is not told";
  arrangement.put("layers.0.mlp", "layers.0.mlp.gate", {12.5, 40, 184, 34});
  arrangement.notes["layers.0.mlp.gate"] = {-170, 4};
  const Arrangement read = arrangementOf(textOf(arrangement));
  ASSERT_TRUE(read.find("layers.0.mlp"));
  EXPECT_EQ(read.find("layers.0.mlp")->boxes.at("layers.0.mlp.gate").x, 12.5);
  EXPECT_FALSE(read.find("layers.0.mlp")->whole);
  EXPECT_EQ(read.notes.at("layers.0.mlp.gate").x, -170);
  EXPECT_TRUE(arrangementOf("{\"groups\": [1, {}]").empty());
  EXPECT_TRUE(arrangementOf("{\"groups\": {\"a\": {\"b\": [1, 2, 1e300, 4]}}}").empty());
}

}  // namespace
}  // namespace orrery::ui
