// The list of commands, and what is made of it: menus, keys, the palette, the dialog of keys.
#include <QAction>
#include <QFile>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <map>
#include <set>

#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/commands.h"
#include "ui/shell/keys_dialog.h"

namespace orrery::ui::testing {
namespace {

QByteArray readFile(const QString& path) {
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::ReadOnly));
  return file.readAll();
}

class CommandsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    engine_.chat.tokens = 3;
    window_ = makeWindow();
    ASSERT_TRUE(opened(*window_, "chat"));
    ASSERT_TRUE(QTest::qWaitForWindowActive(window_.get()));
  }
  CommandPalette* palette() const { return window_->palettePopup(); }
  Commands& commands() const { return window_->commands(); }
  void openPalette() { QTest::keyClick(window_.get(), Qt::Key_K, Qt::ControlModifier); }
  void type(const QString& text) { QTest::keyClicks(palette()->field(), text); }
  void press(Qt::Key key) { QTest::keyClick(palette()->field(), key); }
  QString chosen() const { return palette()->list()->currentIndex().data(PaletteModel::idRole).toString(); }
  static void collect(const QMenu* menu, std::multiset<QAction*>& actions) {
    for (QAction* action : menu->actions())
      action->menu() ? collect(action->menu(), actions) : static_cast<void>(actions.insert(action));
  }
  std::multiset<QAction*> inMenus() const {
    std::multiset<QAction*> actions;
    for (QAction* menu : window_->menuBar()->actions()) collect(menu->menu(), actions);
    return actions;
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(CommandsTest, EachIsOnceInTheMenusAndInThePaletteAndAmongTheKeys) {
  const std::multiset<QAction*> menus = inMenus();
  openPalette();
  std::set<QString> offered, ids, titles;
  for (int row = 0; row < palette()->model()->rowCount(); ++row)
    offered.insert(palette()->model()->index(row, 0).data(PaletteModel::idRole).toString());
  const KeysDialog dialog(window_->theme(), commands(), window_.get());
  ASSERT_GT(commands().list().size(), 30U);
  for (const Command& command : commands().list()) {
    const std::string id = command.id.toStdString();
    EXPECT_TRUE(ids.insert(command.id).second) << id << " is there twice";
    EXPECT_TRUE(titles.insert(commands().title(command)).second) << id << " has another one's title";
    QAction* action = commands().action(command.id);
    ASSERT_NE(action, nullptr) << id;
    EXPECT_EQ(menus.count(action), 1U) << id;
    EXPECT_TRUE(offered.contains(command.id)) << id;
    EXPECT_NE(dialog.button(command.id), nullptr) << id;
  }
}

TEST_F(CommandsTest, NoTwoHaveTheSameKeys) {
  std::map<QString, QString> owners;
  for (const Command& command : commands().list())
    for (const QKeySequence& keys : commands().action(command.id)->shortcuts()) {
      const auto [known, added] = owners.emplace(keys.toString(), command.id);
      EXPECT_TRUE(added) << keys.toString().toStdString() << " of " << command.id.toStdString() << " and "
                         << known->second.toStdString();
    }
  EXPECT_EQ(owners["Ctrl+K"], "window.palette");
  for (QAction* action : window_->findChildren<QAction*>())
    if (!action->shortcuts().isEmpty()) {
      EXPECT_NE(commands().action(action->objectName()), nullptr)
          << action->text().toStdString() << " has keys and is in no list";
    }
}

TEST_F(CommandsTest, MenusStandAsTheListSays) {
  QStringList lines;
  for (QAction* menu : window_->menuBar()->actions()) {
    QStringList words;
    for (const QAction* action : menu->menu()->actions())
      words += action->isSeparator() ? "|" : action->text().remove('&');
    lines += menu->text() + ": " + words.join(" ");
  }
  EXPECT_EQ(
      lines.join("\n").toStdString(),
      "&File: New graph Open... Open folder... Open recent | Save recipe... Save the graph as... Export the "
      "model... Export the graph... "
      "Export for paper... "
      "Save "
      "trace... | Edit metadata... | Quit\n"
      "&Edit: Undo edit Redo edit | Find Command palette | Cut nodes Copy nodes Paste nodes with their "
      "inputs "
      "Paste nodes without inputs Duplicate nodes Choose all beside it\n"
      "&View: Workspace Chat Classify Compare Diff Sweep Depth Values Kernels Own ops | Lens Legend strip "
      "Minimap "
      "Step "
      "beside the "
      "graph "
      "Library "
      "Outline "
      "Ops History Inspector What will change Costs Passes Replies Chat Classify Compare Diff Sweep Depth "
      "Latency "
      "Values Kernels Own ops | Next "
      "panel "
      "Previous panel | Wires coloured by dtype Diff on "
      "the graph Reduced motion Theme\n"
      "&Graph: Bypass the selection | Open all groups Fold all groups Arrange page Side by side | Fit Zoom "
      "in Zoom out | "
      "Insert an op... Delete Delete and reconnect Back to the original | Cut wires by a stroke Frame around "
      "the selection Note at the node Rename An output, or no more Arrange | Next difference Previous "
      "difference\n"
      "&Model: Fuse operations Measure every node Compute in...\n"
      "&Run: Run Stop | New chat Regenerate | Classify a CSV... Diff Sweep Depths Fastmax over depth Kernels "
      "Kernel's chosen row\n"
      "&Help: Keys");
}

/// They are in the layouts and the settings that people have.
TEST_F(CommandsTest, WhatIsRememberedGoesByTheSameNames) {
  QStringList docks;
  for (const DockFrame* dock : window_->findChildren<DockFrame*>()) docks += dock->objectName();
  docks.sort();
  EXPECT_EQ(docks.join(" "),
            "change chat classify compare costs depth diff history inspector lab latency library ops outline "
            "own_ops "
            "passes replies sweep values");
  EXPECT_EQ(window_->toolBar()->objectName(), "tools");
  quit(*window_);
  const QString ini = QString::fromUtf8(readFile(path("window.ini")));
  for (const char* key : {"[window]", "geometry=", "state=", "workspace=", "theme=", "[files]", "recent=",
                          "folder=", "[graph]", "heat=", "fused=", "[chat]", "system=", "contextShift="})
    EXPECT_TRUE(ini.contains(key)) << key;
}

TEST_F(CommandsTest, SwitchesShowWhatIs) {
  QAction* measure = window_->action("Measure every node");
  EXPECT_TRUE(measure->isChecked());
  measure->trigger();
  EXPECT_FALSE(measure->isChecked());
  EXPECT_FALSE(window_->work().profiled());
  EXPECT_EQ(window_->status()->facts().profiler, "profiler off");
  window_->action("theme.light")->trigger();
  EXPECT_TRUE(window_->action("theme.light")->isChecked());
  EXPECT_FALSE(window_->action("theme.dark")->isChecked());
  window_->action("dock.outline")->trigger();
  EXPECT_FALSE(window_->dock("outline")->isVisible());
  EXPECT_FALSE(window_->action("dock.outline")->isChecked());
}

TEST_F(CommandsTest, ThePaletteNarrowsRunsAndGivesTheFocusBack) {
  MessageEdit* field = window_->chatPage()->input()->edit();
  field->setFocus();
  openPalette();
  ASSERT_TRUE(palette()->isVisible());
  EXPECT_TRUE(palette()->field()->hasFocus());
  type("light");
  EXPECT_EQ(chosen(), "theme.light");
  press(Qt::Key_Return);
  EXPECT_FALSE(palette()->isVisible());
  EXPECT_FALSE(window_->theme().isDark());
  EXPECT_TRUE(field->hasFocus());
  openPalette();
  EXPECT_EQ(palette()->model()->rowCount(), static_cast<int>(commands().list().size())) << "it begins anew";
  type("zoom");
  ASSERT_EQ(palette()->model()->rowCount(), 2);
  press(Qt::Key_Down);
  EXPECT_EQ(chosen(), "graph.zoomOut");
  press(Qt::Key_Down);
  EXPECT_EQ(chosen(), "graph.zoomIn") << "it goes round";
  press(Qt::Key_Escape);
  EXPECT_FALSE(palette()->isVisible());
  EXPECT_TRUE(field->hasFocus());
}

TEST_F(CommandsTest, WhatIsNotPossibleNowStandsLastAndDoesNothing) {
  openPalette();
  type("undo");
  ASSERT_EQ(chosen(), "edit.undo");
  EXPECT_FALSE(palette()->list()->currentIndex().data(PaletteModel::enabledRole).toBool());
  press(Qt::Key_Return);
  EXPECT_TRUE(palette()->isVisible());
  palette()->field()->clear();
  bool possible = true;
  for (int row = 0; row < palette()->model()->rowCount(); ++row) {
    const bool now = palette()->model()->index(row, 0).data(PaletteModel::enabledRole).toBool();
    EXPECT_TRUE(possible || !now) << row;
    possible = now;
  }
  EXPECT_FALSE(possible);
}

TEST_F(CommandsTest, EscIsThePalettesWhileAReplyIsWritten) {
  engine_.chat.tokens = 100000;
  quit(*window_);
  window_ = makeWindow();
  ASSERT_TRUE(opened(*window_, "chat"));
  window_->chatPage()->send("Go on for ever");
  ASSERT_TRUE(waitUntil([&] { return window_->session()->state() == RunState::decode; }));
  openPalette();
  press(Qt::Key_Escape);
  EXPECT_FALSE(palette()->isVisible());
  EXPECT_TRUE(window_->session()->running());
  QTest::keyClick(window_->chatPage()->input()->edit(), Qt::Key_Escape);
  EXPECT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
}

TEST_F(CommandsTest, ThePaletteGoesWithTheFocus) {
  openPalette();
  window_->outlinePanel()->tree()->setFocus();
  EXPECT_FALSE(palette()->isVisible());
  EXPECT_TRUE(window_->outlinePanel()->tree()->hasFocus());
}

TEST_F(CommandsTest, KeysThatAPersonGaveAreKept) {
  {
    KeysDialog dialog(window_->theme(), commands(), window_.get());
    dialog.show();
    KeyButton* fit = dialog.button("graph.fit");
    fit->setFocus();
    fit->click();
    ASSERT_TRUE(fit->asking());
    QTest::keyClick(fit, Qt::Key_J, Qt::ControlModifier);
    EXPECT_EQ(fit->text(), "Ctrl+J");
  }
  EXPECT_EQ(commands().action("graph.fit")->shortcut(), QKeySequence("Ctrl+J"));
  quit(*window_);
  window_ = makeWindow();
  EXPECT_EQ(commands().action("graph.fit")->shortcut(), QKeySequence("Ctrl+J"));
  commands().restoreKeys({});
  EXPECT_EQ(commands().action("graph.fit")->shortcut(), QKeySequence("Ctrl+0"));
  quit(*window_);
  window_ = makeWindow();
  EXPECT_EQ(commands().action("graph.fit")->shortcut(), QKeySequence("Ctrl+0"));
}

TEST_F(CommandsTest, KeysOfAnotherCommandAreRefusedByItsName) {
  KeysDialog dialog(window_->theme(), commands(), window_.get());
  dialog.show();
  KeyButton* fit = dialog.button("graph.fit");
  fit->setFocus();
  fit->click();
  QTest::keyClick(fit, Qt::Key_O, Qt::ControlModifier);
  EXPECT_EQ(dialog.note(),
            "Ctrl+O belongs to \"Open a model, a graph, an adapter or a recipe\": choose others, or take "
            "them away there "
            "first");
  EXPECT_EQ(fit->text(), "Ctrl+0");
  EXPECT_EQ(commands().action("graph.fit")->shortcut(), QKeySequence("Ctrl+0"));
  fit->click();
  QTest::keyClick(fit, Qt::Key_Escape);
  EXPECT_TRUE(dialog.isVisible());
  EXPECT_EQ(fit->text(), "Ctrl+0");
  KeyButton* open = dialog.button("file.open");
  open->setFocus();
  open->click();
  QTest::keyClick(open, Qt::Key_Backspace);
  EXPECT_EQ(open->text(), "none");
  fit->setFocus();
  fit->click();
  QTest::keyClick(fit, Qt::Key_O, Qt::ControlModifier);
  EXPECT_EQ(fit->text(), "Ctrl+O");
}

TEST_F(CommandsTest, WhatIsWrittenOnButtonsFollowsTheKeys) {
  commands().setKeys("chat.run", QKeySequence("Ctrl+R"));
  EXPECT_TRUE(window_->toolBar()->runButton()->toolTip().endsWith("(Ctrl+R)"));
  commands().setKeys("edit.undo", QKeySequence("Alt+Z"));
  bool told = false;
  for (const IconButton* button : window_->toolBar()->findChildren<IconButton*>())
    told |= button->toolTip() == "Undo edit (Alt+Z)";
  EXPECT_TRUE(told);
}

TEST_F(CommandsTest, PalettesAndKeysFitASmallWindowInBothThemes) {
  window_->resize(1280, 800);
  for (const bool dark : {true, false}) {
    const QString suffix = dark ? "-dark" : "-light";
    window_->setThemeChoice(dark ? ThemeChoice::dark : ThemeChoice::light);
    waitUntil([] { return false; }, 100);
    window_->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window_.get()));
    openPalette();
    EXPECT_TRUE(isWhole(palette()));
    takePicture(*window_, "palette-all" + suffix);
    type("the");
    takePicture(*window_, "palette" + suffix);
    press(Qt::Key_Escape);
    KeysDialog dialog(window_->theme(), commands(), window_.get());
    dialog.show();
    EXPECT_LE(dialog.width(), 1280);
    EXPECT_LE(dialog.height(), 800);
    takePicture(dialog, "keys" + suffix);
  }
}

}  // namespace
}  // namespace orrery::ui::testing
