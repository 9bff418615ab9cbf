// Wires by hand: from port to port, taken off an end, refused, cut; and the palette at a wire's end.
#include <QSignalSpy>

#include "support/editing_fixture.h"

namespace orrery::ui::testing {
namespace {

class WiresTest : public EditingTest {};

TEST_F(WiresTest, DrawnFromAnOutputToAnInput) {
  drag(portAt(kGate, "dst"), portAt(kMul, "b"));
  ASSERT_TRUE(recipeBecomes("connect input=layers.0.mlp.gate.b value=layers.0.mlp.gate_proj:dst"));
  EXPECT_EQ(window_->action("edit.undo")->text().remove('&'), "Undo connect gate.b");
  key(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(recipeBecomes(""));
}

TEST_F(WiresTest, DrawnFromAnInputToAnOutput) {
  drag(portAt(kMul, "b"), portAt(kGate, "dst"));
  EXPECT_TRUE(recipeBecomes("connect input=layers.0.mlp.gate.b value=layers.0.mlp.gate_proj:dst"));
}

TEST_F(WiresTest, SnapsToAPortNearby) {
  drag(portAt(kGate, "dst"), portAt(kMul, "b") + QPoint(14, -14));
  EXPECT_TRUE(recipeBecomes("connect input=layers.0.mlp.gate.b value=layers.0.mlp.gate_proj:dst"));
}

TEST_F(WiresTest, AnEndThatIsTakenOffGoesElsewhere) {
  const QPoint end = wireAt(kMul, "b", 18);  // beyond the port, from which another wire is drawn
  press(end);
  moveTo(end + QPoint(-10, -2));
  moveTo(portAt(kMul, "a"));
  release(portAt(kMul, "a"));
  EXPECT_TRUE(recipeBecomes("connect input=layers.0.mlp.gate.a value=layers.0.mlp.up_proj:dst"));
}

TEST_F(WiresTest, AWrongTargetSaysWhyWhileTheWireHangsThere) {
  QSignalSpy considered(editor(), &GraphEditor::editConsidered);
  const QPoint target = portAt(kMul, "b");
  press(portAt("layers.0.mlp.norm", "dst"));
  moveTo(target + QPoint(40, -60));
  moveTo(target);
  RefusalCard* card = editor()->refusalCard();
  ASSERT_TRUE(card->isVisible());
  EXPECT_EQ(card->refusal().title, "gate.b does not take this");
  ASSERT_TRUE(card->refusal().gives && card->refusal().takes);
  EXPECT_EQ(card->refusal().gives->dims.last(), "576");
  EXPECT_EQ(card->refusal().takes->dims.last(), "1536");
  takePictures("edit-wire-refused-dragging");
  release(target);
  EXPECT_TRUE(card->isVisible()) << "the try stays until the next edit";
  takePictures("edit-wire-refused");
  settle();
  EXPECT_EQ(recipe(), "");
  EXPECT_EQ(considered.count(), 0);
  key(Qt::Key_Escape);
  EXPECT_FALSE(card->isVisible());
}

TEST_F(WiresTest, EscDropsTheWire) {
  press(portAt(kGate, "dst"));
  moveTo(portAt(kMul, "b") + QPoint(60, 0));
  moveTo(portAt(kMul, "b"));
  QTest::keyClick(view(), Qt::Key_Escape);
  release(portAt(kMul, "b"));
  settle();
  EXPECT_EQ(recipe(), "");
  EXPECT_FALSE(editor()->busy());
}

TEST_F(WiresTest, ALoopIsRefused) {
  drag(portAt(kMul, "dst"), portAt(kGate, "src"));
  EXPECT_TRUE(editor()->refusalCard()->isVisible());
  settle();
  EXPECT_EQ(recipe(), "");
}

TEST_F(WiresTest, TellsWhatItWouldDoBeforeItIsDropped) {
  QSignalSpy considered(editor(), &GraphEditor::editConsidered), left(editor(), &GraphEditor::editLeft);
  press(portAt(kGate, "dst"));
  moveTo(portAt(kMul, "b") + QPoint(60, 10));
  moveTo(portAt(kMul, "b"));
  ASSERT_EQ(considered.count(), 1);
  const auto edits = considered.front().front().value<std::vector<edit::Edit>>();
  ASSERT_EQ(edits.size(), 1U);
  EXPECT_EQ(edits.front().op, "connect");
  moveTo(portAt(kMul, "b") + QPoint(80, 40));
  EXPECT_EQ(left.count(), 1);
  QTest::keyClick(view(), Qt::Key_Escape);
  release(portAt(kMul, "b"));
}

TEST_F(WiresTest, DroppedOnTheGroundItOpensThePaletteOfWhatFits) {
  const QPoint end = free(kMul);
  press(portAt(kGate, "dst"));
  moveTo(end - QPoint(20, 20));
  moveTo(end);
  release(end);
  PickPalette* palette = editor()->palette();
  ASSERT_TRUE(palette->isVisible());
  EXPECT_TRUE(palette->model()->at(0).refusal.isEmpty()) << "the first one fits";
  const Pick& last = palette->model()->at(palette->model()->rowCount() - 1);
  EXPECT_FALSE(last.refusal.isEmpty()) << "what does not fit stands last";
  takePictures("edit-palette-wire");
  type(palette->field(), "relu");
  QTest::keyClick(palette->field(), Qt::Key_Return);
  ASSERT_TRUE(recipeBecomes(
      R"(insert as=layers.0.mlp.relu inputs="{\"src\":\"layers.0.mlp.gate_proj:dst\"}" op=relu)"));
  EXPECT_TRUE(node("layers.0.mlp.relu").valid());
  EXPECT_LT((boxOf("layers.0.mlp.relu").center() - end).manhattanLength(), 260)
      << "near where it was dropped";
}

TEST_F(WiresTest, AltEnterLeavesADraftThatAWireCompletes) {
  const QPoint end = free(kMul);
  drag(portAt(kGate, "dst"), end);
  PickPalette* palette = editor()->palette();
  ASSERT_TRUE(palette->isVisible());
  type(palette->field(), "relu");
  QTest::keyClick(palette->field(), Qt::Key_Return, Qt::AltModifier);
  ASSERT_EQ(editor()->drafts().all().size(), 1U);
  const int draft = editor()->drafts().all().front().id;
  settle();
  EXPECT_EQ(recipe(), "");
  takePictures("edit-draft");
  const QRectF box = editor()->boxOfDraft(draft);
  drag(portAt(kGate, "dst"), QPoint(qRound(box.center().x()), qRound(box.top())));
  ASSERT_TRUE(recipeBecomes(
      R"(insert as=layers.0.mlp.relu inputs="{\"src\":\"layers.0.mlp.gate_proj:dst\"}" op=relu)"));
  EXPECT_TRUE(editor()->drafts().all().empty());
}

TEST_F(WiresTest, WhatNeedsMoreWaitsWithHollowPorts) {
  drag(portAt(kGate, "dst"), free(kMul));
  PickPalette* palette = editor()->palette();
  ASSERT_TRUE(palette->isVisible());
  type(palette->field(), "add");
  QTest::keyClick(palette->field(), Qt::Key_Return);
  ASSERT_EQ(editor()->drafts().all().size(), 1U);
  const Draft draft = editor()->drafts().all().front();
  EXPECT_EQ(editor()->drafts().missing(*model(), draft), std::vector<std::string>{"b"});
  takePictures("edit-draft-waits");
  const QRectF box = editor()->boxOfDraft(draft.id);
  drag(portAt("layers.0.mlp.up_proj", "dst"), QPoint(qRound(box.center().x() + 15), qRound(box.top())));
  EXPECT_TRUE(recipeBecomes(
      R"(insert as=layers.0.mlp.add inputs="{\"a\":\"layers.0.mlp.gate_proj:dst\",\"b\":\"layers.0.mlp.up_proj:dst\"}" op=add)"));
}

TEST_F(WiresTest, AMissingAttributeIsAskedForOnTheNode) {
  drag(portAt(kGate, "dst"), free(kMul));
  type(editor()->palette()->field(), "scale");
  QTest::keyClick(editor()->palette()->field(), Qt::Key_Return);
  InlineField* field = editor()->field();
  ASSERT_TRUE(field->isVisible());
  EXPECT_TRUE(field->placeholderText().startsWith("factor"));
  type(field, "much");
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_TRUE(field->isVisible()) << "no number";
  EXPECT_FALSE(field->toolTip().isEmpty());
  field->selectAll();
  type(field, "0.5");
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_TRUE(recipeBecomes(
      R"(insert as=layers.0.mlp.scale attributes="{\"factor\":0.5}" inputs="{\"src\":\"layers.0.mlp.gate_proj:dst\"}" op=scale)"));
}

TEST_F(WiresTest, AStrokeCutsWhatMayBeLeftOpenAndExplainsTheRest) {
  window_->session()->apply(
      {"insert",
       {{"op", "concat"},
        {"as", "layers.0.mlp.both"},
        {"attributes", R"({"axis":1})"},
        {"inputs", R"({"parts":["layers.0.mlp.gate_proj:dst","layers.0.mlp.up_proj:dst"]})"}}});
  ASSERT_TRUE(waitUntil([&] { return node("layers.0.mlp.both").valid(); }));
  settle();
  bring("layers.0.mlp.both");
  const QString before = recipe();
  focus();
  const auto ports = editor()->portsAt(node("layers.0.mlp.both"));
  QPoint second;
  for (const auto& [port, at] : ports)
    if (!port.gives() && port.place == 1) second = at.toPoint();
  QTest::keyPress(view(), Qt::Key_X);
  press(second + QPoint(-6, -7));
  moveTo(second + QPoint(0, -7));
  moveTo(second + QPoint(6, -7));
  takePictures("edit-cut");
  release(second + QPoint(6, -7));
  QTest::keyRelease(view(), Qt::Key_X);
  EXPECT_TRUE(recipeBecomes(before + "; disconnect input=layers.0.mlp.both.1"));

  bring(kMul);
  focus();
  QTest::keyPress(view(), Qt::Key_X);
  const QPoint a = portAt(kMul, "a");
  press(a + QPoint(-8, -8));
  moveTo(a + QPoint(0, -8));
  moveTo(a + QPoint(8, -8));
  release(a + QPoint(8, -8));
  QTest::keyRelease(view(), Qt::Key_X);
  settle();
  ASSERT_TRUE(editor()->refusalCard()->isVisible());
  EXPECT_EQ(editor()->refusalCard()->refusal().title, "gate.a cannot be cut");
}

TEST_F(WiresTest, ByKeysAlone) {
  click(wordsOf(kGate));
  key(Qt::Key_Return);  // to its first port
  EXPECT_TRUE(editor()->busy());
  takePictures("edit-port-focus");
  key(Qt::Key_Return);  // begins a wire
  for (int i = 0; i < 12 && !editor()->refusalCard()->isVisible(); ++i) key(Qt::Key_Down);
  QSignalSpy considered(editor(), &GraphEditor::editConsidered);
  key(Qt::Key_Escape);
  key(Qt::Key_Escape);
  key(Qt::Key_Escape);
  EXPECT_FALSE(editor()->busy());

  click(wordsOf(kGate));
  key(Qt::Key_Return);
  key(Qt::Key_Return);
  bool offered = false;
  for (int i = 0; i < 12 && !offered; ++i) {
    key(Qt::Key_Down);
    for (const auto& call : considered)
      offered |=
          call.front().value<std::vector<edit::Edit>>().front().fields.at("input") == "layers.0.mlp.gate.b";
    if (!offered) key(Qt::Key_Right);
    for (const auto& call : considered)
      offered |=
          call.front().value<std::vector<edit::Edit>>().front().fields.at("input") == "layers.0.mlp.gate.b";
  }
  ASSERT_TRUE(offered);
  key(Qt::Key_Return);
  EXPECT_TRUE(recipeBecomes("connect input=layers.0.mlp.gate.b value=layers.0.mlp.gate_proj:dst"));
}

TEST_F(WiresTest, AWireUnderThePointerTellsWhatItCarries) {
  moveTo(wireAt(kMul, "b"));
  moveTo(wireAt(kMul, "b") + QPoint(0, 1));
  ASSERT_TRUE(waitUntil([&] { return editor()->wireCard()->isVisible(); }, 3000));
  const WireFacts& facts = editor()->wireCard()->facts();
  EXPECT_EQ(facts.ends, "up_proj → gate");
  EXPECT_EQ(facts.shape, "[1, 1536]");
  EXPECT_EQ(facts.dtype, "f32");
  EXPECT_EQ(facts.bytes, "6.1 kB");
  takePictures("edit-wire-card");
  moveTo(wordsOf(kMul));
  EXPECT_FALSE(editor()->wireCard()->isVisible());
}

}  // namespace
}  // namespace orrery::ui::testing
