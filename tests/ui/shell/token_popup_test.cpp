// The popup of a token, with the pointer of a person.
#include <QTest>
#include <QWindow>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class TokenPopupTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    window_ = makeWindow();
    ASSERT_TRUE(opened(*window_, "chat"));
    chat()->send("Why?");
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
    moveTo(token(1));
    ASSERT_TRUE(popup()->isVisible());
    index_ = popup()->token().id;
  }
  ChatPage* chat() const { return window_->chatPage(); }
  TokenPopup* popup() const { return chat()->popup(); }
  /// In the window, of the last reply.
  QPointF token(int index) const {
    const TranscriptView* view = chat()->transcript();
    const TranscriptItem& reply = view->message(view->messageCount() - 1);
    double top = 0;  // by search: where pointing gives the token
    for (double y = 0; y < view->viewport()->height() && top == 0; y += 4)
      if (view->viewport()->rect().contains(0, static_cast<int>(y)) && messageAt(y) == 1) top = y;
    return view->viewport()->mapTo(window_.get(), QPointF(16, top) + reply.tokenRect(index).center());
  }
  int messageAt(double y) const {
    const TranscriptView* view = chat()->transcript();
    double bottom = 8;
    for (size_t i = 0; i < view->messageCount(); ++i) {
      bottom += view->message(i).height() + 10;
      if (y < bottom) return static_cast<int>(i);
    }
    return -1;
  }
  void moveTo(const QPointF& at) {
    QTest::mouseMove(window_->windowHandle(), at.toPoint());
    QApplication::processEvents();
    at_ = at;
  }
  QPointF popupCentre() const { return popup()->mapTo(window_.get(), QPointF(popup()->rect().center())); }

  std::unique_ptr<MainWindow> window_;
  QPointF at_;
  int32_t index_ = 0;
};

TEST_F(TokenPopupTest, StaysWhileThePointerIsOnItsWayAndOverIt) {
  const QPointF from = at_, to = popupCentre();
  for (int step = 1; step <= 40; ++step) {
    moveTo(from + (to - from) * step / 40);
    ASSERT_TRUE(popup()->isVisible()) << step;
    ASSERT_EQ(popup()->token().id, index_) << "other tokens lie on the way";
  }
  EXPECT_FALSE(waitUntil([&] { return !popup()->isVisible(); }, 600)) << "the pointer is over it";
  moveTo(window_->graphPage()->mapTo(window_.get(), QPointF(300, 20)));
  EXPECT_TRUE(waitUntil([&] { return !popup()->isVisible(); })) << "both are left";
}

TEST_F(TokenPopupTest, AnotherTokenIsShownWhenThePointerGoesThereOrRests) {
  moveTo(token(0));
  EXPECT_TRUE(waitUntil([&] { return popup()->isVisible() && popup()->token().id != index_; }));
}

TEST_F(TokenPopupTest, GoesWhenThePointerLeavesTheText) {
  moveTo(window_->graphPage()->mapTo(window_.get(), QPointF(300, 20)));
  EXPECT_TRUE(waitUntil([&] { return !popup()->isVisible(); }));
}

TEST_F(TokenPopupTest, EscClosesItAndNothingElse) {
  chat()->input()->setFocus();
  QTest::keyClick(window_->windowHandle(), Qt::Key_Escape);
  EXPECT_FALSE(popup()->isVisible());
  moveTo(token(2));
  EXPECT_TRUE(waitUntil([&] { return popup()->isVisible(); })) << "and the next token has one again";
}

}  // namespace
}  // namespace orrery::ui::testing
