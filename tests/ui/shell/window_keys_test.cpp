// The window by its keys: what they do and where the focus goes.
#include <QPushButton>
#include <QTest>
#include <set>

#include "support/window_fixture.h"
#include "ui/shell/focus_order.h"

namespace orrery::ui::testing {
namespace {

class KeysTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    engine_.chat.tokens = 3;
    window_ = makeWindow();
    ASSERT_TRUE(opened(*window_, "chat"));
  }
  MessageEdit* field() const { return window_->chatPage()->input()->edit(); }
  FakeSession* session() const { return dynamic_cast<FakeSession*>(window_->session()->session().get()); }
  void say(const QString& text) {
    field()->setFocus();
    QTest::keyClicks(field(), text);
    QTest::keyClick(field(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
  }
  static void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(QApplication::focusWidget(), key, modifiers);
  }
  /// "library"; "graph" is the centre, empty none of them.
  QString partInFront() const {
    const QWidget* focus = QApplication::focusWidget();
    for (const char* part : {"library", "outline", "inspector", "chat", "classify", "compare", "latency"})
      if (window_->dock(part)->isAncestorOf(focus)) return part;
    return window_->graphPage()->isAncestorOf(focus) ? "graph" : QString();
  }
  bool edits(size_t count) const {
    return waitUntil([&] { return session()->recipe().size() == count; }, 2000);
  }

  std::unique_ptr<MainWindow> window_;
};

TEST(FocusOrder, AControlWithoutAHeightIsALineOfItsOwn) {
  QWidget page;
  page.resize(200, 100);
  std::vector<QWidget*> made;
  for (const QRect& place : {QRect(0, -7, 50, 0), QRect(60, 20, 50, 20), QRect(0, 22, 50, 20)}) {
    made.push_back(new QPushButton(&page));
    made.back()->setFixedSize(place.size());
    made.back()->move(place.topLeft());
  }
  page.show();
  EXPECT_EQ(controlsAsRead({&page, nullptr}), (std::vector<QWidget*>{made[0], made[2], made[1]}));
}

TEST_F(KeysTest, RegenerateCanBeAskedForWhenTheReplyIsThere) {
  EXPECT_FALSE(window_->action("Regenerate")->isEnabled());
  say("Hello");
  EXPECT_TRUE(window_->action("Regenerate")->isEnabled());
  QTest::keyClick(field(), Qt::Key_Return, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([&] { return session()->requests().size() == 2; }, 2000));
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
  EXPECT_TRUE(window_->action("Regenerate")->isEnabled());
  window_->chatPage()->newChat();
  EXPECT_FALSE(window_->action("Regenerate")->isEnabled());
}

TEST_F(KeysTest, UndoIsTheGraphsUnlessTheFieldHasSomethingOfItsOwn) {
  window_->applyEdit("bypass", "layers.1");
  ASSERT_TRUE(edits(1));
  say("Hello");
  ASSERT_TRUE(field()->hasFocus());
  QTest::keyClicks(field(), "half a thou");
  QTest::keyClick(field(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(field()->toPlainText().isEmpty());
  EXPECT_EQ(session()->recipe().size(), 1U);
  QTest::keyClick(field(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_EQ(field()->toPlainText(), "half a thou");
  QTest::keyClick(field(), Qt::Key_Z, Qt::ControlModifier);
  QTest::keyClick(field(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(edits(0));
  field()->clear();
  QTest::keyClick(field(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(edits(1));
  for (QWidget* other : {static_cast<QWidget*>(window_->toolBar()->find()),
                         static_cast<QWidget*>(window_->graphPage()->view()),
                         static_cast<QWidget*>(window_->libraryPage()->list())}) {
    other->setFocus();
    QTest::keyClick(other, Qt::Key_Z, Qt::ControlModifier);
    ASSERT_TRUE(edits(0)) << other->metaObject()->className();
    QTest::keyClick(other, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    ASSERT_TRUE(edits(1)) << other->metaObject()->className();
  }
}

TEST_F(KeysTest, TabGoesThroughTheWholeWindowAndComesRound) {
  say("Hello");
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  field()->setFocus();
  std::vector<QWidget*> passed;
  do {
    passed.push_back(QApplication::focusWidget());
    ASSERT_TRUE(isWhole(passed.back())) << passed.back()->metaObject()->className();
    press(Qt::Key_Tab);
    ASSERT_NE(QApplication::focusWidget(), passed.back()) << "dead at " << passed.size();
    ASSERT_LT(passed.size(), 200U) << "it does not come round";
  } while (QApplication::focusWidget() != field());
  EXPECT_EQ(std::set(passed.begin(), passed.end()).size(), passed.size()) << "one is passed twice";

  std::vector<QWidget*> wanted{window_->toolBar()->find(),      window_->toolBar()->modelButton(),
                               window_->libraryPage()->list(),  window_->outlinePanel()->tree(),
                               window_->graphPage()->view(),    window_->chatPage()->transcript(),
                               window_->toolBar()->runButton(), window_->toolBar()->device()};
  for (const QWidget* corner : {window_->chatPage()->corner(), window_->latencyPage()->corner()})
    for (IconButton* button : corner->findChildren<IconButton*>()) wanted.push_back(button);
  for (QWidget* control : wanted) {
    if (!control->isEnabled() || !control->isVisible()) continue;
    EXPECT_NE(std::find(passed.begin(), passed.end(), control), passed.end())
        << control->metaObject()->className() << " " << control->accessibleName().toStdString();
  }
  for (auto it = passed.rbegin(); it != passed.rend(); ++it) {
    press(Qt::Key_Backtab, Qt::ShiftModifier);
    EXPECT_EQ(QApplication::focusWidget(), *it);
  }
}

TEST_F(KeysTest, TabIsReadFromTheTopLeftToTheBottomRight) {
  field()->setFocus();
  QStringList parts;
  for (int i = 0; i < 200; ++i) {
    press(Qt::Key_Tab);
    const QString part = partInFront();
    if (QApplication::focusWidget() == field()) break;
    if (!part.isEmpty() && (parts.isEmpty() || parts.back() != part)) parts += part;
  }
  EXPECT_EQ(parts, QStringList({"chat", "latency", "library", "outline", "graph", "inspector", "chat"}));
}

TEST_F(KeysTest, F6GoesFromPartToPart) {
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  field()->setFocus();
  const QStringList order{"latency", "library", "outline", "graph", "inspector", "chat"};
  for (int round = 0; round < 2; ++round)
    for (const QString& part : order) {
      press(Qt::Key_F6);
      EXPECT_EQ(partInFront(), part);
    }
  EXPECT_TRUE(field()->hasFocus());
  for (int i = order.size() - 2; i >= 0; --i) {
    press(Qt::Key_F6, Qt::ShiftModifier);
    EXPECT_EQ(partInFront(), order[i]);
  }
  window_->dock("library")->close();
  window_->showPage("classify");
  EXPECT_TRUE(window_->classifyPage()->field()->hasFocus());
  for (const char* part : {"latency", "outline", "graph", "inspector", "classify"}) {
    press(Qt::Key_F6);
    EXPECT_EQ(partInFront(), part);
  }
  EXPECT_TRUE(window_->classifyPage()->field()->hasFocus());
}

TEST_F(KeysTest, F6ComesBackToWhereTheFocusWas) {
  window_->outlinePanel()->tree()->setFocus();
  press(Qt::Key_F6);
  press(Qt::Key_Tab);
  const QWidget* before = QApplication::focusWidget();
  ASSERT_EQ(partInFront(), "graph");
  press(Qt::Key_F6, Qt::ShiftModifier);
  EXPECT_TRUE(window_->outlinePanel()->tree()->hasFocus());
  press(Qt::Key_F6);
  EXPECT_EQ(QApplication::focusWidget(), before);
}

TEST_F(KeysTest, WhatGoesLeavesTheFocusToThePageInFront) {
  say("Hello");
  ASSERT_FALSE(window_->close());
  EXPECT_EQ(partInFront(), "graph") << "the question has it";
  press(Qt::Key_Escape);
  EXPECT_TRUE(field()->hasFocus());
  window_->outlinePanel()->tree()->setFocus();
  window_->dock("outline")->close();
  EXPECT_TRUE(field()->hasFocus());
}

TEST_F(KeysTest, AfterAStartTypingGoesToThePageInFront) {
  window_->showPage("classify");
  ASSERT_TRUE(waitUntil([&] { return window_->classifier()->session() != nullptr; }));
  quit(*window_);
  window_ = makeWindow();
  ASSERT_TRUE(opened(*window_, "chat"));
  ASSERT_NE(QApplication::focusWidget(), nullptr);
  QTest::keyClicks(QApplication::focusWidget(), "a good film");
  EXPECT_EQ(window_->classifyPage()->field()->text(), "a good film");
  EXPECT_TRUE(window_->chatPage()->input()->text().isEmpty());
}

}  // namespace
}  // namespace orrery::ui::testing
