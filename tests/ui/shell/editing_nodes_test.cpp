// Nodes by hand: inserted, dragged, deleted, copied, framed, noted, renamed, chosen together.
#include <QAccessible>
#include <QClipboard>
#include <QDropEvent>
#include <QMimeData>
#include <QSignalSpy>

#include "support/editing_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/graph/op_mime.h"
#include "ui/ops/ops_page.h"

namespace orrery::ui::testing {
namespace {

constexpr const char* kSilu = "layers.0.mlp.act";

class NodesTest : public EditingTest {
 protected:
  PickPalette* palette() const { return editor()->palette(); }
  void pick(const QString& op) {
    ASSERT_TRUE(palette()->isVisible());
    type(palette()->field(), op);
    QTest::keyClick(palette()->field(), Qt::Key_Return);
  }
  void drop(const QString& op, QPoint at) {
    const std::unique_ptr<QMimeData> mime(mimeOfOp(op));
    QDragEnterEvent enter(at, Qt::CopyAction, mime.get(), Qt::LeftButton, {});
    QApplication::sendEvent(ground(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDragMoveEvent move(at, Qt::CopyAction, mime.get(), Qt::LeftButton, {});
    QApplication::sendEvent(ground(), &move);
    QDropEvent dropped(at, Qt::CopyAction, mime.get(), Qt::LeftButton, {});
    QApplication::sendEvent(ground(), &dropped);
  }
};

TEST_F(NodesTest, TabInsertsAfterWhatIsChosen) {
  click(wordsOf(kSilu));
  key(Qt::Key_Tab);
  pick("relu");
  EXPECT_TRUE(recipeBecomes(
      R"(insert as=layers.0.mlp.relu inputs="{\"src\":\"layers.0.mlp.act:dst\"}" op=relu; connect input=layers.0.mlp.gate.a value=layers.0.mlp.relu:dst)"));
  EXPECT_EQ(window_->action("edit.undo")->text().remove('&'), "Undo insert relu");
  key(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(recipeBecomes("")) << "one gesture is undone as one";
}

TEST_F(NodesTest, ADoubleClickOnTheGroundOpensThePalette) {
  QTest::mouseDClick(ground(), Qt::LeftButton, {}, free(kMul));
  ASSERT_TRUE(palette()->isVisible());
  takePictures("edit-palette-ground");
  EXPECT_GT(palette()->model()->rowCount(), 30);
  QTest::keyClicks(palette()->field(), "root mean");
  QTest::keyClick(palette()->field(), Qt::Key_Escape);
  EXPECT_FALSE(palette()->isVisible());
}

TEST_F(NodesTest, AnOpDroppedOnAWireIsInsertedThere) {
  drop("relu", wireAt(kMul, "b"));
  EXPECT_TRUE(recipeBecomes(
      R"(insert as=layers.0.mlp.relu inputs="{\"src\":\"layers.0.mlp.up_proj:dst\"}" op=relu; connect input=layers.0.mlp.gate.b value=layers.0.mlp.relu:dst)"));
}

TEST_F(NodesTest, AnOpThatDoesNotFitTheWireIsRefused) {
  drop("rope", wireAt(kMul, "b"));
  EXPECT_TRUE(editor()->refusalCard()->isVisible());
  settle();
  EXPECT_EQ(recipe(), "");
}

TEST_F(NodesTest, AnOpDroppedOnTheGroundIsADraft) {
  const QPoint at = free(kMul);
  drop("add", at);
  ASSERT_EQ(editor()->drafts().all().size(), 1U);
  const QRectF box = editor()->boxOfDraft(editor()->drafts().all().front().id);
  EXPECT_LT((box.center().toPoint() - at).manhattanLength(), 40);
  QTest::mouseClick(ground(), Qt::LeftButton, {}, box.center().toPoint());
  key(Qt::Key_Delete);
  EXPECT_TRUE(editor()->drafts().all().empty());
}

TEST_F(NodesTest, ADraggedNodeStaysWhereItIsPut) {
  const QRect before = boxOf(kMul), other = boxOf(kGate);
  drag(wordsOf(kMul), wordsOf(kMul) + QPoint(60, 8));
  settle();
  EXPECT_NEAR(boxOf(kMul).left(), before.left() + 60, 2);
  EXPECT_NEAR(boxOf(kMul).top(), before.top() + 8, 2);
  EXPECT_EQ(boxOf(kGate), other) << "nothing else moves";
  EXPECT_EQ(recipe(), "") << "a place is no edit";
  takePictures("edit-dragged");

  drag(portAt(kGate, "dst"), portAt(kMul, "b"));
  ASSERT_TRUE(recipeBecomes("connect input=layers.0.mlp.gate.b value=layers.0.mlp.gate_proj:dst"));
  EXPECT_NEAR(boxOf(kMul).left(), before.left() + 60, 2) << "and an edit leaves it there";
  EXPECT_EQ(boxOf(kGate), other);

  const QString path = QString::fromStdString(window_->session()->session()->info().path);
  quit(*window_);
  EXPECT_TRUE(SettingsFile(folder_.path()).load().arrangements.value(path).contains("layers.0.mlp.gate"));
  open(ThemeChoice::dark);
  EXPECT_GT(boxOf(kMul).left() - boxOf("layers.0.mlp.down_proj").left(), before.left() - other.left() - 400);
  window_->action("graph.arrange")->trigger();
  settle();
  bring(kMul);
  EXPECT_TRUE(editor()->arrangement().isEmpty());
}

TEST_F(NodesTest, ANodeDroppedOnAWireMovesThere) {
  drag(wordsOf(kSilu), wireAt(kMul, "b"));
  EXPECT_TRUE(
      recipeBecomes("connect input=layers.0.mlp.gate.a value=layers.0.mlp.gate_proj:dst; "
                    "connect input=layers.0.mlp.act.src value=layers.0.mlp.up_proj:dst; "
                    "connect input=layers.0.mlp.gate.b value=layers.0.mlp.act:dst"));
  EXPECT_EQ(window_->action("edit.undo")->text().remove('&'), "Undo move layers.0.mlp.act");
}

TEST_F(NodesTest, DeleteSaysWhyItCannotAndReconnects) {
  click(wordsOf(kSilu));
  key(Qt::Key_Delete);
  ASSERT_TRUE(waitUntil([&] { return editor()->refusalCard()->isVisible(); }));
  EXPECT_TRUE(editor()->refusalCard()->refusal().cause.contains("gate")) << "who reads it";
  takePictures("edit-delete-refused");
  settle();
  EXPECT_EQ(recipe(), "");
  const QRect mul = boxOf(kMul);
  key(Qt::Key_Delete, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes("delete reconnect=true scope=layers.0.mlp.act"));
  EXPECT_FALSE(editor()->refusalCard()->isVisible());
  EXPECT_EQ(boxOf(kMul), mul) << "what was not touched stays";
  takePictures("edit-deleted");
  window_->graphPage()->setDiffShown(true);
  settle();
  EXPECT_EQ(boxOf(kMul), mul);
  takePictures("edit-deleted-diff");
  key(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes(""));
  EXPECT_EQ(boxOf(kMul), mul);
}

TEST_F(NodesTest, BypassActsOnAllThatIsChosen) {
  click(wordsOf("layers.0.attention.q_rope"));
  click(wordsOf("layers.0.attention.k_rope"), Qt::ShiftModifier);
  EXPECT_EQ(view()->selection().size(), 2U);
  EXPECT_TRUE(editor()->bar()->isVisible());
  takePictures("edit-several");
  key(Qt::Key_B);
  EXPECT_TRUE(recipeBecomes("bypass scope=layers.0.attention.q_rope,layers.0.attention.k_rope"));
  takePictures("edit-bypassed");
}

TEST_F(NodesTest, ADragOnTheGroundChoosesWhatItMeets) {
  const QRect gate = boxOf(kGate), up = boxOf("layers.0.mlp.up_proj");
  const QRect all = gate.united(up);
  press(all.topLeft() - QPoint(6, 6));
  moveTo(all.center());
  moveTo(all.bottomRight() + QPoint(4, 4));
  takePictures("edit-marquee");
  release(all.bottomRight() + QPoint(4, 4));
  std::vector<NodeId> nodes;
  for (const GraphView::Selected& one : view()->selection()) nodes.push_back(one.node);
  EXPECT_NE(std::find(nodes.begin(), nodes.end(), node(kGate)), nodes.end());
  EXPECT_NE(std::find(nodes.begin(), nodes.end(), node("layers.0.mlp.up_proj")), nodes.end());
}

TEST_F(NodesTest, WithKeysADragAddsToWhatIsChosenOrTakesOut) {
  constexpr const char* kUp = "layers.0.mlp.up_proj";
  const auto dragAround = [&](const char* path, Qt::KeyboardModifiers keys) {
    const QRect box = boxOf(path);
    drag(box.bottomRight() + QPoint(4, 6), box.topLeft() - QPoint(2, 2), keys);  // no wire begins there
  };
  const auto chosen = [&] {
    std::vector<NodeId> nodes;
    for (const GraphView::Selected& one : view()->selection()) nodes.push_back(one.node);
    return nodes;
  };
  click(wordsOf(kGate));
  dragAround(kUp, Qt::ShiftModifier);
  EXPECT_EQ(chosen(), (std::vector{node(kGate), node(kUp)}));
  dragAround(kUp, Qt::ShiftModifier);
  EXPECT_EQ(chosen(), (std::vector{node(kGate), node(kUp)})) << "each once";
  dragAround(kGate, Qt::ControlModifier);
  EXPECT_EQ(chosen(), std::vector{node(kUp)});
  dragAround(kUp, {});
  EXPECT_EQ(chosen(), std::vector{node(kUp)});
}

TEST_F(NodesTest, LayersOfAFoldedRangeAreEditedByOneGesture) {
  view()->collapseAll();
  settle();
  bring("layers.0-29");
  click(wordsOf(kMul));  // the stack stands for it
  ASSERT_EQ(view()->selectedScope(), "layers.0-29");
  key(Qt::Key_B);
  EXPECT_TRUE(waitUntil([&] { return recipe() == "bypass scope=layers.0-29"; }))
      << recipe().toStdString() << window_->graphPage()->banner()->body().toStdString();
}

TEST_F(NodesTest, CopiesAreDuplicatesWhileTheOriginalsAreThere) {
  click(wordsOf(kSilu));
  key(Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text(), "layers.0.mlp.act");
  key(Qt::Key_V, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes("duplicate scope=layers.0.mlp.act"));
  EXPECT_TRUE(node("layers.0.mlp.act@2").valid());
  key(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes(""));
  key(Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_EQ(editor()->drafts().all().size(), 1U);
  EXPECT_EQ(editor()->drafts().missing(*model(), editor()->drafts().all().front()),
            std::vector<std::string>{"src"});
}

TEST_F(NodesTest, WhatWasCutIsPastedAnew) {
  click(wordsOf(kSilu));
  key(Qt::Key_X, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes("delete reconnect=true scope=layers.0.mlp.act"));
  moveTo(free(kMul));
  key(Qt::Key_V, Qt::ControlModifier);
  EXPECT_TRUE(recipeBecomes(
      "delete reconnect=true scope=layers.0.mlp.act; "
      R"(insert as=layers.0.mlp.act inputs="{\"src\":\"layers.0.mlp.gate_proj:dst\"}" op=silu)"));
}

TEST_F(NodesTest, DuplicatesByKeyAndByAltDrag) {
  click(wordsOf(kSilu));
  key(Qt::Key_D, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes("duplicate scope=layers.0.mlp.act"));
  const QPoint to = free(kMul);
  drag(wordsOf(kSilu), to, Qt::AltModifier);
  ASSERT_TRUE(recipeBecomes("duplicate scope=layers.0.mlp.act; duplicate as=@3 scope=layers.0.mlp.act"));
  EXPECT_LT((boxOf("layers.0.mlp.act@3").topLeft() + QPoint(40, 12) - to).manhattanLength(), 6);
}

TEST_F(NodesTest, AFrameHasATitleAndMovesItsNodes) {
  click(wordsOf(kGate));
  click(wordsOf("layers.0.mlp.up_proj"), Qt::ShiftModifier);
  key(Qt::Key_G, Qt::ControlModifier);
  type(editor()->field(), "Gate and up");
  QTest::keyClick(editor()->field(), Qt::Key_Return);
  ASSERT_TRUE(
      recipeBecomes("frame nodes=layers.0.mlp.gate_proj,layers.0.mlp.up_proj title=\"Gate and up\"") ||
      recipe().startsWith("frame"));
  ASSERT_EQ(editor()->frames().size(), 1U);
  EXPECT_EQ(editor()->frames().front().title, "Gate and up");
  EXPECT_EQ(editor()->frames().front().nodes.size(), 2U);
  takePictures("edit-frame");
  const QRect gate = boxOf(kGate);
  const QPoint head = gate.topLeft() + QPoint(60, -20);
  drag(head, head + QPoint(0, 12));
  settle();
  EXPECT_NEAR(boxOf(kGate).top(), gate.top() + 12, 2);
}

TEST_F(NodesTest, ANoteStandsBesideItsNode) {
  click(wordsOf(kMul));
  key(Qt::Key_N, Qt::ShiftModifier);
  type(editor()->field(), "No activation here: a bilinear MLP.");
  QTest::keyClick(editor()->field(), Qt::Key_Return, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([&] { return recipe().startsWith("note node=layers.0.mlp.gate"); }));
  settle();
  ASSERT_EQ(editor()->notes().size(), 1U);
  EXPECT_EQ(editor()->notes().front().text, "No activation here: a bilinear MLP.");
  takePictures("edit-note");
}

TEST_F(NodesTest, F2Renames) {
  click(wordsOf(kMul));
  const QRect before = boxOf(kMul);
  key(Qt::Key_F2);
  type(editor()->field(), "product");
  QTest::keyClick(editor()->field(), Qt::Key_Return);
  ASSERT_TRUE(recipeBecomes("rename node=layers.0.mlp.gate to=product"));
  EXPECT_EQ(boxOf("layers.0.mlp.product").top(), before.top());
}

TEST_F(NodesTest, AnEditedNodeSaysWhatItWas) {
  const QString norm = "layers.0.attention.norm";
  window_->session()->apply(
      edit::parse_edit("set node=layers.0.attention.norm attribute=eps value=0.5").value());
  window_->session()->apply(edit::parse_edit("quantise scope=layers.0.mlp.gate_proj type=q4_0").value());
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 2; }, 60000));
  settle();
  const ChangeWords& words = *editor()->changeWords();
  ASSERT_TRUE(words.contains(node(norm)));
  EXPECT_EQ(words.at(node(norm)), "eps 0.5, was 1e-05");
  ASSERT_TRUE(words.contains(node(kGate)));
  EXPECT_EQ(words.at(node(kGate)), "Q4_0, was Q4_1");
  bring(kGate);
  takePictures("edit-said");
  window_->session()->undo();
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 1; }, 60000));
  settle();
  EXPECT_FALSE(editor()->changeWords()->contains(node(kGate)));
  window_->action("graph.openAll")->trigger();
  settle();
  view()->selectScope("layers.0");
  const QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(view())->child(0);
  EXPECT_TRUE(spoken->text(QAccessible::Name).endsWith("1 edit"))
      << spoken->text(QAccessible::Name).toStdString();
  takePictures("edit-page");
}

TEST_F(NodesTest, WhatAnEditWouldTouchIsMarkedUntilItIsLeft) {
  bring(kMul);
  emit window_->work().editConsidered({edit::parse_edit("bypass scope=layers.0.mlp").value()});
  EXPECT_EQ(editor()->pending().size(), 7U) << "the nodes of the half layer";
  takePictures("edit-pending");
  emit window_->work().editLeft();
  EXPECT_TRUE(editor()->pending().empty());
}

TEST_F(NodesTest, BackToTheOriginalByOneKey) {
  click(wordsOf("layers.0.attention.q_rope"));
  key(Qt::Key_B);
  ASSERT_TRUE(recipeBecomes("bypass scope=layers.0.attention.q_rope"));
  click(wordsOf("layers.0.attention.q_rope"));
  key(Qt::Key_Backspace, Qt::ControlModifier);
  EXPECT_TRUE(recipeBecomes(""));
}

TEST_F(NodesTest, TheFusedGraphIsOnlyLookedAt) {
  window_->graphPage()->showTab(true);
  GraphView* fused = window_->graphPage()->fusedView();
  ASSERT_TRUE(fused->waitForLayout());
  fused->setFocus();
  QTest::keyClick(fused, Qt::Key_Delete);
  EXPECT_TRUE(window_->graphPage()->banner()->isVisible());
  EXPECT_EQ(recipe(), "");
}

TEST_F(NodesTest, WiresAreColouredByTypeWhenAsked) {
  window_->action("graph.wiresByType")->trigger();
  EXPECT_TRUE(editor()->wiresByType());
  bring("layers.0.attention.sdpa");
  takePictures("edit-wires-dtype");
  window_->action("graph.wiresByType")->trigger();
  EXPECT_FALSE(editor()->wiresByType());
}

TEST_F(NodesTest, TheOpsDockInsertsByEnter) {
  window_->showPage("ops");
  auto* ops = window_->findChild<OpsPage*>();
  ASSERT_TRUE(ops);
  EXPECT_GT(ops->model()->count(), 40);
  takePictures("edit-ops");
  type(ops->field(), "relu");
  EXPECT_EQ(ops->model()->rowCount(), 1);
  QTest::keyClick(ops->field(), Qt::Key_Return);
  EXPECT_EQ(editor()->drafts().all().size(), 1U) << "in the middle of the view";
}

}  // namespace
}  // namespace orrery::ui::testing
