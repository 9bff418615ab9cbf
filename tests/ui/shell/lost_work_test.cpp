// What a person made is not lost without being asked for: the conversation, the edits, the system prompt.
#include <QDir>
#include <QFileDialog>
#include <QTest>
#include <QTimer>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class LostWorkTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    engine_.chat.tokens = 3;
    open();
  }
  void open() {
    window_.reset();
    window_ = makeWindow();
    ASSERT_TRUE(opened(*window_, "chat"));
  }
  ChatPage* chat() const { return window_->chatPage(); }
  const Banner* question() const { return window_->graphPage()->banner(); }
  FakeSession* session() const { return dynamic_cast<FakeSession*>(window_->session()->session().get()); }
  void say(const QString& text) {
    chat()->send(text);
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
  }
  void bypass(const QString& layer) {
    const size_t before = window_->session()->recipe().size();
    window_->applyEdit("bypass", layer);
    ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() > before; }));
  }
  bool loads(const QString& model) {
    return waitUntil([&] { return window_->session()->title() == model; }, 3000);
  }
  /// A name and Enter in the dialog that comes next; without a name, Esc.
  static void answerDialog(const QString& file) {
    QTimer::singleShot(0, [file] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      if (file.isEmpty()) return dialog->reject();
      dialog->findChild<QLineEdit*>()->setText(file);
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(LostWorkTest, TheConversationGoesOnWithAnotherModel) {
  say("One");
  const QString reply = chat()->transcript()->message(1).text();
  ASSERT_TRUE(opened(*window_, "other"));
  ASSERT_EQ(chat()->transcript()->messageCount(), 2U);
  EXPECT_TRUE(chat()->transcript()->isVisible());
  EXPECT_EQ(chat()->banner()->title(), "other reads the conversation when you go on");
  EXPECT_TRUE(session()->requests().empty()) << "nothing is read before";
  say("Two");
  ASSERT_EQ(session()->requests().size(), 1U);
  const std::vector<api::Message> read = session()->requests().back().messages;
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].content, "One");
  EXPECT_EQ(read[1].content, reply.toStdString());
  EXPECT_EQ(read[2].content, "Two");
}

TEST_F(LostWorkTest, AReplyThatIsWrittenWhileAnotherModelComesIsKept) {
  engine_.chat.tokens = 100000;
  open();
  chat()->send("Go on for ever");
  ASSERT_TRUE(waitUntil([&] { return window_->session()->state() == RunState::decode; }));
  ASSERT_TRUE(opened(*window_, "other"));
  ASSERT_EQ(chat()->transcript()->messageCount(), 2U);
  EXPECT_FALSE(chat()->transcript()->message(1).text().isEmpty());
  EXPECT_TRUE(chat()->canRegenerate());
}

TEST_F(LostWorkTest, ANewChatIsUndoneUntilItsFirstMessage) {
  say("One");
  const QString reply = chat()->transcript()->message(1).text();
  QTest::keyClick(chat()->input()->edit(), Qt::Key_N, Qt::ControlModifier);
  EXPECT_EQ(chat()->transcript()->messageCount(), 0U);
  window_->graphPage()->banner()->showNotice("Other news");  // which goes by itself; the offer stays
  ASSERT_TRUE(waitUntil([&] { return !question()->isVisible(); }));
  EXPECT_TRUE(chat()->banner()->isVisible());
  ASSERT_TRUE(opened(*window_, "other"));
  takePicture(*window_, "new-chat-dark");
  ASSERT_TRUE(press(chat()->banner(), "Undo"));
  ASSERT_EQ(chat()->transcript()->messageCount(), 2U);
  EXPECT_EQ(chat()->transcript()->message(1).text(), reply);
  say("Two");
  EXPECT_EQ(session()->requests().back().messages.size(), 3U);

  chat()->newChat();
  say("Three");
  EXPECT_FALSE(press(chat()->banner(), "Undo"));
  EXPECT_EQ(session()->requests().back().messages.size(), 1U);
}

