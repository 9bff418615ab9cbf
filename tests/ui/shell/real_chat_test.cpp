// The chat's settings on the real engine: the rendered prompt, the drawn sampling node, and a full context.
#include "support/real_services.h"
#include "support/window_fixture.h"
#include "ui/chat/context_full.h"
#include "ui/chat/prompt_dialog.h"

namespace orrery::ui::testing {
namespace {

class RealChatTest : public WindowTest {
 protected:
  void open(int64_t context, ThemeChoice theme = ThemeChoice::dark) {
    window_ = makeWindow(realServices(), theme);
    api::OpenOptions options;
    options.model = "smollm2";
    options.context = context;
    window_->openModel(options);
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->loading(); }, 60000));
    ASSERT_NE(window_->session()->session(), nullptr);
    api::SamplingOptions greedy;
    greedy.temperature = 0;
    chat()->sampling()->setSampling(greedy);
  }
  ChatPage* chat() const { return window_->chatPage(); }
  QString lastReply() const {
    return chat()->transcript()->message(chat()->transcript()->messageCount() - 1).text();
  }
  void finish() {
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }, 60000));
  }
  void say(const QString& text, int tokens) {
    chat()->sampling()->setMaximumTokens(tokens);
    chat()->send(text);
    finish();
  }
  void press(const QString& words) {
    for (Button* button : chat()->banner()->findChildren<Button*>())
      if (button->text().startsWith(words)) return button->click();
    ADD_FAILURE() << words.toStdString() << " is not among the actions";
  }
  void set(const std::string& attribute, const std::string& value) {
    const auto edit = edit::parse_edit("set node=sampler.sample attribute=" + attribute + " value=" + value);
    bool done = false;
    const auto connection =
        QObject::connect(window_->session(), &SessionController::graphChanged, [&] { done = true; });
    window_->session()->apply(edit.value());
    EXPECT_TRUE(waitUntil([&] { return done; })) << chat()->banner()->body().toStdString();
    QObject::disconnect(connection);
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(RealChatTest, TheRenderedPromptIsWhatTheModelReads) {
  open(512);
  chat()->sampling()->setSystemPrompt("Be brief.");
  chat()->input()->edit()->setPlainText("What is the capital of France? \u00e9\u4e2d");
  chat()->showPrompt();
  auto* dialog = chat()->findChild<PromptDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->text(),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is the capital of France? "
            "\u00e9\u4e2d<|im_end|>\n<|im_start|>assistant\n");
  qint64 prompt = 0;
  QObject::connect(window_->session(), &SessionController::replyFinished,
                   [&](const api::ChatResult& result) { prompt = result.prompt_tokens; });
  const QString typed = chat()->input()->text();
  say(typed, 2);
  EXPECT_TRUE(dialog->summary().startsWith(QString("%1 tokens, 5 of them special").arg(prompt)))
      << dialog->summary().toStdString();
  takePicture(*dialog, "prompt-dark");
}

TEST_F(RealChatTest, AnEditOfTheSamplingNodeIsShownAndDrawnBy) {
  open(512);
  chat()->sampling()->setSampling({});
  set("top_k", "1");
  EXPECT_EQ(chat()->sampling()->field("top_k")->value(), 1);
  say("Why is the sky blue?", 16);
  const QString likeliest = lastReply();
  chat()->newChat();
  api::SamplingOptions greedy;
  greedy.temperature = 0;
  chat()->sampling()->setSampling(greedy);
  say("Why is the sky blue?", 16);
  EXPECT_EQ(lastReply(), likeliest);
}

TEST_F(RealChatTest, AFullContextEndsTheReplyAndIsShiftedWhenAsked) {
  open(96);
  say("Tell me a long story about a fox.", 400);
  ASSERT_TRUE(chat()->banner()->isVisible());
  EXPECT_EQ(chat()->banner()->title(), "The context is full");
  EXPECT_EQ(chat()->banner()->kind(), Banner::Kind::warning);
  EXPECT_TRUE(chat()->banner()->body().contains("all 96 tokens")) << chat()->banner()->body().toStdString();
  takePicture(*window_, "context-full-dark");
  const QString cut = lastReply();
  chat()->sampling()->setMaximumTokens(120);
  press(kLeaveOutOldest);
  finish();
  EXPECT_FALSE(chat()->banner()->isVisible());
  EXPECT_GT(lastReply().size(), cut.size());
  EXPECT_TRUE(lastReply().startsWith(cut)) << "until there it is the same";
}

TEST_F(RealChatTest, AConversationThatDoesNotFitIsToldWithALargerContext) {
  open(96);
  say(QString("The fox ran over the hill. ").repeated(20), 8);
  ASSERT_TRUE(chat()->banner()->isVisible());
  EXPECT_EQ(chat()->banner()->title(), "The context is full");
  EXPECT_TRUE(chat()->banner()->body().contains("the context holds 96"))
      << chat()->banner()->body().toStdString();
  const SessionPtr before = window_->session()->session();
  press("Use 192 tokens");
  ASSERT_TRUE(waitUntil([&] { return window_->session()->session() != before; }, 60000));
  EXPECT_FALSE(chat()->banner()->isVisible());
  EXPECT_EQ(chat()->transcript()->messageCount(), 2U) << "the chat stays";
  chat()->regenerate();
  finish();
  EXPECT_FALSE(lastReply().isEmpty()) << chat()->banner()->body().toStdString();
}

}  // namespace
}  // namespace orrery::ui::testing
