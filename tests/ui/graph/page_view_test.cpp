// Pages in the view, as a person uses them: columns, what stays where it is, the lens, keys, paper.
#include <gtest/gtest.h>

#include <QAccessible>
#include <QFile>
#include <QMouseEvent>
#include <QPdfWriter>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/cell_pictures.h"
#include "ui/graph/graph_strip.h"
#include "ui/graph/graph_view.h"

namespace orrery::ui {
namespace {

using samples::kStep;
using PageSize = GraphView::PageSize;

class PageViewTest : public testing::Test {
 protected:
  void SetUp() override { show(samples::decoderGraph(30), {1160, 904}); }
  void show(const graph::GraphVersion& graph, const QSize& size) {
    graph_ = graph;
    view.setReducedMotion(true);
    view.resize(size);
    view.show();
    view.setGraph(graph, {}, "sample");
    ASSERT_TRUE(view.waitForLayout());
    view.setTimings(samples::plausibleFigures(*graph, kStep, false));
  }
  void openAll() {
    view.expandAll();
    settle();
  }
  void settle() { ASSERT_TRUE(view.waitForLayout()); }
  /// Where the middle of a layer is, in the viewport: by way of the choice, which rings it.
  QPoint placeOf(const QString& scope) {
    view.selectScope(scope);
    view.waitForLayout();
    QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(&view);
    return view.viewport()->mapFromGlobal(spoken->child(0)->rect().center());
  }
  void point(const QPoint& place) {
    QMouseEvent move(QEvent::MouseMove, QPointF(place), view.viewport()->mapToGlobal(QPointF(place)),
                     Qt::NoButton, {}, {});
    QApplication::sendEvent(view.viewport(), &move);
  }
  QImage picture() { return view.viewport()->grab().toImage(); }

