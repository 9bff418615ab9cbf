// The outline's tree.
#include "ui/models/outline_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "tests/support/made_profile.h"
#include "tests/ui/graph/sample_graphs.h"

namespace orrery::ui {
namespace {

class OutlineTest : public testing::Test {
 protected:
  OutlineModel model;
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::Fatal};
  graph::GraphVersion graph = samples::layeredGraph(12);
};

TEST_F(OutlineTest, ScopesStacksAndNodes) {
  EXPECT_EQ(model.rowCount(), 0);
  model.setGraph(graph, {graph->find_path("layers.3.mlp.up_proj")}, "sample");
  ASSERT_EQ(model.rowCount(), 1);
  const QModelIndex root = model.index(0, 0);
  EXPECT_EQ(root.data().toString(), "sample");
  ASSERT_EQ(model.rowCount(root), 3);
  const QModelIndex stack = model.index(1, 0, root);
  EXPECT_EQ(stack.data().toString(), "layers.0–11");
  EXPECT_EQ(stack.data(OutlineModel::scopeRole).toString(), "layers.0-11");
  EXPECT_EQ(model.rowCount(stack), 12);
  EXPECT_TRUE(stack.data(OutlineModel::editedRole).toBool());
  EXPECT_FALSE(model.index(4, 0, stack).data(OutlineModel::editedRole).toBool());
  const QModelIndex up = model.indexOf(graph->find_path("layers.3.mlp.up_proj"));
  EXPECT_EQ(up.data().toString(), "up_proj");
  EXPECT_EQ(up.data(OutlineModel::pathRole).toString(), "layers.3.mlp.up_proj");
  EXPECT_EQ(model.parent(up), model.indexOfScope("layers.3.mlp"));
  EXPECT_FALSE(model.indexOf(NodeId{9999}).isValid());
  EXPECT_FALSE(model.indexOfScope("nowhere").isValid());
}

TEST_F(OutlineTest, TimesAndSharesOfTheParent) {
  model.setGraph(graph, {}, "sample");
  QSignalSpy changed(&model, &OutlineModel::dataChanged);
  api::testing::MadeProfile made;
  for (const NodeId id : graph->order())
    if (!graph->node(id).is_source()) made.add(id, 10);
  const Figures figures{made.make(), false, {}, {}};
  model.setTimings(figures);
  EXPECT_GT(changed.count(), 0);
  const QModelIndex layer = model.indexOfScope("layers.5");
  EXPECT_DOUBLE_EQ(layer.data(OutlineModel::usRole).toDouble(), 40);
  EXPECT_DOUBLE_EQ(layer.data(OutlineModel::shareRole).toDouble(), 1.0 / 12);
  EXPECT_EQ(layer.siblingAtColumn(OutlineModel::timeColumn).data().toString(), "40.0 µs");
  const QModelIndex mlp = model.indexOfScope("layers.5.mlp");
  EXPECT_EQ(mlp.siblingAtColumn(OutlineModel::shareColumn).data().toString(), "50.0 %");
  model.setGraph(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
  model.setTimings(figures);
}

}  // namespace
}  // namespace orrery::ui
