// The window by its keys: what they do and where the focus goes.
#include <QTest>

#include "support/window_fixture.h"

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
  bool edits(size_t count) const {
    return waitUntil([&] { return session()->recipe().size() == count; }, 2000);
  }

  std::unique_ptr<MainWindow> window_;
};

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

}  // namespace
}  // namespace orrery::ui::testing
