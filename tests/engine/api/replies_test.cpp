// Replies that nobody waits for: several conversations of one session at once.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

/// What was told of one reply.
class Listener {
 public:
  ReplyEvents events() {
    ReplyEvents events;
    events.on_token = [this](const TokenEvent& event) {
      const std::scoped_lock lock(mutex_);
      EXPECT_FALSE(result_) << "told after its end";
      text_ += event.text;
      ++tokens_;
      changed_.notify_all();
    };
    events.on_done = [this](Result<ChatResult> result) {
      const std::scoped_lock lock(mutex_);
      EXPECT_FALSE(result_) << "ended twice";
      result_ = std::move(result);
      changed_.notify_all();
    };
    return events;
  }
  Result<ChatResult> wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(2), [this] { return result_.has_value(); }));
    return result_ ? *result_ : Result<ChatResult>(Error{});
  }
  void wait_for_tokens(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(2), [&] { return tokens_ >= count; }));
  }
  std::string text() {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  int tokens_ = 0;
  std::optional<Result<ChatResult>> result_;
};

class Replies : public testing::Test {
 protected:
  void SetUp() override {
    OpenOptions options = smollm2();
    options.precision = "exact";  // the same rows, so the same numbers, alone and together
    session_ = open_or_fail(options);
    ASSERT_TRUE(session_);
  }
  std::shared_ptr<Session> session_;
};

TEST_F(Replies, OfSeveralConversationsAreThoseOfEachAlone) {
  const std::vector<std::string> prompts = {"1, 2, 3, 4, 5,", "Once upon a time", "The capital of France is",
                                            "Monday, Tuesday, Wednesday,", "A B C D E"};
  std::vector<std::string> alone;
  for (const std::string& prompt : prompts) {
    const auto reply = session_->chat(raw_request(prompt, 12), {}, {});
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    alone.push_back(reply->text);
    session_->forget_context();
  }
  std::vector<Listener> listeners(prompts.size());  // before what still may tell them
  std::vector<ConversationPtr> conversations;
  for (size_t i = 0; i < prompts.size(); ++i) {
    conversations.push_back(session_->new_conversation());
    session_->start(conversations[i], raw_request(prompts[i], 12), listeners[i].events());
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Result<ChatResult> result = listeners[i].wait();
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    EXPECT_EQ(result->text, alone[i]) << prompts[i];
    EXPECT_EQ(listeners[i].text(), result->text);
    EXPECT_EQ(result->stop_reason, "length");
    EXPECT_EQ(result->tokens.size(), 12U);
    EXPECT_GT(result->time_to_first_token_ms, 0);
  }
  EXPECT_EQ(session_->context_used(), 0) << "the session's own chat is another";
}

TEST_F(Replies, OfOneConversationGoOnFromOneAnother) {
  const ConversationPtr conversation = session_->new_conversation();
  Listener first, second;
  session_->start(conversation, raw_request("Once upon a time", 8), first.events());
  const Result<ChatResult> begun = first.wait();
  ASSERT_TRUE(begun.ok());
  session_->start(conversation, raw_request("Once upon a time" + begun->text + " And then", 4),
                  second.events());
  const Result<ChatResult> more = second.wait();
  ASSERT_TRUE(more.ok());
  EXPECT_GT(more->reused_tokens, 8);
}

TEST_F(Replies, OneIsStoppedAndTheOthersGoOn) {
  Listener stopped, other;
  std::stop_source stop =
      session_->start(session_->new_conversation(), raw_request("Once upon a time", 500), stopped.events());
  session_->start(session_->new_conversation(), raw_request("Once upon a time", 30), other.events());
  stopped.wait_for_tokens(2);
  stop.request_stop();
  const Result<ChatResult> result = stopped.wait();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stop_reason, "cancelled");
  EXPECT_EQ(result->text, stopped.text());
  EXPECT_EQ(other.wait()->tokens.size(), 30U);
}

TEST_F(Replies, ARequestThatCannotBeMetIsToldToo) {
  Listener listener;
  ChatRequest request = raw_request("Once upon a time", 4);
  request.sampling.temperature = -1;
  session_->start(session_->new_conversation(), request, listener.events());
  EXPECT_FALSE(listener.wait().ok());
}

TEST_F(Replies, EndWithTheSession) {
  Listener running, waiting;
  session_->start(session_->new_conversation(), raw_request("Once upon a time", 1000), running.events());
  running.wait_for_tokens(1);
  session_->start(session_->new_conversation(), raw_request("Once upon a time", 1000), waiting.events());
  session_.reset();
  EXPECT_EQ(running.wait()->stop_reason, "cancelled");
  EXPECT_TRUE(!waiting.wait().ok() || waiting.wait()->stop_reason == "cancelled");
}

}  // namespace
}  // namespace orrery::api
