// How two graphs differ, on a tiny model and its edits.
#include "engine/api/diff.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/engine/api/tiny_session.h"

namespace orrery::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Kind = NodeChange::Kind;

/// "changed layers.0.mlp.norm: attribute eps 1e-05 -> 0.5", and so on.
std::vector<std::string> told(const GraphDifference& difference) {
  std::vector<std::string> lines;
  for (const NodeDifference& node : difference.nodes) {
    const std::string line = fmt::format("{} {}", name_of(node.kind), node.path);
    if (node.what.empty()) lines.push_back(line);
    for (const NodeDifference::What& what : node.what)
      lines.push_back(fmt::format("{}: {} {} -> {}", line, what.what, what.a, what.b));
  }
  return lines;
}

/// A node of the layer, or a weight of it.
bool is_in(const std::string& path, const std::string& layer) {
  return path.starts_with(layer) || path.starts_with("weights." + layer);
}

class DiffTest : public testing::Test {
 protected:
  /// The tiny graph against itself after these edits.
  GraphDifference after(const std::vector<std::string>& words) const {
    std::vector<edit::Edit> edits;
    for (const std::string& each : words) edits.push_back(edit_of(each));
    const auto made = replayed(graph, edits);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
    return made.ok() ? diff(*graph, *made->graph) : GraphDifference{};
  }

  const runtime::TinyModel tiny{4};
  const graph::GraphVersion graph = tiny.graph();
};

TEST_F(DiffTest, AGraphIsTheSameAsItself) {
  const GraphDifference none = diff(*graph, *graph);
  EXPECT_THAT(none.nodes, IsEmpty());
  EXPECT_EQ(none.same, graph->order().size());
}

TEST_F(DiffTest, AnEditIsToldByWhatItChanged) {
  EXPECT_THAT(told(after({"precision scope=layers.1.down dtype=int8"})),
              ElementsAre("changed layers.1.down: attribute precision  -> int8"));
}

TEST_F(DiffTest, DrawingsDoNotCount) {
  EXPECT_THAT(told(after({"note node=layers.1.down text=look"})), IsEmpty());
}

TEST_F(DiffTest, WhatIsBypassedIsGoneAndItsReadersReadOtherwise) {
  const GraphDifference difference = after({"bypass scope=layers.1"});
  size_t removed = 0;
  std::vector<std::string> others;
  for (const NodeDifference& node : difference.nodes) {
    if (node.kind == Kind::removed) {
      ++removed;
      EXPECT_TRUE(is_in(node.path, "layers.1.")) << node.path;
    } else {
      others.push_back(node.path);
      for (const NodeDifference::What& what : node.what) {
        EXPECT_TRUE(what.what.starts_with("reads ")) << what.what;
        EXPECT_TRUE(what.a.starts_with("layers.1.")) << what.a;
        EXPECT_TRUE(what.b.starts_with("layers.0.")) << what.b;
      }
    }
  }
  size_t there = 0;
  for (const NodeId id : graph->order()) there += is_in(graph->node(id).path(), "layers.1.") ? 1 : 0;
  EXPECT_EQ(removed, there);
  EXPECT_THAT(others, ElementsAre("layers.2.norm", "layers.2.residual"));
}

TEST_F(DiffTest, BackwardsAddedIsRemoved) {
  const auto made = replayed(graph, {edit_of("repeat scope=layers.2 times=2")});
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const GraphDifference there = diff(*graph, *made->graph), back = diff(*made->graph, *graph);
  size_t added = 0;
  for (const NodeDifference& node : there.nodes)
    if (node.kind == Kind::added) {
      ++added;
      EXPECT_TRUE(node.path.starts_with("layers.2@2.")) << node.path;
    }
  EXPECT_GT(added, 5U);
  EXPECT_EQ(std::ranges::count(back.nodes, Kind::removed, &NodeDifference::kind), static_cast<long>(added));
  EXPECT_EQ(there.same, back.same);
}

TEST_F(DiffTest, ModelsAreAlignedByPath) {
  const runtime::TinyModel shorter{3};
  const GraphDifference difference = diff(*graph, *shorter.graph());
  for (const NodeDifference& node : difference.nodes) {
    EXPECT_TRUE(node.kind == Kind::changed || is_in(node.path, "layers.3.")) << node.path;
    EXPECT_NE(node.kind, Kind::added) << node.path;
  }
  EXPECT_GT(difference.same, 20U);
}

TEST_F(DiffTest, TypesOfWeightsAreToldOnce) {
  const GraphDifference difference = after({"quantise scope=layers.0.down type=f16"});
  std::vector<std::string> types;
  for (const std::string& line : told(difference))
    if (line.find("dtype") != std::string::npos) types.push_back(line);
  EXPECT_THAT(types, ElementsAre("changed weights.layers.0.down: dtype f32 -> f16"));
}

}  // namespace
}  // namespace orrery::api
