// Whose graph is drawn: that of the model which the page in front runs, called as it was opened.
#include <QTabBar>
#include <QTest>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class DrawnModelTest : public WindowTest {
 protected:
  void open() {
    window_ = makeWindow();
    ASSERT_TRUE(opened(*window_, "chat"));
  }
  void clickTab(const QString& title) {
    for (QTabBar* bar : window_->findChildren<QTabBar*>())
      for (int tab = 0; tab < bar->count(); ++tab)
        if (bar->tabText(tab) == title)
          QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(tab).center());
  }
  bool loaded() {
    return waitUntil([&] { return window_->classifier()->session() != nullptr; });
  }
  IconButton* graphButton() const {
    for (IconButton* button : window_->classifyPage()->corner()->findChildren<IconButton*>())
      if (button->iconName() == "graph") return button;
    return nullptr;
  }
  /// Title bar, tool bar, status line and the views all say this one.
  void expectDrawn(const SessionController* source, const QString& title) {
    EXPECT_EQ(window_->graphPage()->source(), source);
    EXPECT_EQ(window_->windowTitle(), title + " - Orrery");
    EXPECT_EQ(window_->toolBar()->modelButton()->text(), title);
    EXPECT_TRUE(window_->status()->facts().model.startsWith(title + " "));
    EXPECT_EQ(window_->outlinePanel()->model()->index(0, 0).data(Qt::DisplayRole).toString(), title);
  }
  void expectDrawn(const QString& title) {
    expectDrawn(title == "chat" ? window_->session() : window_->classifier(), title);
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(DrawnModelTest, AModelIsCalledAsItWasOpened) {
  open();
  window_->openModel("/models/minilm", "/models/moods/");
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->loading(); }));
  expectDrawn(window_->session(), "moods");
  ASSERT_TRUE(waitUntil([&] { return window_->libraryPage()->model()->rowCount() > 1; }));
  emit window_->libraryPage()->list()->doubleClicked(window_->libraryPage()->model()->find("sentiment"));
  EXPECT_EQ(window_->session()->loadingName(), "sentiment");
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->loading(); }));
  expectDrawn(window_->session(), "sentiment");
  const QString file = writeFile(path("Tiny-1B.Q4_1.gguf"), "x");
  ASSERT_TRUE(opened(*window_, file));
  expectDrawn(window_->session(), "Tiny-1B");
}

TEST_F(DrawnModelTest, ThePageInFrontSaysWhoseGraphIsDrawn) {
  open();
  EXPECT_FALSE(window_->graphPage()->models()->isVisible()) << "there is one model";
  clickTab("Classify");
  ASSERT_TRUE(loaded());
  expectDrawn("sentiment");
  EXPECT_TRUE(window_->graphPage()->models()->isVisible());
  EXPECT_EQ(window_->graphPage()->models()->text(0), "chat");
  EXPECT_EQ(window_->graphPage()->models()->text(1), "sentiment");
  EXPECT_TRUE(window_->graphPage()->view()->waitForLayout());
  takePicture(*window_, "classifier-drawn-dark");
  for (const char* page : {"Chat", "Classify", "Compare", "Classify"}) {
    clickTab(page);
    expectDrawn(QString(page) == "Classify" ? "sentiment" : "chat");
    EXPECT_EQ(graphButton()->isChecked(), QString(page) == "Classify");
  }
}

TEST_F(DrawnModelTest, ThereIsAWayBackAndWhatRunsIsDrawn) {
  open();
  window_->showPage("classify");
  ASSERT_TRUE(loaded());
  expectDrawn("sentiment");
  QTest::mouseClick(graphButton(), Qt::LeftButton);
  expectDrawn("chat");
  QTest::mouseClick(graphButton(), Qt::LeftButton);
  expectDrawn("sentiment");
  QTest::keyClick(window_->graphPage()->models(), Qt::Key_Left);
  expectDrawn("chat");
  window_->classifyPage()->classifyTexts({"a good film"});
  expectDrawn("sentiment");
  window_->chatPage()->send("Hello");
  expectDrawn("chat");
}

TEST_F(DrawnModelTest, TheStatusLineNamesAModelThatRunsAndIsNotDrawn) {
  engine_.chat.tokens = 100000;
  open();
  window_->chatPage()->send("Go on for ever");
  clickTab("Classify");
  ASSERT_TRUE(loaded());
  ASSERT_TRUE(waitUntil([&] { return window_->status()->facts().state == "chat: running, decode"; }));
  expectDrawn("sentiment");
  EXPECT_TRUE(window_->status()->facts().speed.isEmpty()) << "it is the chat's";
  clickTab("Chat");
  EXPECT_EQ(window_->status()->facts().state, "Running, decode");
}

TEST_F(DrawnModelTest, EachGraphKeepsWhatWasOpenedInIt) {
  open();
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  window_->graphPage()->view()->expandScope("layers.1");
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  ASSERT_TRUE(window_->graphPage()->view()->isExpanded("layers.1"));
  window_->showPage("classify");
  ASSERT_TRUE(loaded());
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  EXPECT_FALSE(window_->graphPage()->view()->isExpanded("layers.1"));
  window_->showPage("chat");
  EXPECT_TRUE(window_->graphPage()->view()->isExpanded("layers.1"));
}

TEST_F(DrawnModelTest, EditsAndFactsAreOfTheModelThatIsDrawn) {
  open();
  window_->showPage("classify");
  ASSERT_TRUE(loaded());
  const graph::GraphVersion graph = window_->classifier()->session()->fused_graph();
  const NodeId head = graph->find_path("head");
  window_->outlinePanel()->tree()->setCurrentIndex(window_->outlinePanel()->model()->indexOf(head));
  const auto says = [&](const QString& words) {
    for (const Text* text : window_->inspectorPage()->findChildren<Text*>())
      if (text->text() == words) return true;
    return false;
  };
  EXPECT_TRUE(waitUntil([&] { return says("head"); }, 2000));
  window_->applyEdit("bypass", "layers.1");
  ASSERT_TRUE(waitUntil([&] { return window_->classifier()->canUndo(); }));
  EXPECT_EQ(window_->status()->facts().edits, "1 edit, not saved");
  window_->showPage("chat");
  EXPECT_EQ(window_->status()->facts().edits, "no edits");
  EXPECT_FALSE(window_->session()->canUndo());
}

TEST_F(DrawnModelTest, AtTheNextStartThePageInFrontTakesTheTyping) {
  open();
  clickTab("Classify");
  ASSERT_TRUE(loaded());
  window_->close();
  open();
  ASSERT_TRUE(loaded());
  EXPECT_TRUE(waitUntil([&] { return window_->classifyPage()->field()->hasFocus(); }, 2000));
  expectDrawn("sentiment");
  EXPECT_FALSE(window_->chatPage()->input()->edit()->hasFocus());
  ASSERT_TRUE(opened(*window_, "other"));  // by hand, which is to be seen
  expectDrawn(window_->session(), "other");
  EXPECT_TRUE(window_->chatPage()->input()->edit()->hasFocus());
}

}  // namespace
}  // namespace orrery::ui::testing
