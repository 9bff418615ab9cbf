// The window at work: open, chat, stop, edit, find, errors, closing in the middle.
#include <QElapsedTimer>
#include <QLineEdit>
#include <QTest>
#include <QTreeView>

#include "support/window_fixture.h"
#include "ui/shell/first_words.h"

namespace orrery::ui::testing {
namespace {

class WorkTest : public WindowTest {};

bool idle(MainWindow& window) {
  return waitUntil([&] { return !window.session()->running(); });
}

TEST_F(WorkTest, TypingAQuestionGivesAReplyWithFigures) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ChatPage* chat = window->chatPage();
  takePicture(*window, "start-dark");
  QTest::keyClicks(chat->input()->edit(), "Why do planets farther from the Sun move more slowly?");
  QTest::keyClick(chat->input()->edit(), Qt::Key_Return);
  ASSERT_TRUE(window->session()->running());
  EXPECT_TRUE(chat->input()->text().isEmpty());
  EXPECT_EQ(window->toolBar()->runButton()->text(), "Stop");
  ASSERT_TRUE(idle(*window));
  ASSERT_EQ(chat->transcript()->messageCount(), 2U);
  EXPECT_EQ(chat->transcript()->message(1).tokens().size(), 24U);
  EXPECT_TRUE(chat->transcript()->message(1).text().startsWith("Planets farther from the Sun"));
  EXPECT_EQ(window->latencyPage()->series().samples().size(), 23U);
  EXPECT_EQ(window->latencyPage()->series().blocks().size(), 1U);
  chat->transcript()->pointAt(5);
  EXPECT_TRUE(chat->popup()->isVisible());
  waitUntil([] { return false; }, 300);
  takePicture(*window, "reply-dark");
}

TEST_F(WorkTest, WhatTheCommandLineSaysIsSaidOnceTheModelIsThere) {
  auto window = makeWindow();
  const FirstWords words(window.get(), {"Hello", "chat"});
  EXPECT_EQ(window->chatPage()->transcript()->messageCount(), 0U);
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(idle(*window));
  ASSERT_EQ(window->chatPage()->transcript()->messageCount(), 2U);
  EXPECT_EQ(window->chatPage()->transcript()->message(0).text(), "Hello");
  ASSERT_TRUE(opened(*window, "another"));
  EXPECT_FALSE(window->session()->running()) << "it is said once";
}

TEST_F(WorkTest, EscapeStopsTheReply) {
  engine_.chat.tokens = 100000;
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->chatPage()->send("Go on for ever");
  ASSERT_TRUE(waitUntil([&] { return window->session()->state() == RunState::decode; }));
  EXPECT_TRUE(waitUntil([&] { return window->status()->facts().state == "Running, decode"; }));
  QTest::keyClick(window->chatPage()->input()->edit(), Qt::Key_Escape);
  ASSERT_TRUE(idle(*window));
  EXPECT_GT(window->chatPage()->transcript()->message(1).tokens().size(), 0U);
  EXPECT_TRUE(window->chatPage()->canRegenerate());
}

TEST_F(WorkTest, RegenerateAsksAgainAndNewChatForgets) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ChatPage* chat = window->chatPage();
  chat->sampling()->setSystemPrompt("Be brief.");
  chat->send("One");
  ASSERT_TRUE(idle(*window));
  chat->regenerate();
  ASSERT_TRUE(idle(*window));
  EXPECT_EQ(chat->transcript()->messageCount(), 2U);
  const auto* session = dynamic_cast<FakeSession*>(window->session()->session().get());
  ASSERT_NE(session, nullptr);
  ASSERT_EQ(session->requests().size(), 2U);
  for (const api::ChatRequest& request : session->requests()) {
    ASSERT_EQ(request.messages.size(), 2U);
    EXPECT_EQ(request.messages[0].role, "system");
    EXPECT_EQ(request.messages[1].content, "One");
  }
  window->action("New chat")->trigger();
  EXPECT_EQ(chat->transcript()->messageCount(), 0U);
  EXPECT_FALSE(chat->canRegenerate());
  chat->send("Two");
  ASSERT_TRUE(idle(*window));
  EXPECT_EQ(session->requests().back().messages.size(), 2U);
}

TEST_F(WorkTest, AFailedReplyIsABannerInTheChat) {
  engine_.chat.failReply = true;
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->chatPage()->send("One");
  ASSERT_TRUE(idle(*window));
  EXPECT_TRUE(window->chatPage()->banner()->isVisible());
  EXPECT_EQ(window->chatPage()->banner()->body(),
            "The context does not fit (8192 tokens). Choose a smaller context.");
}

