// From graphs to scenes and their hierarchical layout.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <map>

#include "engine/graph/transaction.h"
#include "engine/models/builder.h"
#include "tests/ui/graph/sample_scenes.h"
#include "ui/graph/geometry.h"
#include "ui/graph/layout_worker.h"

namespace orrery::ui {
namespace {

using samples::everything;
using samples::sceneOf;
using samples::smol;
using Opened = std::unordered_set<std::string>;

void expectTidy(const GroupLayout& layout) {
  for (size_t a = 0; a < layout.items.size(); ++a) {
    const Rect& box = layout.items[a].box;
    EXPECT_LE(box.right(), layout.halfWidth);
    EXPECT_LE(box.bottom(), layout.height);
    for (size_t b = a + 1; b < layout.items.size(); ++b)
      EXPECT_FALSE(box.grown(-0.01).intersects(layout.items[b].box));
    if (layout.items[a].inner) expectTidy(*layout.items[a].inner);
  }
}

TEST(Scene, NumbersBelongToTheWordBefore) {
  EXPECT_EQ(scopeParts("layers.3.attention"), (std::vector<std::string>{"layers.3", "attention"}));
  EXPECT_EQ(scopeParts("encoder.layer.11"), (std::vector<std::string>{"encoder", "layer.11"}));
  EXPECT_TRUE(scopeParts("").empty());
}

TEST(Scene, NodesKnowAPrecisionThatIsNotTheModels) {
  graph::Graph graph = *smol(false);
  const auto precision = [&graph](const std::string& path) {
    const auto scene = sceneOf(std::make_shared<const graph::Graph>(graph));
    const SceneNode* node = scene->find(graph.find_path(path));
    return node ? node->precision : "not drawn";
  };
  const auto ask = [&graph](std::string_view scope, const char* word) {
    for (const NodeId id : graph.in_scope(scope))
      if (!graph.node(id).is_source()) {
        ASSERT_TRUE(graph.set_attribute(id, "precision", graph::Attribute(std::string(word))).ok());
      }
  };
  EXPECT_EQ(precision("layers.3.mlp.down_proj"), "");
  ask("layers.3", "int8");
  EXPECT_EQ(precision("layers.3.mlp.down_proj"), "int8");
  EXPECT_EQ(precision("layers.3.mlp.norm"), "") << "it multiplies nothing";
  EXPECT_EQ(precision("layers.4.mlp.down_proj"), "");
  ask("", "exact");  // the model's now
  EXPECT_EQ(precision("layers.3.mlp.down_proj"), "");
  ask("layers.3", "int8");
  EXPECT_EQ(precision("layers.3.mlp.down_proj"), "int8");
  EXPECT_EQ(precision("layers.4.mlp.down_proj"), "");
}

TEST(Scene, GroupsOfOneChildAreThatChild) {
  const auto scene = sceneOf(samples::layeredGraph(3));
  const SceneGroup& root = scene->groups.front();
  ASSERT_EQ(root.children.size(), 5U);  // embedding, three layers, lm_head
  EXPECT_FALSE(root.children.front().isGroup);
  EXPECT_EQ(scene->nodes.front().name, "embedding");
  EXPECT_EQ(scene->nodes.back().path, "output.lm_head");
  EXPECT_TRUE(root.children[1].isGroup);
}

TEST(Scene, TensorsThatNothingTakesAreBoxesInRows) {
  io::ModelFile file;
  for (int i = 0; i < 10; ++i) file.tensors.push_back({"w" + std::to_string(i), DType::f32, {8, 4}, {}});
  const auto scene = sceneOf(std::make_shared<const graph::Graph>(models::build_outline(file).graph));
  ASSERT_EQ(scene->nodes.size(), 10U);
  EXPECT_TRUE(scene->nodes.front().live);
  EXPECT_EQ(scene->nodes.front().type, "[8, 4]");
  const auto layout = Hierarchy().layout(*scene, {});
  ASSERT_TRUE(layout);
  expectTidy(*layout);
  std::map<double, int> rows;
  for (const Placed& placed : layout->items) ++rows[placed.box.y];
  EXPECT_EQ(rows.size(), 3U) << "four in a row";
}

TEST(Scene, EdgesCrossGroupsAtEntryAndExit) {
  const auto scene = sceneOf(samples::layeredGraph(1));
  const SceneGroup& layer = scene->groups[at(scene->group("layers.0"))];
  const auto has = [](const SceneGroup& group, int from, int to) {
    return std::any_of(group.edges.begin(), group.edges.end(),
                       [&](const SceneEdge& edge) { return edge.from == from && edge.to == to; });
  };
  EXPECT_TRUE(has(layer, kEntry, 0)) << "norm";
  EXPECT_TRUE(has(layer, kEntry, 2)) << "residual";
  EXPECT_TRUE(has(layer, 0, 1)) << "norm to mlp";
  EXPECT_TRUE(has(layer, 1, 2)) << "mlp to residual";
  EXPECT_TRUE(has(layer, 2, kExit));
  const SceneGroup& mlp = scene->groups[at(scene->group("layers.0.mlp"))];
  EXPECT_EQ(mlp.edges.size(), 3U);
  EXPECT_DOUBLE_EQ(mlp.edges.front().bytes, 576 * 4) << "one token of f32";
}

TEST(Scene, EqualLayersStackAndADifferentOneDoesNot) {
  const auto scene = sceneOf(smol(false));
  const SceneGroup *first = &scene->groups[at(scene->group("layers.0"))],
                   *second = &scene->groups[at(scene->group("layers.1"))];
  EXPECT_TRUE(layersStack(*first, *second));
  EXPECT_FALSE(layersStack(*second, *first)) << "in order only";
  EXPECT_EQ(stackScope(*first, *second), "layers.0-1");

  graph::Graph edited = *smol(false);
  const NodeId norm = edited.find_path("layers.7.attention.norm");
  ASSERT_TRUE(norm.valid());
  graph::Transaction transaction(edited, "eps");
  ASSERT_TRUE(transaction.set_attribute(norm, "eps", 0.5).ok());
  ASSERT_TRUE(transaction.commit().ok());
  const auto after = sceneOf(std::make_shared<const graph::Graph>(edited));
  EXPECT_FALSE(
      layersStack(after->groups[at(after->group("layers.6"))], after->groups[at(after->group("layers.7"))]));
  EXPECT_TRUE(
      layersStack(after->groups[at(after->group("layers.8"))], after->groups[at(after->group("layers.9"))]));
}

TEST(Scene, EveryNodeOfTheModelIsDrawnOnceOrIsASource) {
  for (const bool fused : {false, true}) {
    const graph::GraphVersion graph = smol(fused);
    const auto scene = sceneOf(graph);
    size_t drawn = 0;
    for (const NodeId id : graph->order()) drawn += graph->node(id).is_source() ? 0 : 1;
    EXPECT_EQ(scene->nodes.size(), drawn);
    for (size_t i = 0; i < scene->nodes.size(); ++i) {
      EXPECT_EQ(scene->nodes[i].position, static_cast<int>(i));
      const SceneGroup& group = scene->groups[at(scene->nodes[i].group)];
      EXPECT_TRUE(static_cast<int>(i) >= group.begin && static_cast<int>(i) < group.end);
    }
  }
}

TEST(Scene, WhatFusionLeavesBetweenLayersGoesIntoTheLayerThatUsesIt) {
  const auto scene = sceneOf(smol(true));
  EXPECT_EQ(scene->group("layers"), -1);
  const SceneGroup &fifth = scene->groups[at(scene->group("layers.5"))],
                   &sixth = scene->groups[at(scene->group("layers.6"))];
  EXPECT_TRUE(layersStack(fifth, sixth));
}

TEST(Scene, WeightsAndInputsBecomePills) {
  const auto scene = sceneOf(smol(false));
  const SceneNode* proj = scene->find(scene->graph->find_path("layers.0.attention.q_proj"));
  ASSERT_NE(proj, nullptr);
  EXPECT_EQ(proj->weights.text, "attn_q");
  EXPECT_DOUBLE_EQ(proj->weights.bytes, 576.0 * 576 / 32 * 20);
  EXPECT_EQ(proj->detail, "576 → 576");
  const SceneNode* embedding = scene->find(scene->graph->find_path("embed.token_embedding"));
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->inputs.text, "token_ids");
}

TEST(Scene, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(makeScene(samples::layeredGraph(4), samples::kStep, stop.get_token()), nullptr);
}

TEST(HierarchyTest, FoldedLayersAreOneStackWithARemainderWhereOneIsOpen) {
  const auto scene = sceneOf(samples::layeredGraph(30));
  Hierarchy hierarchy;
  const auto folded = hierarchy.layout(*scene, {});
  ASSERT_EQ(folded->items.size(), 3U);
  EXPECT_EQ(folded->items[1].kind, Placed::Kind::stack);
  const auto open = hierarchy.layout(*scene, {"layers.12"});
  ASSERT_EQ(open->items.size(), 5U);
  EXPECT_EQ(open->items[1].last - open->items[1].first + 1, 12);
  EXPECT_EQ(open->items[2].kind, Placed::Kind::open);
  EXPECT_EQ(open->items[3].last - open->items[3].first + 1, 17);
}

TEST(HierarchyTest, ABypassedLayerStaysInLine) {
  const auto scene = sceneOf(samples::layeredGraph(12, 5));
  const int dead = scene->group("layers.5");
  EXPECT_FALSE(scene->groups[at(dead)].live);
  EXPECT_FALSE(scene->find(scene->graph->find_path("layers.5.norm"))->live);
  EXPECT_TRUE(scene->find(scene->graph->find_path("layers.6.norm"))->live);
  Hierarchy hierarchy;
  const auto folded = hierarchy.layout(*scene, {});
  ASSERT_EQ(folded->items.size(), 5U) << "it is seen beside the stacks, not hidden in one";
  EXPECT_EQ(folded->items[2].kind, Placed::Kind::folded);
  EXPECT_EQ(scene->groups[0].children[at(folded->items[2].first)].index, dead);
  const Drawing drawing{scene, hierarchy.layout(*scene, {"layers.4", "layers.5", "layers.6"})};
  const auto above = boxOfGroup(drawing, scene->group("layers.4")), own = boxOfGroup(drawing, dead),
             below = boxOfGroup(drawing, scene->group("layers.6"));
  EXPECT_LT(above->bottom(), own->y);
  EXPECT_LT(own->bottom(), below->y);
  const auto& wires = drawing.layout->wires;
  EXPECT_EQ(std::count_if(wires.begin(), wires.end(), [](const PlacedWire& wire) { return wire.dotted; }), 1);
}

TEST(HierarchyTest, EveryStateOfTheModelIsTidy) {
  for (const bool fused : {false, true}) {
    const auto scene = sceneOf(smol(fused));
    Hierarchy hierarchy;
    expectTidy(*hierarchy.layout(*scene, {}));
    expectTidy(*hierarchy.layout(*scene, firstOpen(*scene)));
    expectTidy(*hierarchy.layout(*scene, everything(*scene)));
  }
}

/// What single wires connect stands in one column, and what a node takes arrives apart; in a layer of a page,
/// too.
TEST(HierarchyTest, KeysAndValuesArriveApartAndStraight) {
  for (const auto& [fused, paged] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    const auto scene = sceneOf(smol(fused));
    const Drawing drawing{
        scene,
        Hierarchy().layout(*scene, paged ? everything(*scene) : Opened{"layers.3", "layers.3.attention"})};
    const auto middle = [&](const std::string& name) {
      const SceneNode* node = scene->find(scene->graph->find_path("layers.3.attention." + name));
      const auto box = node ? boxOfNode(drawing, node->position) : std::nullopt;
      return box ? box->x + box->w / 2 : std::nan("");
    };
    for (const char* name : {"k_rope", "kv_append", "sdpa", "o_proj"})
      EXPECT_NEAR(middle(name), paged ? middle("k_rope") : 0, 0.5) << name << " is on the spine";
    EXPECT_TRUE(fused || std::abs(middle("q_proj") - middle("q_rope")) < 0.5);
    const Placed& layer =
        drawing.layout
            ->items[at(drawing.layout->itemOf[at(scene->groups[at(scene->group("layers.3"))].child)])];
    const int attention = scene->group("layers.3.attention");
    const GroupLayout& inner =
        *layer.inner->items[at(layer.inner->itemOf[at(scene->groups[at(attention)].child)])].inner;
    const int append = scene->find(scene->graph->find_path("layers.3.attention.kv_append"))->child;
    std::vector<Point> inputs;
    for (const PlacedWire& wire : inner.wires)
      if (wire.to == inner.itemOf[at(append)]) inputs.push_back(wire.points.back());
    ASSERT_EQ(inputs.size(), 2U) << "keys and values";
    EXPECT_GT(std::abs(inputs[0].x - inputs[1].x), 12);
    size_t corners = 0;
    for (const PlacedWire& wire : inner.wires)
      if (!wire.lane) corners += wire.points.size() - 2;
    EXPECT_LE(corners, fused && !paged ? 6U : 8U);
  }
}

TEST(HierarchyTest, BoxesAreAsWideAsTheirWordsWithinLimits) {
  const auto scene = sceneOf(smol(true));
  const auto layout = Hierarchy().layout(*scene, firstOpen(*scene));
  double narrowest = 1e9, widest = 0;
  const std::function<void(const GroupLayout&)> measure = [&](const GroupLayout& group) {
    for (const Placed& placed : group.items) {
      if (placed.inner) {
        measure(*placed.inner);
        continue;
      }
      narrowest = std::min(narrowest, placed.box.w);
      widest = std::max(widest, placed.box.w);
    }
  };
  measure(*layout);
  EXPECT_GE(narrowest, 160);
  EXPECT_LE(widest, 260);
  EXPECT_LT(narrowest, widest);
}

TEST(HierarchyTest, EqualLayersAreLaidOutOnce) {
  const auto scene = sceneOf(smol(false));
  Hierarchy hierarchy;
  const auto layout = hierarchy.layout(*scene, everything(*scene));
  const GroupLayout* shared = nullptr;
  int layers = 0;
  for (const Placed& placed : layout->items) {
    const SceneChild& child = scene->groups[0].children[at(placed.first)];
    if (!child.isGroup || scene->groups[at(child.index)].number < 1) continue;
    if (!shared) shared = placed.inner.get();
    EXPECT_EQ(placed.inner.get(), shared);
    ++layers;
  }
  EXPECT_EQ(layers, 29);
}

TEST(HierarchyTest, AnEditLeavesOtherLayersWhereTheyAre) {
  const graph::GraphVersion before = smol(false);
  graph::Graph edited = *before;
  {
    graph::Transaction transaction(edited, "eps");
    ASSERT_TRUE(transaction.set_attribute(edited.find_path("layers.7.attention.norm"), "eps", 0.5).ok());
    ASSERT_TRUE(transaction.commit().ok());
  }
  const Drawing a{sceneOf(before), nullptr},
      b{sceneOf(std::make_shared<const graph::Graph>(edited)), nullptr};
  Hierarchy hierarchy;
  Drawing first{a.scene, hierarchy.layout(*a.scene, everything(*a.scene))};
  Drawing second{b.scene, hierarchy.layout(*b.scene, everything(*b.scene))};
  for (const SceneNode& node : a.scene->nodes) {
    const auto x = boxOfNode(first, node.position), y = boxOfNode(second, b.scene->find(node.id)->position);
    ASSERT_TRUE(x && y);
    EXPECT_NEAR(x->x, y->x, 0.01) << node.path;
    EXPECT_NEAR(x->y, y->y, 0.01) << node.path;
  }
}

TEST(HierarchySpeed, ALayerOpensInATenthOfASecond) {
  const auto scene = sceneOf(smol(false));
  Hierarchy hierarchy;
  std::unordered_set<std::string> open = firstOpen(*scene);
  hierarchy.layout(*scene, open);
  open.insert({"layers.11", "layers.11.attention", "layers.11.mlp"});
  const auto start = std::chrono::steady_clock::now();
  hierarchy.layout(*scene, open);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("microseconds", static_cast<int>(ms * 1e3));
  EXPECT_LT(ms, 100);
}

TEST(HierarchySpeed, TenThousandFlatNodesUnderASecondSceneIncluded) {
  const graph::GraphVersion graph = samples::flatGraph(10000);
  const auto start = std::chrono::steady_clock::now();
  const auto scene = sceneOf(graph);
  Hierarchy hierarchy;
  const auto layout = hierarchy.layout(*scene, {});
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds", static_cast<int>(ms));
  EXPECT_EQ(layout->items.size(), 10000U);
  EXPECT_LT(ms, 1000);
}

TEST(GeometryTest, APointFindsWhatIsDrawnThere) {
  const auto scene = sceneOf(smol(false));
  Hierarchy hierarchy;
  const Drawing drawing{scene, hierarchy.layout(*scene, firstOpen(*scene))};
  for (const Hit& walked : walkOrder(drawing)) {
    const Hit hit = hitTest(drawing, {walked.box.x + 4, walked.box.y + 4}, 2);
    EXPECT_EQ(hit, walked);
  }
  const auto frame = boxOfGroup(drawing, scene->group("layers.0"));
  ASSERT_TRUE(frame);
  const Hit header = hitTest(drawing, {frame->x + 10, frame->y + 10}, 2);
  EXPECT_EQ(header.kind, Hit::Kind::open);
  EXPECT_TRUE(header.header);
  EXPECT_EQ(hitTest(drawing, {frame->x - 500, frame->y}, 2).kind, Hit::Kind::nothing);
  // A node in a stack is where the stack is.
  const SceneNode* hidden = scene->find(scene->graph->find_path("layers.20.mlp.down_proj"));
  EXPECT_EQ(boxOfNode(drawing, hidden->position)->y, boxOfGroup(drawing, scene->group("layers.9"))->y);
}

}  // namespace
}  // namespace orrery::ui
