// The history dock: steps as rows, jumps by click and by key, recipes switched, what a new step replaces.
#include <QApplication>
#include <QCheckBox>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QTest>
#include <QTimer>

#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/history/history_page.h"

namespace orrery::ui::testing {
namespace {

class HistoryPageTest : public WindowTest {
 protected:
  void open(ThemeChoice theme = ThemeChoice::dark) {
    window_ = makeWindow(theme);
    ASSERT_TRUE(opened(*window_, "chat"));
    window_->showPage("history");
    page_ = window_->findChild<HistoryPage*>();
    ASSERT_TRUE(waitUntil([this] { return page_->isVisible() && rows() == 1; }));
  }
  int rows() const { return page_->model()->rowCount(); }
  QVariant data(int row, int role = Qt::DisplayRole) const {
    return page_->model()->data(page_->model()->index(row), role);
  }
  HistoryModel::State state(int row) const {
    return static_cast<HistoryModel::State>(data(row, HistoryModel::stateRole).toInt());
  }
  void edit(const QString& scope) {
    const int before = page_->model()->now();
    window_->applyEdit("bypass", scope);
    ASSERT_TRUE(waitUntil([&] { return page_->model()->now() == before + 1; }));
  }
  bool nowAt(int step) {
    return waitUntil([&] { return page_->model()->now() == step && window_->session()->idle(); });
  }
  QPoint middleOf(int row) const { return page_->list()->visualRect(page_->model()->index(row)).center(); }
  void click(int row) { QTest::mouseClick(page_->list()->viewport(), Qt::LeftButton, {}, middleOf(row)); }
  /// A name and Enter in the dialog that comes next.
  static void answerDialog(const QString& file) {
    QTimer::singleShot(0, [file] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      dialog->findChild<QLineEdit*>()->setText(file);
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
  }
  static void say(MainWindow& window) {
    window.chatPage()->send("Hello");
    ASSERT_TRUE(waitUntil([&] { return !window.session()->running(); }));
  }

  std::unique_ptr<MainWindow> window_;
  HistoryPage* page_ = nullptr;
};

TEST_F(HistoryPageTest, StepsAreRowsAndTheStateOfNowIsMarked) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    open(theme);
    EXPECT_EQ(data(0), "chat");
    EXPECT_EQ(data(0, HistoryModel::scopeRole), "original");
    EXPECT_FALSE(page_->original()->isEnabled());
    say(*window_);
    ASSERT_TRUE(waitUntil([&] { return data(0, HistoryModel::timeRole).toDouble() > 0; }));
    edit("layers.1");
    edit("layers.2");
    edit("layers.3");
    EXPECT_EQ(rows(), 4);
    EXPECT_EQ(data(1), "Bypass");
    EXPECT_EQ(data(1, HistoryModel::scopeRole), "layers.1");
    EXPECT_EQ(state(3), HistoryModel::State::now);
    EXPECT_GT(data(0, HistoryModel::timeRole).toDouble(), 0) << "what was measured stays";
    EXPECT_EQ(data(3, HistoryModel::timeRole).toDouble(), 0) << "nothing ran in that state";
    window_->work().undo();
    ASSERT_TRUE(nowAt(2));
    EXPECT_EQ(state(3), HistoryModel::State::undone);
    EXPECT_EQ(data(3, HistoryModel::scopeRole), "layers.3, undone");
    takePicture(*window_, theme == ThemeChoice::dark ? "history-dark" : "history-light");
    quit(*window_);
  }
}

TEST_F(HistoryPageTest, AClickGoesToTheState) {
  open();
  edit("layers.1");
  edit("layers.2");
  click(1);
  ASSERT_TRUE(nowAt(1));
  EXPECT_TRUE(recipeIs(*window_, {"bypass scope=layers.1"}));
  EXPECT_EQ(rows(), 3) << "the undone step stays";
  click(2);
  ASSERT_TRUE(nowAt(2));
  EXPECT_TRUE(recipeIs(*window_, {"bypass scope=layers.1", "bypass scope=layers.2"}));
  page_->original()->click();
  ASSERT_TRUE(nowAt(0));
  EXPECT_TRUE(recipeIs(*window_, {}));
  quit(*window_);
}

TEST_F(HistoryPageTest, ArrowsWalkAndEnterJumps) {
  open();
  edit("layers.1");
  edit("layers.2");
  page_->list()->setFocus();
  QTest::keyClick(page_->list(), Qt::Key_Up);
  EXPECT_EQ(page_->model()->now(), 2) << "walking changes nothing";
  QTest::keyClick(page_->list(), Qt::Key_Up);
  QTest::keyClick(page_->list(), Qt::Key_Return);
  ASSERT_TRUE(nowAt(0));
  QTest::keyClick(page_->list(), Qt::Key_Down);
  QTest::keyClick(page_->list(), Qt::Key_Return);
  ASSERT_TRUE(nowAt(1));
  quit(*window_);
}

TEST_F(HistoryPageTest, AJumpThatTakesItsTimeDoesNotBlockTheWindow) {
  open();
  edit("layers.1");
  *engine_.chat.editsHeld = true;
  click(0);
  EXPECT_TRUE(window_->session()->changing());
  EXPECT_EQ(page_->model()->now(), 1);
  *engine_.chat.editsHeld = false;
  ASSERT_TRUE(nowAt(0));
  quit(*window_);
}

TEST_F(HistoryPageTest, WhatANewStepReplacesCanBeKept) {
  open();
  edit("layers.1");
  edit("layers.2");
  click(1);
  ASSERT_TRUE(nowAt(1));
  edit("layers.3");
  EXPECT_EQ(rows(), 3);
  ASSERT_TRUE(waitUntil([&] { return page_->banner()->isVisible(); }));
  EXPECT_EQ(page_->banner()->title(), "1 undone step was replaced");
  takePicture(*window_, "history-replaced");
  answerDialog(path("kept.json"));
  ASSERT_TRUE(press(page_->banner(), "Keep as recipe"));
  QFile file(path("kept.json"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const auto kept = edit::parse_recipe(file.readAll().toStdString());
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(kept->edits.size(), 2U) << "with what was undone";
  EXPECT_EQ(kept->edits[1].to_string(), "bypass scope=layers.2");
  EXPECT_TRUE(window_->session()->unsaved()) << "that is another recipe than the model's";
  EXPECT_FALSE(page_->banner()->isVisible());
  quit(*window_);
}

TEST_F(HistoryPageTest, RecipesAreSwitchedByTheirNames) {
  open();
  window_->session()->replay({{"bypass", {{"scope", "layers.1"}}}, {"bypass", {{"scope", "layers.2"}}}},
                             "nope");
  ASSERT_TRUE(nowAt(2));
  EXPECT_EQ(data(2, HistoryModel::scopeRole), "layers.2, nope");
  auto* box = page_->findChild<QCheckBox*>();
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->text(), "nope, 2 edits");
  takePicture(*window_, "history-recipes");
  box->click();
  ASSERT_TRUE(nowAt(3));
  EXPECT_TRUE(recipeIs(*window_, {}));
  box = page_->findChild<QCheckBox*>();
  ASSERT_NE(box, nullptr);
  EXPECT_FALSE(box->isChecked());
  box->click();
  ASSERT_TRUE(nowAt(4));
  EXPECT_TRUE(recipeIs(*window_, {"bypass scope=layers.1", "bypass scope=layers.2"}));
  quit(*window_);
}

}  // namespace
}  // namespace orrery::ui::testing
