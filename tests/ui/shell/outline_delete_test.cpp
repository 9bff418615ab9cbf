// What is chosen in the outline is deleted from there, by its key and its menu, and comes back by undo.
#include <QMenu>
#include <QTimer>

#include "support/editing_fixture.h"
#include "ui/shell/outline_panel.h"

namespace orrery::ui::testing {
namespace {

class OutlineDeleteTest : public EditingTest {
 protected:
  OutlinePanel* outline() const { return window_->outlinePanel(); }
  QModelIndex rowOf(const QString& thing) const {
    const NodeId found = node(thing);
    return found.valid() ? outline()->model()->indexOf(found) : outline()->model()->indexOfScope(thing);
  }
  /// As a person does: opens what hides the row, then clicks on its name.
  QPoint choose(const QString& thing) {
    QTreeView* tree = outline()->tree();
    const QModelIndex row = rowOf(thing);
    EXPECT_TRUE(row.isValid()) << thing.toStdString();
    for (QModelIndex above = row.parent(); above.isValid(); above = above.parent()) tree->expand(above);
    tree->scrollTo(row);
    const QRect area = tree->visualRect(row);
    const QPoint at(area.left() + 30, area.center().y());
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, at);
    settle();
    return at;
  }
  void press(Qt::Key key, Qt::KeyboardModifiers keys = {}) {
    window_->activateWindow();
    outline()->tree()->setFocus();
    ASSERT_TRUE(waitUntil([&] { return outline()->tree()->hasFocus(); }));
    QTest::keyClick(outline()->tree(), key, keys);
    QApplication::processEvents();
  }
  void pressInMenu(QPoint at, const QString& words) {
    bool pressed = false;
    QTimer::singleShot(0, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* action : menu->actions()) {
        if (action->text().section('\t', 0, 0) != words) continue;
        pressed = true;
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
      }
      menu->close();
    });
    emit outline()->tree()->customContextMenuRequested(at);
    EXPECT_TRUE(pressed) << "no " << words.toStdString();
  }
};

TEST_F(OutlineDeleteTest, AKeyAsksToDeleteTheNodeAndSaysWhyItCannot) {
  choose("layers.0.mlp.act");
  press(Qt::Key_Delete);
  ASSERT_TRUE(waitUntil([&] { return editor()->refusalCard()->isVisible(); }));
  EXPECT_TRUE(editor()->refusalCard()->refusal().cause.contains("gate")) << "who reads it";
  settle();
  EXPECT_EQ(recipe(), "");
  EXPECT_TRUE(rowOf("layers.0.mlp.act").isValid());
}

TEST_F(OutlineDeleteTest, TheMenuDeletesANodeAndUndoBringsItsRowBack) {
  pressInMenu(choose("layers.0.mlp.act"), "Delete and reconnect");
  ASSERT_TRUE(recipeBecomes("delete reconnect=true scope=layers.0.mlp.act"));
  EXPECT_FALSE(node("layers.0.mlp.act").valid());
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes(""));
  EXPECT_TRUE(rowOf("layers.0.mlp.act").isValid());
}

TEST_F(OutlineDeleteTest, TheMenuDeletesALayerAndUndoBringsItsRowBack) {
  pressInMenu(choose("layers.3"), "Delete and reconnect");
  ASSERT_TRUE(recipeBecomes("delete reconnect=true scope=layers.3"));
  EXPECT_FALSE(rowOf("layers.3").isValid());
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes(""));
  EXPECT_TRUE(rowOf("layers.3").isValid());
}

TEST_F(OutlineDeleteTest, AKeyDeletesWhatNothingReads) {
  choose("layers.3");
  press(Qt::Key_Delete);
  ASSERT_TRUE(waitUntil([&] { return editor()->refusalCard()->isVisible(); }));
  settle();
  EXPECT_EQ(recipe(), "") << "layers.4 reads it";
  choose("layers.0.mlp.gate_proj");
  drag(portAt("layers.0.mlp.up_proj", "dst"), portAt("layers.0.mlp.act", "src"));
  ASSERT_TRUE(recipeBecomes("connect input=layers.0.mlp.act.src value=layers.0.mlp.up_proj:dst"));
  choose("layers.0.mlp.gate_proj");
  press(Qt::Key_Delete);
  ASSERT_TRUE(
      recipeBecomes("connect input=layers.0.mlp.act.src value=layers.0.mlp.up_proj:dst; "
                    "delete reconnect=false scope=layers.0.mlp.gate_proj"));
  EXPECT_FALSE(node("layers.0.mlp.gate_proj").valid());
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(recipeBecomes("connect input=layers.0.mlp.act.src value=layers.0.mlp.up_proj:dst"));
  EXPECT_TRUE(rowOf("layers.0.mlp.gate_proj").isValid());
}

}  // namespace
}  // namespace orrery::ui::testing
