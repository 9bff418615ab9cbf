// The view as a person uses it: real widgets, the real model.
#include "ui/graph/graph_view.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>

#include "tests/ui/graph/sample_graphs.h"

namespace orrery::ui {
namespace {

class ViewTest : public testing::Test {
 protected:
  void SetUp() override {
    auto built = samples::modelGraph(samples::kSmol, false);
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    graph = *built;
    view.setReducedMotion(true);
    view.resize(984, 632);
    view.show();
    view.setGraph(graph, {}, "smollm2");
    ASSERT_TRUE(view.waitForLayout());
  }
  NodeId node(const char* path) const { return graph->find_path(path); }
  QPoint centreOf(const char* scope) {  // by way of the selection, which shows where a thing is
    view.selectScope(scope);
    view.waitForLayout();
    return view.viewport()->rect().center();
  }

  graph::GraphVersion graph;
  GraphView view{Theme()};
};

TEST_F(ViewTest, OpensTheFirstLayerAndStacksTheRest) {
  EXPECT_TRUE(view.isExpanded("layers.0"));
  EXPECT_TRUE(view.isExpanded("layers.0.attention"));
  EXPECT_FALSE(view.isExpanded("layers.1"));
  EXPECT_GE(view.zoom(), 0.8);
}

TEST_F(ViewTest, FoldsAndOpens) {
  view.collapseScope("layers.0");
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_FALSE(view.isExpanded("layers.0"));
  view.expandScope("layers.4-9");  // of a stack the first
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_TRUE(view.isExpanded("layers.4"));
  EXPECT_FALSE(view.isExpanded("layers.5"));
  view.expandAll();
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_TRUE(view.isExpanded("layers.29.mlp"));
  view.collapseAll();
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_FALSE(view.isExpanded("layers.0"));
  view.expandScope("no.such.scope");
  EXPECT_TRUE(view.waitForLayout());
}

TEST_F(ViewTest, SelectingANodeOpensWhatHidesIt) {
  view.select(node("layers.17.mlp.down_proj"));
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_TRUE(view.isExpanded("layers.17.mlp"));
  EXPECT_EQ(view.selectedNode(), node("layers.17.mlp.down_proj"));
  EXPECT_TRUE(view.selectedScope().isEmpty());
}

TEST_F(ViewTest, FindsNodesByNameOpShapeAndTensor) {
  EXPECT_EQ(view.find("q_proj"), 30);
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_EQ(view.selectedNode(), node("layers.0.attention.q_proj"));
  EXPECT_EQ(view.findNext(), 1);
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_EQ(view.selectedNode(), node("layers.1.attention.q_proj"));
  EXPECT_TRUE(view.isExpanded("layers.1.attention"));
  EXPECT_EQ(view.findPrevious(), 0);
  EXPECT_EQ(view.findPrevious(), 29) << "round the end";
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_FALSE(view.isExpanded("layers.1")) << "what a match opened folds again";
  EXPECT_EQ(view.find("blk.3.ffn_gate.weight"), 1);
  EXPECT_EQ(view.find("*_PROJ"), 7 * 30);
  EXPECT_EQ(view.find("49152"), 1);
  EXPECT_EQ(view.find("nowhere at all"), 0);
  EXPECT_EQ(view.findNext(), -1);
  EXPECT_EQ(view.find(""), 0);
}

TEST_F(ViewTest, AClickSelectsAndAKeyMoves) {
  QSignalSpy nodes(&view, &GraphView::nodeSelected), scopes(&view, &GraphView::scopeSelected);
  view.select(node("layers.0.attention.o_proj"));
  view.zoomTo(1);
  QTest::keyClick(&view, Qt::Key_Down);
  EXPECT_EQ(nodes.count(), 1);
  EXPECT_EQ(view.selectedNode(), node("layers.0.attention.residual"));
  QTest::keyClick(&view, Qt::Key_Up);
  EXPECT_EQ(view.selectedNode(), node("layers.0.attention.o_proj"));
  QTest::keyClick(&view, Qt::Key_Backspace);
  EXPECT_EQ(view.selectedScope(), "layers.0.attention");
  QTest::keyClick(&view, Qt::Key_Backspace);
  EXPECT_EQ(view.selectedScope(), "layers.0");
  EXPECT_EQ(scopes.count(), 2);
  QTest::keyClick(&view, Qt::Key_Return);
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_FALSE(view.isExpanded("layers.0"));
}

TEST_F(ViewTest, CtrlChoosesSeveralAndTakesOneOut) {
  view.collapseAll();
  view.expandScope("layers.0");
  ASSERT_TRUE(view.waitForLayout());
  view.zoomTo(1);
  view.select(node("layers.0.attention.o_proj"));
  ASSERT_TRUE(view.waitForLayout());
  const auto click = [&](const char* path, Qt::KeyboardModifiers keys) {
    const GraphView::Selected before = view.selection().back();
    view.select(node(path));  // brings it into view; a click there is on it
    ASSERT_TRUE(view.waitForLayout());
    view.select(before.node);
    for (int y = 0; y < view.viewport()->height(); y += 8) {
      view.select(before.node);
      QTest::mouseClick(view.viewport(), Qt::LeftButton, keys, QPoint(view.viewport()->width() / 2 + 20, y));
      if (view.selectedNode() == node(path)) return;
    }
    FAIL() << path;
  };
  click("layers.0.attention.residual", Qt::ControlModifier);
  ASSERT_EQ(view.selection().size(), 2U);
  EXPECT_EQ(view.selection()[0].node, node("layers.0.attention.o_proj"));
  EXPECT_EQ(view.selection()[1].node, node("layers.0.attention.residual"));
  view.selectScope("layers.0");  // choosing without Ctrl drops the others
  EXPECT_EQ(view.selection().size(), 1U);
}

TEST_F(ViewTest, ANodeThatRunsElsewhereThanAskedSaysWhy) {
  Places places{"CPU", {}};
  places.nodes[node("layers.0.attention.o_proj")] = {"CPU", "CUDA 0", "cuda.linear takes no Q4_1"};
  view.setPlaces(places);
  view.select(node("layers.0.attention.o_proj"));
  ASSERT_TRUE(view.waitForLayout());
  view.zoomTo(1);
  QString tip;
  for (int y = 0; y < view.viewport()->height() && !tip.contains("asked for"); y += 8) {
    const QPoint at(view.viewport()->width() / 2, y);
    QHelpEvent help(QEvent::ToolTip, at, view.viewport()->mapToGlobal(at));
    QApplication::sendEvent(view.viewport(), &help);
    tip = QToolTip::text();
  }
  EXPECT_TRUE(tip.endsWith("asked for CUDA 0; runs on CPU: cuda.linear takes no Q4_1")) << tip.toStdString();
}

TEST_F(ViewTest, DoubleClickOpensAndTheClickedThingStays) {
  view.collapseAll();
  ASSERT_TRUE(view.waitForLayout());
  view.fit();
  view.zoomTo(1);
  view.selectScope("layers.0");
  const QPoint middle = view.viewport()->rect().center();
  QPoint stack;  // the stack is on the spine: look for it with clicks
  for (int y = 0; y < view.viewport()->height() && stack.isNull(); y += 6) {
    view.clearSelection();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(middle.x() + 20, y));
    if (view.selectedScope() == "layers.0-29") stack = QPoint(middle.x() + 20, y);
  }
  ASSERT_FALSE(stack.isNull());
  QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, stack);
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_TRUE(view.isExpanded("layers.0"));
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, stack + QPoint(90, 4));
  EXPECT_TRUE(view.isExpanded("layers.0.attention")) << "what is small opens with it";
  EXPECT_EQ(view.selectedScope(), "layers.0") << "its header is where the stack was";
}