TEST_F(WorkTest, ACorruptFileIsABannerAndTheModelStays) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  const SessionPtr before = window->session()->session();
  window->openModel("/tmp/corrupt.gguf");
  ASSERT_TRUE(waitUntil([&] { return window->graphPage()->banner()->isVisible(); }));
  const Banner* banner = window->graphPage()->banner();
  EXPECT_EQ(banner->title(), "Could not open corrupt.gguf");
  EXPECT_TRUE(banner->body().endsWith("chat stays loaded.")) << banner->body().toStdString();
  EXPECT_EQ(window->session()->session(), before);
  EXPECT_EQ(window->settings().recent, QStringList("chat"));
  takePicture(*window, "banner-dark");
  waitUntil([] { return false; }, 200);
  EXPECT_TRUE(banner->isVisible());
}

TEST_F(WorkTest, BypassUndoAndRedoFromTheWindow) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->graphPage()->showTab(false);
  ASSERT_TRUE(window->graphPage()->modelView()->waitForLayout());
  window->outlinePanel()->tree()->setCurrentIndex(window->outlinePanel()->model()->indexOfScope("layers.2"));
  ASSERT_EQ(window->graphPage()->view()->selectedScope(), "layers.2");
  window->action("Bypass the selection")->trigger();
  ASSERT_TRUE(waitUntil([&] { return window->latencyPage()->series().marks().size() == 1; }));
  EXPECT_EQ(window->session()->session()->recipe().front().to_string(), "bypass scope=layers.2");
  EXPECT_EQ(window->status()->facts().edits, "1 edit, not saved");
  EXPECT_EQ(window->latencyPage()->series().marks()[0].name, "bypass layers.2");
  const QModelIndex layer = window->outlinePanel()->model()->indexOfScope("layers.2");
  ASSERT_TRUE(layer.isValid());
  EXPECT_TRUE(layer.data(OutlineModel::editedRole).toBool());
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([&] { return window->action("edit.redo")->isEnabled(); }));
  EXPECT_FALSE(window->session()->canUndo());
  window->action("edit.redo")->trigger();
  ASSERT_TRUE(waitUntil([&] { return window->session()->canUndo(); }));
}

TEST_F(WorkTest, SelectingInTheOutlineInspectsTheNode) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(window->graphPage()->fusedView()->waitForLayout());
  const graph::GraphVersion graph = window->session()->session()->fused_graph();
  const NodeId node = graph->find_path("layers.1.proj");
  const QModelIndex index = window->outlinePanel()->model()->indexOf(node);
  ASSERT_TRUE(index.isValid());
  window->outlinePanel()->tree()->setCurrentIndex(index);
  ASSERT_TRUE(waitUntil([&] { return window->graphPage()->view()->selectedNode() == node; }));
  ASSERT_TRUE(waitUntil([&] { return !window->inspectorPage()->findChildren<KernelRow*>().isEmpty(); }));
  EXPECT_EQ(window->inspectorPage()->findChildren<KernelRow*>().size(), 3);  // refused, chosen, not asked
  takePicture(*window, "inspector-dark");
}

TEST_F(WorkTest, FindCountsItsMatches) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(window->graphPage()->fusedView()->waitForLayout());
  window->toolBar()->find()->setText("proj");
  EXPECT_GE(window->graphPage()->view()->matchCount(), 4);
  QTest::keyClick(window->toolBar()->find(), Qt::Key_Escape);
  EXPECT_TRUE(window->toolBar()->find()->text().isEmpty());
}

TEST_F(WorkTest, ClosingInTheMiddleOfARunOrALoadIsClean) {
  engine_.chat.tokens = 100000;
  QElapsedTimer clock;
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->chatPage()->send("Go on for ever");
  ASSERT_TRUE(waitUntil([&] { return window->session()->state() == RunState::decode; }));
  clock.start();
  quit(*window);
  window.reset();
  EXPECT_LT(clock.elapsed(), 2000);
  EXPECT_EQ(*engine_.openSessions, 0);
  window = makeWindow();
  window->openModel("slow");
  ASSERT_TRUE(waitUntil([&] { return *engine_.slowStarted == 1; }));
  waitUntil([] { return false; }, 50);
  EXPECT_TRUE(window->graphPage()->progress()->isVisible());
  window.reset();
  EXPECT_EQ(*engine_.slowStopped, 1);
}

TEST_F(WorkTest, CancellingALoadFromItsStripKeepsTheModel) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->openModel("slow");
  ASSERT_TRUE(window->graphPage()->progress()->isVisible());
  emit window->graphPage()->progress()->cancelled();
  EXPECT_FALSE(window->graphPage()->progress()->isVisible());
  EXPECT_EQ(window->session()->session()->info().name, "chat");
}

}  // namespace
}  // namespace orrery::ui::testing