TEST_F(LostWorkTest, ANewChatInTheMiddleOfAReplyKeepsWhatIsWritten) {
  engine_.chat.tokens = 100000;
  open();
  chat()->send("Go on for ever");
  ASSERT_TRUE(waitUntil([&] { return window_->session()->state() == RunState::decode; }));
  chat()->newChat();
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
  EXPECT_EQ(chat()->transcript()->messageCount(), 0U);
  ASSERT_TRUE(press(chat()->banner(), "Undo"));
  EXPECT_EQ(chat()->transcript()->messageCount(), 2U);
  EXPECT_TRUE(chat()->canRegenerate());
}

TEST_F(LostWorkTest, QuittingAsksOnceForAllThatIsNotSaved) {
  say("One");
  bypass("layers.1");
  bypass("layers.2");
  QTest::keyClick(window_.get(), Qt::Key_Q, Qt::ControlModifier);
  EXPECT_TRUE(window_->isVisible());
  ASSERT_TRUE(question()->isVisible());
  EXPECT_EQ(question()->title(), "2 edits of chat and the conversation are not saved");
  EXPECT_EQ(question()->actions(), QStringList({"Save the edits and quit", "Quit without saving", "Stay"}));
  takePicture(*window_, "quit-question-dark");
  ASSERT_TRUE(press(question(), "Stay"));
  EXPECT_TRUE(window_->isVisible());
  EXPECT_FALSE(question()->isVisible());
  EXPECT_FALSE(window_->close());
  ASSERT_NE(QApplication::focusWidget(), nullptr);
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
  EXPECT_FALSE(question()->isVisible());
  EXPECT_FALSE(window_->close());
  ASSERT_TRUE(press(question(), "Quit without saving"));
  EXPECT_FALSE(window_->isVisible());
}

TEST_F(LostWorkTest, EnterGivesTheAnswerThatHasTheFocus) {
  say("One");
  QTest::keyClick(window_.get(), Qt::Key_Q, Qt::ControlModifier);
  ASSERT_EQ(question()->actions(), QStringList({"Quit without saving", "Stay"}));
  ASSERT_NE(QApplication::focusWidget(), nullptr);
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return, Qt::ControlModifier);
  EXPECT_TRUE(window_->isVisible());
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  EXPECT_FALSE(window_->isVisible());
}

TEST_F(LostWorkTest, QuittingSavesTheEditsWhereThatIsChosen) {
  bypass("layers.1");
  EXPECT_FALSE(window_->close());
  EXPECT_EQ(question()->title(), "1 edit of chat is not saved");
  answerDialog({});
  ASSERT_TRUE(press(question(), "Save the edits and quit"));
  EXPECT_TRUE(window_->isVisible()) << "the dialog was left";
  EXPECT_FALSE(window_->close());
  const QString file = path("mine.json");
  answerDialog(file);
  ASSERT_TRUE(press(question(), "Save the edits and quit"));
  EXPECT_FALSE(window_->isVisible());
  QFile saved(file);
  ASSERT_TRUE(saved.open(QIODevice::ReadOnly));
  EXPECT_TRUE(saved.readAll().contains("layers.1"));
}

TEST_F(LostWorkTest, ThereIsNoQuestionWhereNothingIsLost) {
  bypass("layers.1");
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->canUndo(); }));
  EXPECT_TRUE(window_->close());
}

TEST_F(LostWorkTest, OpeningAnotherModelAsksForTheEdits) {
  bypass("layers.1");
  ASSERT_TRUE(waitUntil([&] { return window_->libraryPage()->model()->rowCount() > 0; }));
  emit window_->libraryPage()->list()->doubleClicked(window_->libraryPage()->model()->find("sentiment"));
  ASSERT_TRUE(question()->isVisible());
  EXPECT_EQ(question()->title(), "1 edit of chat is not saved");
  EXPECT_EQ(question()->body(), "Save them as a recipe, or open sentiment without them.");
  EXPECT_FALSE(window_->session()->loading());
  ASSERT_TRUE(press(question(), "Cancel"));
  EXPECT_EQ(window_->session()->recipe().size(), 1U);

  window_->openModel("other");
  const QString file = path("mine.json");
  answerDialog(file);
  ASSERT_TRUE(press(question(), "Save and open"));
  ASSERT_TRUE(loads("other"));
  EXPECT_TRUE(QFile::exists(file));

  bypass("layers.2");
  window_->openModel("third");
  ASSERT_TRUE(press(question(), "Open without saving"));
  ASSERT_TRUE(loads("third"));
  EXPECT_TRUE(window_->session()->recipe().empty());
}