TEST_F(ViewTest, TheWheelZoomsAboutThePointer) {
  const QPointF pointer(300, 200);
  const QPointF before = view.mapToScene(pointer.toPoint());
  QWheelEvent wheel(pointer, view.viewport()->mapToGlobal(pointer), {}, {0, 240}, Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QSignalSpy zoomed(&view, &GraphView::zoomChanged);
  const double scale = view.zoom();
  QApplication::sendEvent(view.viewport(), &wheel);
  EXPECT_GT(view.zoom(), scale);
  EXPECT_EQ(zoomed.count(), 1);
  const QPointF after = view.mapToScene(pointer.toPoint());
  EXPECT_NEAR(before.x(), after.x(), 1.5);
  EXPECT_NEAR(before.y(), after.y(), 1.5);
}

TEST_F(ViewTest, DraggingPansAndDoesNotSelect) {
  const QPointF before = view.mapToScene(QPoint(100, 100));
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, QPoint(400, 300));
  for (int i = 1; i <= 10; ++i) {
    QMouseEvent move(QEvent::MouseMove, QPointF(400 + 5 * i, 300),
                     view.viewport()->mapToGlobal(QPointF(400 + 5 * i, 300)), Qt::NoButton, Qt::LeftButton,
                     Qt::NoModifier);
    QApplication::sendEvent(view.viewport(), &move);
  }
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, QPoint(450, 300));
  EXPECT_NEAR(view.mapToScene(QPoint(150, 100)).x(), before.x(), 1.5);
  EXPECT_FALSE(view.selectedNode().valid());
}

