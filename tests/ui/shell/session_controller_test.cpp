#include "ui/session/session_controller.h"

#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QSignalSpy>

#include "support/fake_session.h"
#include "support/window_fixture.h"

namespace orrery::ui {
namespace {

using testing::FakeEngine;
using testing::waitUntil;

api::OpenOptions named(const std::string& model) {
  api::OpenOptions options;
  options.model = model;
  return options;
}

api::ChatRequest question() {
  api::ChatRequest request;
  request.messages = {{"user", "Why?"}};
  return request;
}

class SessionControllerTest : public ::testing::Test {
 protected:
  SessionController& make() {
    controller_ = std::make_unique<SessionController>(engine_.services());
    return *controller_;
  }
  SessionController& makeOpened() {
    make().open(named("chat"));
    EXPECT_TRUE(waitUntil([&] { return controller_->session() != nullptr; }));
    return *controller_;
  }
  FakeEngine engine_;
  std::unique_ptr<SessionController> controller_;
};

TEST_F(SessionControllerTest, TokensArriveInBatchesAndInOrder) {
  engine_.chat.tokens = 60;
  SessionController& session = makeOpened();
  size_t batches = 0;
  std::vector<int32_t> ids;
  QObject::connect(&session, &SessionController::tokensArrived, &session, [&](const TokenBatch& tokens) {
    ++batches;
    for (const api::TokenEvent& token : tokens) ids.push_back(token.id);
  });
  bool finished = false;
  QObject::connect(&session, &SessionController::replyFinished, &session, [&] { finished = true; });
  session.chat(question());
  EXPECT_EQ(session.state(), RunState::prefill);
  ASSERT_TRUE(waitUntil([&] { return finished; }));
  EXPECT_EQ(session.state(), RunState::idle);
  ASSERT_EQ(ids.size(), 60U);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(ids[static_cast<size_t>(i)], i);
  EXPECT_LT(batches, 30U);
}

TEST_F(SessionControllerTest, StopEndsTheReplySoon) {
  engine_.chat.tokens = 100000;
  SessionController& session = makeOpened();
  QString reason;
  QObject::connect(&session, &SessionController::replyFinished, &session, [&](const api::ChatResult& result) {
    reason = QString::fromStdString(result.stop_reason);
  });
  session.chat(question());
  ASSERT_TRUE(waitUntil([&] { return session.state() == RunState::decode; }));
  session.stop();
  EXPECT_EQ(session.state(), RunState::stopping);
  ASSERT_TRUE(waitUntil([&] { return !reason.isEmpty(); }, 1000));
  EXPECT_EQ(reason, "cancelled");
}

TEST_F(SessionControllerTest, AFailedLoadKeepsTheSession) {
  SessionController& session = makeOpened();
  const SessionPtr before = session.session();
  UiError error;
  QObject::connect(&session, &SessionController::loadFailed, &session,
                   [&](const UiError& value) { error = value; });
  session.open(named("/tmp/corrupt.gguf"));
  ASSERT_TRUE(waitUntil([&] { return !error.title.isEmpty(); }));
  EXPECT_EQ(session.session(), before);
  EXPECT_EQ(error.title, "Could not open corrupt.gguf");
  EXPECT_EQ(error.body(),
            "Tensor blk.3.ffn_up.weight ends 4096 bytes past the end of the file (/tmp/corrupt.gguf). "
            "Download it again.");
}

TEST_F(SessionControllerTest, ALaterOpenSupersedesAnEarlierOne) {
  SessionController& session = make();
  int opened = 0;
  QObject::connect(&session, &SessionController::opened, &session, [&] { ++opened; });
  session.open(named("slow"));
  ASSERT_TRUE(waitUntil([&] { return *engine_.slowStarted == 1; }));
  session.open(named("second"));
  ASSERT_TRUE(waitUntil([&] { return session.session() != nullptr; }));
  EXPECT_EQ(session.session()->info().name, "second");
  EXPECT_EQ(*engine_.slowStopped, 1);
  EXPECT_EQ(opened, 1);
}

TEST_F(SessionControllerTest, CancelledLoadsEndAtOnceAndQuietly) {
  SessionController& session = make();
  QSignalSpy failed(&session, &SessionController::loadFailed), ended(&session, &SessionController::loadEnded);
  session.open(named("slow"));
  session.cancelLoad();
  EXPECT_EQ(ended.count(), 1);
  EXPECT_FALSE(session.loading());
  ASSERT_TRUE(waitUntil([&] { return *engine_.slowStopped == 1; }));
  waitUntil([] { return false; }, 30);
  EXPECT_EQ(failed.count(), 0);
}

TEST_F(SessionControllerTest, DestroyingStopsALoadAndARun) {
  QElapsedTimer clock;
  make().open(named("slow"));
  ASSERT_TRUE(waitUntil([&] { return *engine_.slowStarted == 1; }));
  clock.start();
  controller_.reset();
  EXPECT_EQ(*engine_.slowStopped, 1);
  engine_.chat.tokens = 100000;
  SessionController& session = makeOpened();
  session.chat(question());
  ASSERT_TRUE(waitUntil([&] { return session.state() == RunState::decode; }));
  clock.restart();
  controller_.reset();
  EXPECT_LT(clock.elapsed(), 1000);
  EXPECT_EQ(*engine_.openSessions, 0);
}

TEST_F(SessionControllerTest, AnotherModelEndsTheRunningReply) {
  engine_.chat.tokens = 100000;
  SessionController& session = makeOpened();
  QSignalSpy finished(&session, &SessionController::replyFinished);
  session.chat(question());
  ASSERT_TRUE(waitUntil([&] { return session.state() == RunState::decode; }));
  session.open(named("second"));
  ASSERT_TRUE(waitUntil([&] { return session.session()->info().name == "second"; }));
  EXPECT_EQ(session.state(), RunState::idle);
  EXPECT_EQ(finished.count(), 1);
  ASSERT_TRUE(waitUntil([&] { return *engine_.openSessions == 1; }));  // the first one is gone
}

TEST_F(SessionControllerTest, EditsUndoAndRedo) {
  SessionController& session = makeOpened();
  QSignalSpy edited(&session, &SessionController::edited), failed(&session, &SessionController::editFailed);
  session.apply({"bypass", {{"scope", "layers.1"}}});
  ASSERT_TRUE(waitUntil([&] { return edited.count() == 1; }));
  EXPECT_TRUE(session.canUndo());
  EXPECT_FALSE(session.canRedo());
  session.undo();
  ASSERT_TRUE(waitUntil([&] { return edited.count() == 2; }));
  EXPECT_FALSE(session.canUndo());
  EXPECT_TRUE(session.canRedo());
  session.redo();
  ASSERT_TRUE(waitUntil([&] { return edited.count() == 3; }));
  EXPECT_FALSE(session.canRedo());
  session.apply({"bypass", {{"scope", "head"}}});
  ASSERT_TRUE(waitUntil([&] { return failed.count() == 1; }));
  EXPECT_EQ(session.session()->edits().size(), 1U);
}

TEST_F(SessionControllerTest, ALongChangeIsToldOfAndAClickNeverWaits) {
  SessionController& session = makeOpened();
  QSignalSpy started(&session, &SessionController::changeStarted);
  QSignalSpy ended(&session, &SessionController::changeEnded), edited(&session, &SessionController::edited);
  LoadProgress told;
  QObject::connect(&session, &SessionController::changeProgress, &session,
                   [&](const LoadProgress& progress) { told = progress; });
  *engine_.chat.editsHeld = true;
  QElapsedTimer clock;
  clock.start();
  session.apply({"place", {{"scope", "layers.1"}, {"device", "cuda:0"}}});
  session.apply({"bypass", {{"scope", "layers.2"}}});
  session.undo();
  EXPECT_LT(clock.elapsed(), 100) << "the window waits for an edit";
  EXPECT_TRUE(session.changing());
  EXPECT_FALSE(session.canUndo()) << "nothing is made yet";
  ASSERT_TRUE(waitUntil([&] { return started.count() == 1 && told.total > 0; }));
  EXPECT_EQ(told.stage, "Uploading to NVIDIA H200");
  EXPECT_EQ(told.done, 12U);
  EXPECT_EQ(ended.count(), 0);
  *engine_.chat.editsHeld = false;
  ASSERT_TRUE(waitUntil([&] { return edited.count() == 3; }));
  EXPECT_EQ(ended.count(), 1);
  EXPECT_FALSE(session.changing());
  EXPECT_EQ(session.recipe().size(), 1U);
  EXPECT_TRUE(session.canUndo());
  EXPECT_TRUE(session.canRedo());
}

TEST_F(SessionControllerTest, CancelledChangesLeaveTheGraphQuietly) {
  SessionController& session = makeOpened();
  QSignalSpy edited(&session, &SessionController::edited), failed(&session, &SessionController::editFailed);
  QSignalSpy started(&session, &SessionController::changeStarted),
      ended(&session, &SessionController::changeEnded);
  *engine_.chat.editsHeld = true;
  session.apply({"bypass", {{"scope", "layers.1"}}});
  session.apply({"bypass", {{"scope", "layers.2"}}});
  ASSERT_TRUE(waitUntil([&] { return started.count() == 1; }));
  session.cancelChanges();
  ASSERT_TRUE(waitUntil([&] { return !session.changing(); }));
  EXPECT_EQ(ended.count(), 1);
  EXPECT_EQ(edited.count(), 0);
  EXPECT_EQ(failed.count(), 0);
  EXPECT_TRUE(session.recipe().empty());
}

TEST_F(SessionControllerTest, ClosingTheModelEndsItsChanges) {
  SessionController& session = makeOpened();
  QSignalSpy edited(&session, &SessionController::edited);
  *engine_.chat.editsHeld = true;
  session.apply({"bypass", {{"scope", "layers.1"}}});
  session.close();
  EXPECT_FALSE(session.changing());
  EXPECT_FALSE(session.canUndo());
  ASSERT_TRUE(waitUntil([&] { return *engine_.openSessions == 0; }));
  EXPECT_EQ(edited.count(), 0);
}

TEST_F(SessionControllerTest, ExceptionsBecomeErrors) {
  Services services = engine_.services();
  services.open = [](const api::OpenOptions&, const ProgressCallback&,
                     std::stop_token) -> Result<SessionPtr> { throw std::bad_alloc(); };
  SessionController session(services);
  UiError error;
  QObject::connect(&session, &SessionController::loadFailed, &session,
                   [&](const UiError& value) { error = value; });
  session.open(named("huge.gguf"));
  ASSERT_TRUE(waitUntil([&] { return !error.title.isEmpty(); }));
  EXPECT_EQ(error.code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace orrery::ui