TEST_F(LostWorkTest, AnotherClassifierAsksForTheEditsOfTheOneThatIsThere) {
  window_->showPage("classify");
  ASSERT_TRUE(waitUntil([&] { return window_->classifier()->session() != nullptr; }));
  window_->applyEdit("bypass", "layers.1");
  ASSERT_TRUE(waitUntil([&] { return window_->classifier()->unsaved(); }));
  ASSERT_TRUE(QDir(folder_.path()).mkdir("moods"));
  const auto openAnother = [&] {
    answerDialog(path("moods"));
    for (QMenu* menu : window_->classifyPage()->findChildren<QMenu*>())
      for (QAction* action : menu->actions())
        if (action->text() == "Open another...") action->trigger();
  };
  openAnother();
  ASSERT_TRUE(question()->isVisible());
  EXPECT_EQ(question()->title(), "1 edit of sentiment is not saved");
  EXPECT_EQ(question()->body(), "Save them as a recipe, or open moods without them.");
  ASSERT_TRUE(press(question(), "Cancel"));
  EXPECT_EQ(window_->classifier()->recipe().size(), 1U);
  openAnother();
  ASSERT_TRUE(press(question(), "Open without saving"));
  ASSERT_TRUE(waitUntil([&] { return window_->classifier()->title() == "moods"; }));
  EXPECT_FALSE(window_->classifier()->unsaved());
}

TEST_F(LostWorkTest, TheSystemPromptIsSeenEditedAndCleared) {
  EXPECT_FALSE(chat()->systemLine()->isVisible());
  chat()->sampling()->setSystemPrompt("Answer like a pirate.\nBe brief.");
  ASSERT_TRUE(window_->close());
  open();
  ASSERT_TRUE(chat()->systemLine()->isVisible());
  EXPECT_EQ(chat()->systemLine()->text(), "Answer like a pirate. Be brief.");
  EXPECT_LT(chat()->systemLine()->mapTo(chat(), QPoint()).y(), chat()->transcript()->parentWidget()->y());
  takePicture(*window_, "system-line-dark");
  QTest::mouseClick(chat()->systemLine(), Qt::LeftButton, Qt::NoModifier, QPoint(60, 10));
  ASSERT_TRUE(chat()->sampling()->isVisible());
  auto* field = qobject_cast<QPlainTextEdit*>(chat()->sampling()->focusWidget());
  ASSERT_NE(field, nullptr);
  field->selectAll();
  QTest::keyClicks(field, "Sing");
  chat()->sampling()->hide();
  EXPECT_EQ(chat()->systemLine()->text(), "Sing");
  say("One");
  EXPECT_EQ(session()->requests().back().messages[0].content, "Sing");

  QTest::mouseClick(chat()->systemLine()->clearButton(), Qt::LeftButton);
  EXPECT_FALSE(chat()->systemLine()->isVisible());
  chat()->newChat();
  ASSERT_TRUE(press(chat()->banner(), "Undo"));
  EXPECT_EQ(chat()->transcript()->messageCount(), 2U);
  ASSERT_TRUE(press(chat()->banner(), "Undo"));
  EXPECT_EQ(chat()->sampling()->systemPrompt(), "Sing");
}

TEST_F(LostWorkTest, DeleteInTheFusedGraphSaysWhereItCanBeDone) {
  GraphView* view = window_->graphPage()->view();
  ASSERT_TRUE(view->waitForLayout());
  view->setFocus();
  QTest::keyClick(view, Qt::Key_Delete);
  EXPECT_TRUE(question()->title().startsWith("The fused graph is what runs"))
      << question()->title().toStdString();
  EXPECT_TRUE(window_->session()->recipe().empty());
}

}  // namespace
}  // namespace orrery::ui::testing
