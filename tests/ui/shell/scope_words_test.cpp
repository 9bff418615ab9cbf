#include "ui/placement/scope_words.h"

#include <gtest/gtest.h>

#include "support/fake_placement.h"
#include "support/fake_session.h"

namespace orrery::ui {
namespace {

using testing::fakeGraph;

QStringList pathsIn(const QString& scopes) {
  const graph::GraphVersion graph = fakeGraph(12);
  QStringList paths;
  for (const NodeId id : nodesIn(*graph, scopes)) paths += QString::fromStdString(graph->node(id).path());
  return paths;
}

TEST(ScopeWords, AScopeNamesItsNodesAndNoSources) {
  EXPECT_EQ(pathsIn("layers.1"), QStringList({"layers.1.norm", "layers.1.proj", "layers.1.residual"}));
  EXPECT_EQ(pathsIn("layers.1.proj"), QStringList("layers.1.proj"));
  EXPECT_TRUE(pathsIn("").isEmpty());
}

TEST(ScopeWords, RangesStarsAndLists) {
  EXPECT_EQ(pathsIn("layers.0-3").size(), 4 * 3);
  EXPECT_EQ(pathsIn("layers.*.norm").size(), 12);
  EXPECT_EQ(pathsIn("head,layers.10-11").size(), 2 * 3 + 1);
  EXPECT_EQ(scopeWord({QString::fromUtf8("layers.0–3"), "head"}), "layers.0-3,head");
}

TEST(ScopeWords, AFusedNodeStandsForItsOriginsAndATransferForNothing) {
  const graph::GraphVersion model = fakeGraph(2);
  const graph::GraphVersion mixed =
      testing::placed(model, {{"place", {{"scope", "layers.1"}, {"device", "cuda:0"}}}});
  const graph::GraphVersion fused = testing::withTransfers(*mixed, "cpu");
  int transfers = 0;
  for (const NodeId id : fused->order()) {
    const graph::Node& node = fused->node(id);
    if (node.is_source()) continue;
    transfers += graph::is_transfer(node) ? 1 : 0;
    EXPECT_EQ(modelPaths(*mixed, *fused, id).size(), graph::is_transfer(node) ? 0 : 1) << node.path();
  }
  EXPECT_EQ(transfers, 3);  // into proj, into residual, out to the head
  graph::Graph joined = *fused;
  const NodeId proj = fused->find_path("layers.1.proj");
  const auto made = joined.add_node({"rms_norm",
                                     "",
                                     "both",
                                     {},
                                     {fused->node(proj).outputs.front()},
                                     {{proj, 0.5}, {fused->find_path("layers.0.proj"), 0.5}},
                                     {}});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(modelPaths(*mixed, joined, *made), QStringList({"layers.1.proj", "layers.0.proj"}));
}

TEST(ScopeWords, PatternsNameScopesButNotWhatIsInThem) {
  for (const char* scopes : {"layers.3", "layers.*", "layers.2-4", "head,layers.3"})
    EXPECT_TRUE(namesScope(scopes, "layers.3")) << scopes;
  for (const char* scopes : {"", "layers", "layers.3.mlp", "layers.4-7", "layers.30"})
    EXPECT_FALSE(namesScope(scopes, "layers.3")) << scopes;
  EXPECT_EQ(outerScope("layers.3.mlp"), "layers.3");
  EXPECT_TRUE(outerScope("layers").isEmpty());
}

}  // namespace
}  // namespace orrery::ui
