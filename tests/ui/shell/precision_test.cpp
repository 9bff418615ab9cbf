// Nodes of several precisions: the menus that choose them, and what the window shows of it.
#include <QApplication>
#include <QMouseEvent>
#include <QTimer>

#include "support/window_fixture.h"
#include "ui/placement/precision_menu.h"

namespace orrery::ui::testing {
namespace {

class PrecisionTest : public WindowTest {
 protected:
  std::unique_ptr<MainWindow> started(ThemeChoice theme = ThemeChoice::dark) {
    auto window = makeWindow(theme);
    EXPECT_TRUE(opened(*window, "chat"));
    window->graphPage()->showTab(false);
    EXPECT_TRUE(window->graphPage()->view()->waitForLayout());
    window->graphPage()->view()->setReducedMotion(true);
    return window;
  }
  QMenu* menuOf(MainWindow& window, const QString& scope) {
    menu_ = std::make_unique<QMenu>();
    window.findChild<PrecisionMenu*>()->fill(menu_.get(), *window.session()->session(), scope);
    return menu_.get();
  }
  /// Chooses in the menu that `ask` opens, or in one of its own.
  static bool chooseIn(const std::function<void()>& ask, const QString& submenu, const QString& words) {
    bool chosen = false;
    QTimer::singleShot(0, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      QAction* opens = submenu.isEmpty() ? nullptr : actionOf(menu, submenu);
      QAction* action = submenu.isEmpty() ? actionOf(menu, words)
                        : opens           ? actionOf(opens->menu(), words)
                                          : nullptr;
      chosen = action && action->isEnabled();
      if (chosen) action->trigger();
      menu->close();
    });
    ask();
    return chosen;
  }
  static QString status(MainWindow& window) { return window.status()->facts().precision; }
  static QString notice(MainWindow& window) {
    return window.graphPage()->banner()->title() + window.graphPage()->banner()->body();
  }
  std::unique_ptr<QMenu> menu_;
};

TEST_F(PrecisionTest, TheGraphsMenuChoosesForAScopeAndUndoTakesItBack) {
  auto window = started();
  GraphView* view = window->graphPage()->view();
  ASSERT_TRUE(waitUntil([&] { return status(*window) == "balanced"; }));
  EXPECT_TRUE(actionOf(menuOf(*window, "layers.1"), "As opened (balanced)")->isChecked());
  view->selectScope("layers.1");
  ASSERT_TRUE(chooseIn([&] { emit view->contextMenuAsked({}); }, "Compute in", "int8"));
  ASSERT_TRUE(recipeIs(*window, {"precision dtype=int8 scope=layers.1"}));
  EXPECT_TRUE(waitUntil([&] { return notice(*window).contains("the context is read again"); }));
  EXPECT_TRUE(waitUntil([&] { return status(*window).startsWith("balanced, "); }))
      << status(*window).toStdString();
  EXPECT_TRUE(status(*window).endsWith(" otherwise"));
  view->expandAll();
  ASSERT_TRUE(view->waitForLayout());
  takePicture(*window, "precision_of_a_layer");
  EXPECT_TRUE(actionOf(menuOf(*window, "layers.1"), "int8")->isChecked());
  EXPECT_FALSE(actionOf(menuOf(*window, "layers.2"), "int8")->isChecked());
  window->action("edit.undo")->trigger();
  ASSERT_TRUE(recipeIs(*window, {}));
  EXPECT_TRUE(waitUntil([&] { return status(*window) == "balanced"; }));
}

TEST_F(PrecisionTest, TheStatusBarChangesTheModels) {
  auto window = started();
  ASSERT_TRUE(waitUntil([&] { return !window->status()->precisionPlace().isEmpty(); }));
  const auto click = [&] {
    window->status()->grab();  // where it is written now
    const QPointF at = window->status()->precisionPlace().center();
    QMouseEvent press(QEvent::MouseButtonPress, at, window->status()->mapToGlobal(at), Qt::LeftButton,
                      Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window->status(), &press);
  };
  ASSERT_TRUE(chooseIn(click, {}, "exact"));
  ASSERT_TRUE(recipeIs(*window, {"precision dtype=exact scope=*"}));
  EXPECT_TRUE(waitUntil([&] { return status(*window) == "exact"; })) << status(*window).toStdString();
  ASSERT_TRUE(chooseIn([&] { window->action("Compute in")->trigger(); }, {}, "As opened (balanced)"));
  ASSERT_TRUE(recipeIs(*window, {"precision dtype=exact scope=*", "precision dtype=default scope=*"}));
  EXPECT_TRUE(waitUntil([&] { return status(*window) == "balanced"; }));
}

TEST_F(PrecisionTest, TheInspectorTellsWhatWasAskedWhatComputesAndWhy) {
  auto window = started();
  InspectorPage* inspector = window->inspectorPage();
  const auto shows = [&](const QString& words) {
    return waitUntil([&] { return texts(*inspector).contains(words); });
  };
  const NodeId node = window->session()->session()->model_graph()->find_path("layers.1.proj");
  inspector->showNode(node, false);
  EXPECT_TRUE(shows("balanced")) << texts(*inspector).join("\n").toStdString();
  EXPECT_TRUE(shows("int16"));
  window->applyEdit("precision", "layers.1", "bf16");
  ASSERT_TRUE(recipeIs(*window, {"precision dtype=bf16 scope=layers.1"}));
  inspector->showNode(node, false);
  EXPECT_TRUE(shows("asked for bf16; computes in int16: Q4_1 weights are not dense"))
      << texts(*inspector).join("\n").toStdString();
  takePicture(*window, "precision_in_the_inspector");
  inspector->showScope("layers.1", false);
  EXPECT_TRUE(shows("bf16"));
}

TEST_F(PrecisionTest, WhatItWouldChangeIsMeasured) {
  auto window = started();
  QMenu* measured = actionOf(menuOf(*window, "layers.1"), "Measure")->menu();
  ASSERT_NE(measured, nullptr);
  actionOf(measured, "int8")->trigger();
  EXPECT_TRUE(waitUntil([&] {
    return notice(*window).contains(
        "KL 0.0021 and the same likeliest token at 97.0 % of 64 places, over 120 tokens");
  })) << notice(*window).toStdString();
  EXPECT_TRUE(recipeIs(*window, {})) << "nothing is done";
}

}  // namespace
}  // namespace orrery::ui::testing