  graph::GraphVersion graph_;
  GraphView view{Theme()};
};

TEST(BriefNames, AreNeverTwoOpsOfALayer) {
  EXPECT_EQ(briefNames({"q_proj", "attn_out", "up_proj", "norm"}), QStringList({"q", "out", "up", "norm"}));
  EXPECT_EQ(briefNames({"gate_proj", "gate", "up_proj"}), QStringList({"gate_proj", "gate", "up"}))
      << "the product of the halves is called gate";
  EXPECT_EQ(briefNames({"attn_q", "q_proj"}), QStringList({"attn_q", "q_proj"}));
  EXPECT_EQ(briefNames({"q_proj", "q_proj"}), QStringList({"q", "q"})) << "one name, one word";
}

TEST(BriefNames, ThatAreCutToTheSameAreLeftOut) {
  EXPECT_EQ(distinctWords({"select_rows", "select_last", "norm"}, {"sel…", "sel…", "norm"}),
            QStringList({"", "", "norm"}));
  EXPECT_EQ(distinctWords({"kv_append", "kv_append"}, {"kv_…", "kv_…"}), QStringList({"kv_…", "kv_…"}));
}

TEST_F(PageViewTest, OpeningAllMakesAPageThatIsSeenWhole) {
  QSignalSpy changed(&view, &GraphView::pagesChanged);
  EXPECT_EQ(view.pageSize(), PageSize{});
  openAll();
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(view.pageSize().layers, 30);
  EXPECT_GE(view.pageSize().columns, 4);
  EXPECT_EQ(view.summary(), QString("30 layers, %1 nodes, all open").arg(30 * 26 + 3));
  const QRectF whole = view.mapToScene(view.viewport()->rect()).boundingRect();
  for (const char* scope : {"layers.0", "layers.29"}) {
    const QPoint place = placeOf(scope);
    EXPECT_TRUE(view.viewport()->rect().contains(place)) << scope;
  }
  EXPECT_EQ(view.mapToScene(view.viewport()->rect()).boundingRect(), whole)
      << "to choose them it did not move";
  view.collapseAll();
  settle();
  EXPECT_EQ(view.pageSize(), PageSize{});
  EXPECT_EQ(changed.count(), 2);
}

TEST_F(PageViewTest, APageOpensFromItsStack) {
  view.collapseAll();
  settle();
  EXPECT_TRUE(view.canBePage("layers.0-29"));
  EXPECT_FALSE(view.canBePage("embed"));
  view.openPage("layers.0-29");
  settle();
  EXPECT_EQ(view.pageSize().layers, 30);
}

TEST_F(PageViewTest, ColumnsAreAsAsked) {
  openAll();
  const int automatic = view.pageSize().columns;
  for (const int columns : {1, 3, 7, 24}) {
    view.setColumns(columns);
    settle();
    EXPECT_EQ(view.columns(), columns);
    EXPECT_EQ(view.pageSize().rows, (30 + columns - 1) / columns);
  }
  view.setColumns(99);
  EXPECT_EQ(view.columns(), 24);
  view.setColumns(0);
  settle();
  EXPECT_EQ(view.pageSize().columns, automatic);
}

TEST_F(PageViewTest, ChosenColumnsHoldForAPageThatOpensLater) {
  view.setColumns(3);
  openAll();
  EXPECT_EQ(view.pageSize(), (PageSize{3, 10, 30}));
}

TEST_F(PageViewTest, AnotherSizeChangesTheColumnsOnceItIsSettledAndOnlyForMuch) {
  openAll();
  const int columns = view.pageSize().columns;
  view.resize(1230, 904);
  QTest::qWait(400);
  settle();
  EXPECT_EQ(view.pageSize().columns, columns) << "a little";
  view.resize(1900, 500);
  QTest::qWait(100);
  EXPECT_EQ(view.pageSize().columns, columns) << "it may go on";
  QTest::qWait(400);
  settle();
  EXPECT_GT(view.pageSize().columns, columns);
  view.setColumns(5);
  settle();
  view.resize(600, 1200);
  QTest::qWait(400);
  settle();
  EXPECT_EQ(view.pageSize().columns, 5) << "a number that was chosen stays";
}

TEST_F(PageViewTest, FoldingALayerMovesNoOther) {
  openAll();
  const QPoint before = placeOf("layers.20"), own = placeOf("layers.7");
  view.collapseScope("layers.7");
  settle();
  EXPECT_LE((placeOf("layers.20") - before).manhattanLength(), 1);
  EXPECT_LT(placeOf("layers.7").y(), own.y()) << "its head, at the top of its cell";
  EXPECT_EQ(view.pageSize().layers, 30);
  view.expandScope("layers.7");
  settle();
  EXPECT_LE((placeOf("layers.7") - own).manhattanLength(), 1);
}

TEST_F(PageViewTest, LayersStayInTheirCellsWhenOneIsGone) {
  openAll();
  const QPoint before = placeOf("layers.12");
  graph::Graph copy = *graph_;
  const ValueId enters = copy.node(copy.find_path("layers.3.attention.norm")).inputs.front(),
                leaves = copy.node(copy.find_path("layers.3.mlp.residual")).outputs.front();
  for (const graph::Use& use : copy.users(leaves))
    ASSERT_TRUE(copy.set_input(use.node, use.input, enters).ok());
  const std::vector<NodeId> own = copy.in_scope("layers.3");
  for (auto node = own.rbegin(); node != own.rend(); ++node) ASSERT_TRUE(copy.remove_node(*node).ok());
  view.setGraph(std::make_shared<const graph::Graph>(copy), {}, "sample");
  settle();
  EXPECT_EQ(view.pageSize().layers, 29);
  EXPECT_LE((placeOf("layers.12") - before).manhattanLength(), 1);
  view.setGraph(graph_, {}, "sample");  // taken back
  settle();
  EXPECT_LE((placeOf("layers.12") - before).manhattanLength(), 1);
  EXPECT_EQ(view.pageSize().layers, 30);
  view.setGraph(std::make_shared<const graph::Graph>(std::move(copy)), {}, "sample");
  settle();
  const int rows = view.pageSize().rows;
  view.closeCells();  // saved
  settle();
  EXPECT_GT((placeOf("layers.4") - before).manhattanLength(), 1);
  EXPECT_LE(view.pageSize().rows, rows);
}

TEST_F(PageViewTest, TheLensOpensWhereThePointerRestsAndClosesWhenItLeaves) {
  openAll();
  ASSERT_LT(view.zoom(), 0.35);
  const QPoint place = placeOf("layers.8");
  view.clearSelection();
  const QImage plain = picture();
  point(place);
  const QImage hovered = picture();
  QTest::qWait(100);
  EXPECT_EQ(picture(), hovered) << "not at once";
  QTest::qWait(250);
  EXPECT_NE(picture(), hovered);
  point(QPoint(3, 3));
  EXPECT_EQ(picture(), plain);
  view.setParts(view.parts() & ~GraphView::Parts(GraphView::Part::lens));
  point(place);
  QTest::qWait(350);
  EXPECT_EQ(picture(), hovered) << "off";
}

TEST_F(PageViewTest, WhatIsInTheLensCanBeChosen) {
  openAll();
  QSignalSpy nodes(&view, &GraphView::nodeSelected);
  const QPoint place = placeOf("layers.8");
  point(place);
  QTest::qWait(350);
  // A click beside the middle meets an op of the layer from near: its row is some 45 pixels high.
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, place + QPoint(20, 0));
  const NodeId first = view.selectedNode();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, place + QPoint(20, 50));
  ASSERT_GE(nodes.count(), 1);
  ASSERT_TRUE(view.selectedNode().valid());
  EXPECT_NE(view.selectedNode(), first);
  EXPECT_TRUE(graph_->node(view.selectedNode()).path().starts_with("layers.8."));
}

