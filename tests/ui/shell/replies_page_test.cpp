// Replies before and after: both texts, the first token that differs, Run and Stop.
#include <QTest>

#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/replies/replies_page.h"

namespace orrery::ui::testing {
namespace {

using Side = ReplyPair::Side;

TokenBatch tokens(const std::vector<std::pair<int, const char*>>& pieces) {
  TokenBatch batch;
  for (const auto& [id, piece] : pieces) {
    api::TokenEvent token;
    token.id = id;
    token.text = piece;
    batch.push_back(token);
  }
  return batch;
}

TEST(FirstDifference, IsTheFirstTokenThatIsAnother) {
  const TokenBatch one = tokens({{1, "The"}, {2, " sky"}, {3, " is"}}),
                   two = tokens({{1, "The"}, {4, " sea"}});
  EXPECT_EQ(firstDifference(one, two), std::optional<size_t>(1));
  EXPECT_EQ(firstDifference(one, one), std::nullopt);
  EXPECT_EQ(firstDifference(one, tokens({{1, "The"}})), std::nullopt) << "the beginning of the other";
}

TEST(ReplyCardTest, UnderlinesTheTokenThatDiffers) {
  ReplyCard card(Theme(), Side::after);
  card.add(tokens({{1, "The"}, {2, ""}, {3, " \u00e9toile"}, {4, " is"}}));
  EXPECT_EQ(card.marked(), "");
  card.setDifference(2);
  EXPECT_EQ(card.marked(), QString(" \u00e9toile"));
  card.setDifference(1);
  EXPECT_EQ(card.marked(), QString(" \u00e9toile"))
      << "a token within a character is told with the rest of it";
  card.setDifference(7);
  EXPECT_EQ(card.marked(), "") << "not there yet";
}

class RepliesPageTest : public WindowTest {
 protected:
  void open(ThemeChoice theme = ThemeChoice::dark) {
    window_ = makeWindow(theme);
    ASSERT_TRUE(opened(*window_, "chat"));
    window_->showPage("replies");
    page_ = window_->findChild<RepliesPage*>();
    ASSERT_TRUE(waitUntil([this] { return page_->isVisible(); }));
  }
  bool ended() {
    return waitUntil([this] { return !page_->pair()->running(); });
  }

  std::unique_ptr<MainWindow> window_;
  RepliesPage* page_ = nullptr;
};

TEST_F(RepliesPageTest, BothAreWrittenAndTheChatIsLeftAlone) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    open(theme);
    window_->applyEdit("bypass", "layers.1");
    ASSERT_TRUE(waitUntil([this] { return window_->session()->idle(); }));
    EXPECT_EQ(page_->card(Side::after)->words(), "1 edit");
    page_->prompt()->setText("Hello");
    QTest::keyClick(page_->prompt(), Qt::Key_Return);
    EXPECT_TRUE(page_->pair()->running());
    EXPECT_EQ(page_->button()->text(), "Stop");
    ASSERT_TRUE(ended());
    EXPECT_GT(page_->card(Side::before)->text().size(), 20);
    EXPECT_EQ(page_->card(Side::after)->text(), page_->card(Side::before)->text());
    EXPECT_EQ(page_->card(Side::after)->note(), "the same");
    EXPECT_TRUE(page_->card(Side::before)->figures().startsWith("24 tokens  first token"));
    EXPECT_EQ(window_->chatPage()->transcript()->messageCount(), 0U) << "it is no message of the chat";
    window_->applyEdit("bypass", "layers.2");
    ASSERT_TRUE(waitUntil([this] { return page_->card(Side::after)->words() == "1 edit, changed since"; }));
    takePicture(*window_, theme == ThemeChoice::dark ? "replies-dark" : "replies-light");
    quit(*window_);
  }
}

TEST_F(RepliesPageTest, StopEndsBoth) {
  engine_.chat.perToken = std::chrono::milliseconds(50);
  open();
  page_->button()->click();
  ASSERT_TRUE(waitUntil([this] { return page_->card(Side::before)->tokens().size() > 1; }));
  page_->button()->click();
  ASSERT_TRUE(ended());
  EXPECT_LT(page_->card(Side::before)->tokens().size(), 20U);
  EXPECT_TRUE(page_->card(Side::after)->tokens().empty());
  EXPECT_TRUE(page_->card(Side::before)->figures().endsWith("stopped"));
  EXPECT_EQ(page_->button()->text(), "Run");
  quit(*window_);
}

TEST_F(RepliesPageTest, AFailureIsToldInThePage) {
  engine_.chat.failReply = true;
  open();
  page_->button()->click();
  ASSERT_TRUE(ended());
  EXPECT_TRUE(page_->banner()->isVisible());
  EXPECT_TRUE(page_->banner()->body().contains("The context does not fit"));
  quit(*window_);
}

TEST_F(RepliesPageTest, WithoutAPromptNothingRuns) {
  open();
  page_->prompt()->clear();
  EXPECT_FALSE(page_->button()->isEnabled());
  QTest::keyClick(page_->prompt(), Qt::Key_Return);
  EXPECT_FALSE(page_->pair()->running());
  quit(*window_);
}

}  // namespace
}  // namespace orrery::ui::testing
