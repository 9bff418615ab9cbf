#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QScrollBar>
#include <cmath>

#include "ui/chat/token_popup.h"
#include "ui/chat/transcript_view.h"

namespace orrery::ui {
namespace {

api::TokenEvent token(const std::string& text) {
  api::TokenEvent event;
  event.text = event.piece = text;
  return event;
}

TEST(TranscriptItem, TokensKnowTheirPlaceAcrossParagraphs) {
  TranscriptItem item(TranscriptItem::Role::model, {});
  for (const char* text : {"Two", " words", ".\n", "Next"}) item.append(token(text));
  item.layout(400, Theme());
  EXPECT_EQ(item.text(), "Two words.\nNext");
  EXPECT_EQ(item.tokenAt(0), 0);
  EXPECT_EQ(item.tokenAt(5), 1);
  EXPECT_EQ(item.tokenAt(11), 3);
  EXPECT_EQ(item.tokenAt(15), -1);
  const QRectF words = item.tokenRect(1), next = item.tokenRect(3);
  EXPECT_GT(words.left(), item.tokenRect(0).right());  // without the leading space
  EXPECT_GT(next.top(), words.bottom() - 1);
  EXPECT_EQ(item.tokenAt(item.characterAt(words.center())), 1);
  EXPECT_EQ(item.tokenAt(item.characterAt(next.center())), 3);
}

TEST(TranscriptItem, TokensWithoutTextHaveNoPlace) {
  TranscriptItem item(TranscriptItem::Role::model, {});
  for (const char* text : {"a", "", "b"}) item.append(token(text));
  item.layout(400, Theme());
  EXPECT_EQ(item.tokenAt(1), 2);
  EXPECT_TRUE(item.tokenRect(1).isEmpty());
}

TEST(TranscriptSpeed, AppendingATokenLaysOutItsParagraphOnly) {
  TranscriptView view((Theme()));
  view.resize(700, 300);
  view.addMessage(TranscriptItem::Role::person, "Write much");
  view.addMessage(TranscriptItem::Role::model, {});
  std::vector<api::TokenEvent> page;
  for (int line = 0; line < 400; ++line) {
    for (int word = 0; word < 30; ++word) page.push_back(token(" word"));
    page.push_back(token("\n"));
  }
  view.appendTokens(page);
  const auto cost = [&view] {
    QElapsedTimer clock;
    clock.start();
    for (int i = 0; i < 20; ++i) view.appendTokens({token(" x")});
    return static_cast<double>(clock.nsecsElapsed()) / 20e6;
  };
  // 12 000 words are there; laying all of them out takes hundreds of milliseconds.
  EXPECT_LT(cost(), 5.0) << "ms per token";
}

TEST(TranscriptView, FollowsTheEndUntilScrolledUp) {
  TranscriptView view((Theme()));
  view.resize(400, 120);
  view.addMessage(TranscriptItem::Role::model, {});
  for (int i = 0; i < 40; ++i) view.appendTokens({token("line\n")});
  EXPECT_EQ(view.verticalScrollBar()->value(), view.verticalScrollBar()->maximum());
  view.verticalScrollBar()->setValue(10);
  view.appendTokens({token("more\nmore\n")});
  EXPECT_EQ(view.verticalScrollBar()->value(), 10);
}

TEST(TokenPopup, ShowsTheChosenTokenEvenWhenUnlikely) {
  EXPECT_EQ(pieceText(" a"), QString::fromUtf8("␣a"));
  EXPECT_EQ(pieceText("\n"), QString::fromUtf8("↵"));
  EXPECT_FALSE(pieceText("\xF0\x9F").isEmpty());  // half a character
  QWidget text;
  TokenPopup popup(Theme(), &text);
  api::TokenEvent event = token(" rare");
  event.id = 7;
  event.logprob = -9;
  for (int i = 0; i < 8; ++i) event.top.push_back({100 + i, " t", -1.0F - static_cast<float>(i)});
  popup.setToken(event, 13);
  const int five = popup.height();
  event.top.resize(4);
  popup.setToken(event, 13);
  EXPECT_EQ(popup.height(), five);  // four likeliest and the chosen one
}

double luminance(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

TEST(TranscriptView, ThePersonsBubbleIsToldFromThePanel) {
  for (const Theme::Mode mode : {Theme::Mode::dark, Theme::Mode::light}) {
    const Theme theme(mode);
    TranscriptView view(theme);
    view.resize(400, 120);
    view.addMessage(TranscriptItem::Role::person, "Why do planets move?");
    const QImage picture = view.grab().toImage();
    const double panel = luminance(theme(Token::panel)) + 0.05;
    double most = 1;  // along a line from the panel into the bubble, before its text begins
    for (int x = 0; x < 24; ++x) {
      const double there = luminance(picture.pixelColor(x, 22)) + 0.05;
      most = std::max({most, there / panel, panel / there});
    }
    EXPECT_GE(most, 1.4) << (theme.isDark() ? "dark" : "light");
  }
}

}  // namespace
}  // namespace orrery::ui