TEST_F(PageViewTest, KeysHoldPinMoveAndCloseTheLens) {
  openAll();
  view.selectScope("layers.8");
  const QImage plain = picture();
  QTest::keyPress(&view, Qt::Key_Z);
  const QImage held = picture();
  EXPECT_NE(held, plain);
  QTest::keyRelease(&view, Qt::Key_Z);
  EXPECT_EQ(picture(), plain) << "held, then let go";
  QTest::keyPress(&view, Qt::Key_Z);
  QTest::keyPress(&view, Qt::Key_Down);
  QTest::keyRelease(&view, Qt::Key_Z);
  const QImage next = picture();
  EXPECT_NE(next, held) << "the next layer";
  EXPECT_EQ(view.selectedScope(), "layers.8") << "arrows are the lens's";
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_NE(picture(), next) << "the next column";
  QTest::keyClick(&view, Qt::Key_Escape);
  EXPECT_EQ(picture(), plain);
  EXPECT_EQ(view.selectedScope(), "layers.8") << "Esc closed the lens, nothing else";
  QTest::keyPress(&view, Qt::Key_Z);
  QTest::keyClick(&view, Qt::Key_Return);
  EXPECT_GT(view.zoom(), 0.8) << "there, from near";
}

TEST_F(PageViewTest, TheWheelSizesTheLensAndLeavesTheDrawing) {
  openAll();
  const QPoint place = placeOf("layers.8");
  point(place);
  QTest::qWait(350);
  const double zoom = view.zoom();
  const QImage before = picture();
  QWheelEvent wheel(QPointF(place), view.viewport()->mapToGlobal(QPointF(place)), {}, {0, -240}, {}, {}, {},
                    false);
  QApplication::sendEvent(view.viewport(), &wheel);
  EXPECT_EQ(view.zoom(), zoom);
  EXPECT_NE(picture(), before);
}

TEST_F(PageViewTest, ArrowsWalkInTheOrderOfTheStream) {
  openAll();
  const int rows = view.pageSize().rows;
  view.selectScope("layers.1");
  QTest::keyClick(&view, Qt::Key_Down);
  EXPECT_EQ(view.selectedScope(), "layers.2");
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(view.selectedScope(), QString("layers.%1").arg(2 + rows));
  QTest::keyClick(&view, Qt::Key_Left);
  view.selectScope(QString("layers.%1").arg(rows - 1));
  QTest::keyClick(&view, Qt::Key_Down);
  EXPECT_EQ(view.selectedScope(), QString("layers.%1").arg(rows))
      << "from the foot of a column to the next head";
  // From op to op, and over the border of a layer.
  view.select(graph_->find_path("layers.4.mlp.down_proj"));
  settle();
  QTest::keyClick(&view, Qt::Key_Down);
  EXPECT_EQ(graph_->node(view.selectedNode()).path(), "layers.4.mlp.residual");
  QTest::keyClick(&view, Qt::Key_Down);
  EXPECT_EQ(graph_->node(view.selectedNode()).path(), "layers.5.attention.norm");
}

