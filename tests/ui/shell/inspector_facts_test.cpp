#include "ui/inspector/inspector_facts.h"

#include <gtest/gtest.h>

#include "support/fake_session.h"
#include "tests/support/made_profile.h"
#include "ui/shell/graph_figures.h"

namespace orrery::ui {
namespace {

using testing::fakeGraph;

const Bindings kOneToken = {{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};

TEST(InspectorFacts, ANodeTellsItsTensorsAndBytes) {
  const graph::GraphVersion graph = fakeGraph(2);
  const auto facts = nodeFacts(*graph, nullptr, graph->find_path("layers.1.proj"), kOneToken);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->scope, "layers.1");
  ASSERT_EQ(facts->values.size(), 3U);
  EXPECT_EQ(facts->values[1].role, "W");
  EXPECT_EQ(facts->values[1].name, "blk.1.proj");
  EXPECT_EQ(facts->values[1].brief, "proj") << "where there is no room for all of it";
  EXPECT_TRUE(facts->values[0].brief.isEmpty());
  EXPECT_EQ(facts->values[1].bytes, 64 * 64 / 32 * 20);  // Q4_1: 20 bytes for 32 elements
  EXPECT_EQ(facts->values[0].bytes, 64 * 4);
  EXPECT_EQ(facts->dtype, "Q4_1");
  EXPECT_FALSE(facts->bypassed);
  EXPECT_FALSE(nodeFacts(*graph, nullptr, NodeId{9999}, kOneToken));
}

TEST(InspectorFacts, AScopeSumsItsNodes) {
  const graph::GraphVersion graph = fakeGraph(3);
  api::testing::MadeProfile made(3);
  for (const NodeId id : graph->order())
    if (!graph->node(id).is_source()) made.add(id, 10, {id, 1e5, 2e5, false}, true);
  const api::ProfilePtr profile = made.make();
  const ScopeFacts facts = scopeFacts(*graph, "layers.1");
  EXPECT_EQ(facts.nodes, 3);
  EXPECT_EQ(facts.weightBytes, 64U * 64 / 32 * 20);
  const TimeFacts time = timeFacts(profile.get(), nodesOf(*graph, "layers.1"), false);
  EXPECT_DOUBLE_EQ(time.timing.us, 33) << "the median of 30, 33 and 36";
  EXPECT_DOUBLE_EQ(time.timing.p95_us, 36);
  EXPECT_DOUBLE_EQ(time.share, 33 / profile->step.us);
  EXPECT_DOUBLE_EQ(time.bytes.perSecond, 3e5 / 33e-6);
  EXPECT_EQ(time.bytes.share(), 0) << "no limit is known";
  EXPECT_EQ(timeFacts(nullptr, nodesOf(*graph, "layers.1"), false).timing.runs, 0U);
}

TEST(InspectorFacts, StacksNameEveryLayer) {
  EXPECT_EQ(scopesOf("layers.9-11"), (std::vector<std::string>{"layers.9", "layers.10", "layers.11"}));
  EXPECT_EQ(scopesOf("layers.3.mlp"), (std::vector<std::string>{"layers.3.mlp"}));
}

TEST(GraphFigures, EditedNodesFollowScopePatterns) {
  const graph::GraphVersion graph = fakeGraph(12);
  const auto count = [&](const std::string& scope) {
    return editedNodes(*graph, {{"bypass", {{"scope", scope}}}}).size();
  };
  EXPECT_EQ(count("layers.1"), 3U);  // not layers.10 and layers.11
  EXPECT_EQ(count("layers.2-4"), 9U);
  EXPECT_EQ(count("layers.*"), 36U);
  EXPECT_EQ(count("nothing"), 0U);
}

}  // namespace
}  // namespace orrery::ui