TEST_F(ViewTest, ANewVersionKeepsSelectionPlaceAndZoom) {
  view.select(node("layers.0.mlp.down_proj"));
  view.zoomTo(1.2);
  graph::Graph edited = *graph;
  ASSERT_TRUE(edited.set_attribute(edited.find_path("layers.5.attention.norm"), "eps", 0.5).ok());
  view.setGraph(std::make_shared<const graph::Graph>(edited), {edited.find_path("layers.5.attention.norm")});
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_EQ(view.selectedNode(), node("layers.0.mlp.down_proj"));
  EXPECT_DOUBLE_EQ(view.zoom(), 1.2);
  EXPECT_TRUE(view.isExpanded("layers.0.mlp"));
}

TEST_F(ViewTest, AnotherModelStartsAfresh) {
  view.select(node("layers.9.mlp.down_proj"));
  ASSERT_TRUE(view.waitForLayout());
  view.zoomTo(3);
  view.setGraph(samples::layeredGraph(12), {}, "another");
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_FALSE(view.isExpanded("layers.9"));
  EXPECT_TRUE(view.isExpanded("layers.0"));
  EXPECT_LE(view.zoom(), 1.0);
  EXPECT_FALSE(view.selectedNode().valid());
}

TEST_F(ViewTest, AWindowThatGrowsShowsMoreUntilThePersonMoves) {
  view.resize(984, 900);
  QApplication::processEvents();
  const double top = view.mapToScene(QPoint(0, 0)).y();
  EXPECT_LT(top, 0);
  EXPECT_GT(top, -60) << "still at the top";
  view.zoomTo(2);
  const double scale = view.zoom();
  view.resize(700, 700);
  EXPECT_DOUBLE_EQ(view.zoom(), scale);
}

TEST_F(ViewTest, ALateLayoutIsDropped) {
  QSignalSpy finished(&view, &GraphView::layoutFinished);
  for (int i = 0; i < 20; ++i) i % 2 ? view.expandAll() : view.collapseAll();
  ASSERT_TRUE(view.waitForLayout());
  QTest::qWait(50);
  EXPECT_EQ(finished.count(), 1);
  EXPECT_TRUE(view.isExpanded("layers.29"));
  {
    GraphView other{Theme()};
    other.setGraph(samples::flatGraph(5000));
  }  // goes while its layout is made
  view.setGraph(nullptr);
  EXPECT_TRUE(view.waitForLayout());
  view.grab();
}

TEST_F(ViewTest, ExportsPictures) {
  QTemporaryDir folder;
  for (const char* suffix : {"png", "svg", "pdf"}) {
    const QString path = folder.filePath(QStringLiteral("graph.") + suffix);
    QString reason;
    EXPECT_TRUE(view.exportImage(path, &reason)) << reason.toStdString();
    EXPECT_GT(QFile(path).size(), 5000) << suffix;
  }
  QString reason;
  EXPECT_FALSE(view.exportImage(folder.filePath("graph.bmp"), &reason));
  EXPECT_FALSE(reason.isEmpty());
  EXPECT_FALSE(view.exportImage("/no/such/folder/graph.png", &reason));
}
TEST_F(ViewTest, PaintsWhatItShows) {
  const QImage cold = view.grab().toImage();
  view.setTimings(samples::plausibleFigures(*graph, samples::kStep, true));
  QTest::qWait(400);  // repaint at 10 Hz, digits at 4 Hz
  const QImage hot = view.grab().toImage();
  EXPECT_NE(cold, hot);
  view.setTheme(Theme(Theme::Mode::light));
  const QImage light = view.grab().toImage();
  EXPECT_EQ(light.pixelColor(3, light.height() / 2), Theme(Theme::Mode::light)(Token::canvas));
}

}  // namespace
}  // namespace orrery::ui