TEST_F(PageViewTest, ScreenReadersHearThePlace) {
  openAll();
  view.setColumns(6);
  settle();
  QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(&view);
  ASSERT_TRUE(spoken);
  view.selectScope("layers.21");
  EXPECT_TRUE(spoken->child(0)->text(QAccessible::Name).startsWith("layer 21, column 5, row 2"));
  view.select(graph_->find_path("layers.21.mlp.norm"));
  settle();
  EXPECT_TRUE(spoken->child(0)->text(QAccessible::Name).startsWith("norm, layer 21, column 5, row 2"));
  EXPECT_EQ(spoken->childCount(), 31);
  EXPECT_EQ(spoken->child(1)->text(QAccessible::Name), "layer 0, column 1, row 1");
  EXPECT_TRUE(spoken->child(22)->text(QAccessible::Name).startsWith("layer 21"));
}

TEST_F(PageViewTest, EditedLayersSayHowManyEdits) {
  openAll();
  std::unordered_set<NodeId> edit;
  for (const NodeId id : graph_->in_scope("layers.21.mlp")) edit.insert(id);
  view.setEdits({edit, edit});
  view.selectScope("layers.21");
  EXPECT_TRUE(
      QAccessible::queryAccessibleInterface(&view)->child(0)->text(QAccessible::Name).endsWith("2 edits"));
}

TEST_F(PageViewTest, PaperHasSheetsOfReadableWords) {
  const QTemporaryDir folder;
  QString reason;
  const QString one = folder.filePath("page.svg");
  ASSERT_TRUE(view.exportPaper(one, GraphView::Paper::a3, &reason)) << reason.toStdString();
  EXPECT_TRUE(QSvgRenderer(one).isValid());
  QFile file(one);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray text = file.readAll();
  EXPECT_TRUE(text.contains("layers.29"));
  EXPECT_TRUE(text.contains("Lines and frames"));
  EXPECT_TRUE(text.contains("down"));
  EXPECT_FALSE(text.contains("to layers.")) << "all of it is on one";

  show(samples::decoderGraph(162), {1160, 904});
  const QString many = folder.filePath("many.svg");
  ASSERT_TRUE(view.exportPaper(many, GraphView::Paper::a4, &reason)) << reason.toStdString();
  QFile first(many), second(folder.filePath("many-2.svg"));
  ASSERT_TRUE(first.open(QIODevice::ReadOnly));
  ASSERT_TRUE(second.open(QIODevice::ReadOnly)) << "a second sheet";
  EXPECT_TRUE(first.readAll().contains("to layers."));
  EXPECT_TRUE(second.readAll().contains("from layers."));
  const QString pdf = folder.filePath("many.pdf");
  ASSERT_TRUE(view.exportPaper(pdf, GraphView::Paper::a4, &reason)) << reason.toStdString();
  EXPECT_GT(QFile(pdf).size(), 10000);
  EXPECT_FALSE(view.exportPaper(folder.filePath("page.png"), GraphView::Paper::a4, &reason));
  EXPECT_TRUE(reason.contains("svg or pdf"));
  EXPECT_FALSE(view.exportPaper("/no/such/folder/page.pdf", GraphView::Paper::a4, &reason));
  show(samples::flatGraph(20), {800, 600});
  EXPECT_FALSE(view.exportPaper(pdf, GraphView::Paper::a4, &reason));
  EXPECT_TRUE(reason.contains("layers"));
}

}  // namespace
}  // namespace orrery::ui
