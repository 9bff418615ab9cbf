// Bypass and Restore by pointer and keys, on the real engine and the default model: what is bypassed stays in
// both graphs, hollow, and comes back by itself.
#include <QAccessible>
#include <QContextMenuEvent>
#include <QMenu>
#include <QTest>
#include <QTimer>

#include "support/read_texts.h"
#include "support/real_services.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class BypassTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    window_ = makeWindow(realServices(), ThemeChoice::dark);
    ASSERT_TRUE(opened(*window_, "smollm2")) << window_->graphPage()->banner()->body().toStdString();
    show(false);
  }
  void settle() {
    EXPECT_TRUE(waitUntil([&] { return window_->session()->idle(); }, 60000));
    EXPECT_TRUE(view()->waitForLayout());
    QApplication::processEvents();
  }
  void show(bool fused) {
    window_->graphPage()->showTab(fused);
    view()->setReducedMotion(true);
    settle();
    view()->zoomTo(1);
  }
  GraphView* view() const { return window_->graphPage()->view(); }
  graph::GraphVersion shownGraph() const {
    const SessionPtr session = window_->session()->session();
    return window_->graphPage()->fusedShown() ? session->fused_graph() : session->model_graph();
  }
  QString recipe() const {
    QStringList words;
    for (const edit::Edit& edit : window_->session()->recipe())
      words += QString::fromStdString(edit.to_string());
    return words.join("; ");
  }
  void expectRecipe(const QString& words) {
    EXPECT_TRUE(waitUntil([&] { return recipe() == words; })) << recipe().toStdString();
    settle();
  }

  /// Where the scope, the stack or the node that is chosen is drawn, in the view's pixels.
  QRect boxOfChosen() const {
    const QAccessibleInterface* access = QAccessible::queryAccessibleInterface(view());
    const QRect box = access->child(0)->rect();
    return {view()->viewport()->mapFromGlobal(box.topLeft()), box.size()};
  }
  /// On the words of its box, or the title of its frame.
  QPoint pointOfChosen() const { return boxOfChosen().topLeft() + QPoint(30, 6); }
  void bring(const QString& thing) {
    const NodeId node = shownGraph()->find_path(thing.toStdString());
    node.valid() ? view()->select(node) : view()->selectScope(thing);
    settle();
  }
  void choose(const QString& thing) {
    bring(thing);
    QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, pointOfChosen());
    settle();
  }
  void pressB() {
    window_->activateWindow();
    view()->setFocus();
    EXPECT_TRUE(waitUntil([&] { return view()->hasFocus(); }));
    QTest::keyClick(view(), Qt::Key_B);
  }
  struct Entry {
    QString words, tip;
    bool enabled = false;
  };
  /// Reads the menu that opens where the thing is clicked with the right button; presses `press`.
  std::vector<Entry> menuOf(const QString& thing, const QString& press = {}) {
    bring(thing);
    return menuBy(
        [&] {
          QContextMenuEvent event(QContextMenuEvent::Mouse, pointOfChosen(),
                                  view()->viewport()->mapToGlobal(pointOfChosen()));
          QApplication::sendEvent(view()->viewport(), &event);
        },
        press);
  }
  static std::vector<Entry> menuBy(const std::function<void()>& ask, const QString& press = {}) {
    std::vector<Entry> entries;
    QTimer::singleShot(0, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      QAction* pressed = nullptr;
      for (QAction* action : menu->actions()) {
        entries.push_back({action->text(), action->toolTip(), action->isEnabled()});
        if (action->text() == press) pressed = action;
      }
      if (pressed) QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(pressed).center());
      menu->close();
    });
    ask();
    EXPECT_FALSE(entries.empty()) << "no menu";
    return entries;
  }
  static Entry entryOf(const std::vector<Entry>& entries, const QString& words) {
    for (const Entry& entry : entries)
      if (entry.words == words) return entry;
    return {};
  }

  /// Hollow in the drawing, as bypassed in the outline.
  void expectHollow(const QString& thing, bool hollow) {
    SCOPED_TRACE(thing.toStdString() + (window_->graphPage()->fusedShown() ? " fused" : " model"));
    const OutlineModel* outline = window_->outlinePanel()->model();
    const NodeId node = shownGraph()->find_path(thing.toStdString());
    const QModelIndex row = node.valid() ? outline->indexOf(node) : outline->indexOfScope(thing);
    ASSERT_TRUE(row.isValid());
    EXPECT_EQ(row.data(OutlineModel::bypassedRole).toBool(), hollow);
    for (const double zoom : {0.2, 0.5, 1.0}) {
      view()->zoomTo(zoom);
      bring(thing);
      const QRect box = boxOfChosen();
      view()->clearSelection();
      QApplication::processEvents();
      EXPECT_EQ(seesThrough(box), hollow) << "at " << zoom;
    }
  }
  /// Whether what lies under the box is seen in it, aside of its words.
  bool seesThrough(const QRect& box) const {
    EXPECT_TRUE(view()->viewport()->rect().contains(box));
    const QImage picture = view()->viewport()->grab().toImage();
    const Theme theme;
    for (int x = box.right() - box.width() / 8; x < box.right() - 3; ++x) {
      const QColor color = picture.pixelColor(x, box.center().y());
      if (color == theme(Token::canvas) || color == theme(Token::window) || color == theme(Token::panel))
        return true;
    }
    return false;
  }
  void expectHollowInBoth(const QString& thing, bool hollow) {
    for (const bool fused : {true, false}) {
      show(fused);
      expectHollow(thing, hollow);
    }
  }
  bool inspectorSays(const QString& words) const {
    for (const Text* text : window_->inspectorPage()->findChildren<Text*>())
      if (text->text() == words) return true;
    return false;
  }
  Button* inspectorButton(const QString& words) const {
    for (Button* button : window_->inspectorPage()->findChildren<Button*>())
      if (button->text() == words) return button;
    return nullptr;
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(BypassTest, ALayerStaysHollowInBothGraphsAndComesBackAfterALaterEdit) {
  view()->expandScope("layers.3");
  settle();
  EXPECT_TRUE(entryOf(menuOf("layers.3", "Bypass layers.3"), "Bypass layers.3").enabled);
  expectRecipe("bypass scope=layers.3");
  choose("layers.3");
  EXPECT_TRUE(waitUntil([&] { return inspectorSays("Bypassed: nothing depends on it."); }));
  EXPECT_TRUE(inspectorSays("17 nodes"));
  takePicture(*window_, "bypassed-layer-open");
  show(true);
  takePicture(*window_, "bypassed-layer-fused");
  view()->collapseAll();
  settle();
  choose("layers.3");
  EXPECT_TRUE(waitUntil([&] { return inspectorSays("Bypassed: nothing depends on it."); }));
  EXPECT_TRUE(inspectorSays("17 nodes")) << "never none";
  show(false);
  view()->collapseAll();
  settle();
  expectHollowInBoth("layers.3", true);

  window_->session()->apply({"set", {{"node", "sampler.sample"}, {"attribute", "top_k"}, {"value", "20"}}});
  expectRecipe("bypass scope=layers.3; set attribute=top_k node=sampler.sample value=20");
  const std::vector<Entry> menu = menuOf("layers.3", "Restore layers.3");
  EXPECT_TRUE(entryOf(menu, "Restore layers.3").enabled);
  EXPECT_TRUE(entryOf(menu, "Bypass layers.3").words.isEmpty()) << "instead of Bypass";
  expectRecipe("set attribute=top_k node=sampler.sample value=20");
  expectHollowInBoth("layers.3", false);
  window_->action("edit.undo")->trigger();
  expectRecipe("bypass scope=layers.3; set attribute=top_k node=sampler.sample value=20");
  expectHollowInBoth("layers.3", true);
}

TEST_F(BypassTest, TheOnlyEditRestoredCanBeUndone) {
  view()->selectScope("layers.3");
  settle();
  window_->applyEdit("bypass", "layers.3");
  expectRecipe("bypass scope=layers.3");
  ASSERT_TRUE(waitUntil([&] { return inspectorButton("Restore layers.3") || (choose("layers.3"), false); }));
  EXPECT_FALSE(inspectorButton("Bypass layers.3"));
  QTest::mouseClick(inspectorButton("Restore layers.3"), Qt::LeftButton);
  expectRecipe("");
  ASSERT_TRUE(window_->action("edit.undo")->isEnabled());
  window_->action("edit.undo")->trigger();
  expectRecipe("bypass scope=layers.3");
}

TEST_F(BypassTest, ANodeIsBypassedByAKeyAndBackByTheSame) {
  const QString norm = "layers.3.attention.norm";
  choose(norm);
  EXPECT_TRUE(entryOf(menuOf(norm), "Bypass " + norm).enabled);
  pressB();
  expectRecipe("bypass scope=" + norm);
  expectHollowInBoth(norm, true);
  takePicture(*window_, "bypassed-node");
  choose(norm);
  EXPECT_TRUE(waitUntil([&] { return inspectorSays("Bypassed: nothing depends on it."); }));
  EXPECT_TRUE(window_->action("Restore the selection"));
  pressB();
  expectRecipe("");
  show(false);
  expectHollow(norm, false);
}

TEST_F(BypassTest, WhatCannotBeBypassedSaysWhy) {
  for (const bool fused : {false, true}) {
    show(fused);
    const QString node = fused ? "layers.3.mlp.gate_up_silu" : "layers.3.mlp.gate_proj";
    choose(node);
    const std::vector<Entry> menu = menuOf(node);
    const Entry own = entryOf(menu, "Bypass " + node);
    EXPECT_FALSE(own.enabled);
    EXPECT_TRUE(own.tip.contains("What enters is") && own.tip.contains("1536")) << own.tip.toStdString();
    EXPECT_TRUE(entryOf(menu, "Bypass layers.3").enabled);
    ASSERT_TRUE(waitUntil([&] { return inspectorButton("Bypass " + node) != nullptr; }));
    EXPECT_FALSE(inspectorButton("Bypass " + node)->isEnabled());
    pressB();
    EXPECT_EQ(window_->graphPage()->banner()->title(), node + " cannot be bypassed");
    EXPECT_EQ(recipe(), "");
  }
}

TEST_F(BypassTest, AFoldedStackIsBypassedAsAWhole) {
  view()->collapseAll();
  view()->expandScope("layers.9");
  settle();
  EXPECT_TRUE(entryOf(menuOf("layers.0-8", "Bypass layers.0-8"), "Bypass layers.0-8").enabled);
  expectRecipe("bypass scope=layers.0-8");
  show(true);
  view()->collapseAll();
  settle();
  expectHollowInBoth("layers.0-8", true);
  takePicture(*window_, "bypassed-stack");
  show(true);
  view()->collapseAll();
  settle();
  menuOf("layers.0-8", "Restore layers.0-8");
  expectRecipe("");
}

TEST_F(BypassTest, SeveralRowsOfTheOutlineAreBypassedTogetherAndRestoredOneByOne) {
  OutlinePanel* outline = window_->outlinePanel();
  QTreeView* tree = outline->tree();
  for (QModelIndex row = outline->model()->indexOfScope("layers.7").parent(); row.isValid();
       row = row.parent())
    tree->expand(row);
  QApplication::processEvents();
  const auto ask = [&](const QString& scope, const QString& press) {
    const QPoint at = tree->visualRect(outline->model()->indexOfScope(scope)).center();
    return menuBy(
        [&] {
          QContextMenuEvent event(QContextMenuEvent::Mouse, at, tree->viewport()->mapToGlobal(at));
          QApplication::sendEvent(tree->viewport(), &event);
        },
        press);
  };
  const auto click = [&](const QString& scope, Qt::KeyboardModifiers keys) {
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, keys,
                      tree->visualRect(outline->model()->indexOfScope(scope)).center());
  };
  click("layers.3", {});
  click("layers.7", Qt::ControlModifier);
  EXPECT_TRUE(entryOf(ask("layers.7", "Bypass 2"), "Bypass 2").enabled);
  expectRecipe("bypass scope=layers.3,layers.7");
  expectHollowInBoth("layers.3", true);
  expectHollowInBoth("layers.7", true);
  click("layers.3", {});
  EXPECT_TRUE(entryOf(ask("layers.3", "Restore layers.3"), "Restore layers.3").enabled);
  expectRecipe("bypass scope=layers.7");
  expectHollowInBoth("layers.3", false);
  expectHollowInBoth("layers.7", true);
}

}  // namespace
}  // namespace orrery::ui::testing
