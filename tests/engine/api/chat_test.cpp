#include <gmock/gmock.h>

#include <thread>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

class Chat : public testing::Test {
 protected:
  static void SetUpTestSuite() { session_ = open_or_fail(smollm2()); }
  static void TearDownTestSuite() { session_.reset(); }
  void SetUp() override {
    ASSERT_TRUE(session_);
    session_->forget_context();
  }

  static ChatRequest say(std::vector<Message> messages, int64_t max_tokens = 24) {
    ChatRequest request;
    request.messages = std::move(messages);
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    return request;
  }
  static ChatResult run(const ChatRequest& request, const ChatEvents& events = {},
                        std::stop_token stop = {}) {
    auto reply = session_->chat(request, events, std::move(stop));
    EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().to_string());
    return reply.ok() ? std::move(reply).value() : ChatResult{};
  }

  static inline std::shared_ptr<Session> session_;
};

TEST_F(Chat, AnswersAQuestion) {
  std::string streamed;
  int prefills = 0;
  ChatEvents events;
  events.on_prefill = [&](const PrefillEvent& event) {
    ++prefills;
    EXPECT_LE(event.done, event.tokens);
  };
  events.on_token = [&](const TokenEvent& event) { streamed += event.text; };
  ChatRequest request = say({{"user", "What is the capital of France?"}}, 40);
  request.logprobs = 3;
  const ChatResult result = run(request, events);
  EXPECT_THAT(result.text, testing::HasSubstr("Paris"));
  EXPECT_EQ(streamed, result.text);
  EXPECT_EQ(result.stop_reason, "end");
  EXPECT_EQ(prefills, 1);
  EXPECT_EQ(result.prompt_tokens, 37) << "the reference's template and tokenizer";
  EXPECT_EQ(result.tokens[0].top.size(), 3U);
  EXPECT_EQ(session_->context_used(), result.context_used);
  EXPECT_EQ(result.context_used, result.prompt_tokens + static_cast<int64_t>(result.tokens.size()));
}

TEST_F(Chat, FiguresBelongTogether) {
  const ChatResult result = run(raw_request("Once upon a time", 20));
  const auto count = static_cast<double>(result.tokens.size());
  EXPECT_EQ(result.stop_reason, "length");
  EXPECT_EQ(result.tokens.size(), 20U);
  EXPECT_NEAR(result.decode_tokens_per_second, (count - 1) / result.decode_ms * 1e3, 1e-6);
  EXPECT_NEAR(result.prefill_tokens_per_second,
              static_cast<double>(result.prompt_tokens) / result.prefill_ms * 1e3, 1e-6);
  EXPECT_GE(result.time_to_first_token_ms, result.prefill_ms * 0.99);
  EXPECT_LT(result.time_to_first_token_ms, result.prefill_ms + 50);
  for (const TokenEvent& token : result.tokens) EXPECT_GT(token.step_ms, 0);
}

TEST_F(Chat, TheNextTurnReadsOnlyWhatIsNew) {
  const Message question{"user", "What is the capital of France?"};
  const ChatResult first = run(say({question}));
  const std::vector<Message> messages{question, {"assistant", first.text}, {"user", "And of Italy?"}};
  const ChatResult second = run(say(messages));
  EXPECT_GE(second.reused_tokens, first.prompt_tokens);
  EXPECT_LT(second.reused_tokens, second.prompt_tokens);
  session_->forget_context();
  EXPECT_EQ(session_->context_used(), 0);
  const ChatResult fresh = run(say(messages));
  EXPECT_EQ(fresh.reused_tokens % 32, 0) << "whole pages that the other chat left";
  EXPECT_EQ(fresh.text, second.text);
}

TEST_F(Chat, AStopTextEndsTheReply) {
  const ChatResult whole = run(raw_request("The three primary colours are", 24));
  ASSERT_GT(whole.text.size(), 12U);
  ChatRequest request = raw_request("The three primary colours are", 24);
  request.stop = {whole.text.substr(6, 4)};
  session_->forget_context();
  const ChatResult stopped = run(request);
  EXPECT_EQ(stopped.stop_reason, "stop");
  EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(request.stop[0])));
}

TEST_F(Chat, StopsAtOnceAndKeepsItsText) {
  std::stop_source stop;
  int count = 0;
  ChatEvents events;
  events.on_token = [&](const TokenEvent&) {
    if (++count == 5) stop.request_stop();
  };
  const ChatResult cut = run(raw_request("Once upon a time", 500), events, stop.get_token());
  EXPECT_EQ(cut.stop_reason, "cancelled");
  EXPECT_EQ(cut.tokens.size(), 5U);
  EXPECT_FALSE(cut.text.empty());
}

TEST_F(Chat, WrongRequestsAreRefusedWithAReason) {
  EXPECT_FALSE(session_->chat(ChatRequest{}, {}, {}).ok());
  ChatRequest request = raw_request("Hello", 4);
  request.sampling.temperature = -1;
  const auto cold = session_->chat(request, {}, {});
  ASSERT_FALSE(cold.ok());
  EXPECT_THAT(cold.error().to_string(), testing::HasSubstr("--temperature"));
  std::string longer;
  for (int i = 0; i < 3000; ++i) longer += "word ";
  const auto full = session_->chat(raw_request(longer, 4), {}, {});
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().to_string(), testing::HasSubstr("2048"));
  EXPECT_FALSE(session_->score("", 0, {}).ok());
  EXPECT_EQ(run(raw_request("Hello", 4)).tokens.size(), 4U) << "and the session goes on";
}

TEST_F(Chat, TheSameSeedGivesTheSameReply) {
  ChatRequest request = raw_request("Once upon a time", 16);
  request.sampling = SamplingOptions{};
  request.sampling.seed = 11;
  const std::string first = run(request).text;
  EXPECT_EQ(run(request).text, first);
  request.sampling.seed = 12;
  EXPECT_NE(run(request).text, first);
}

TEST_F(Chat, ManyThreadsMayAsk) {
  const ChatResult alone = run(raw_request("The capital of France is", 8));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 3; ++k) {
        if (i == 0) {
          EXPECT_TRUE(session_->score("The orrery is a mechanical model.", 2, {}).ok());
        } else {
          auto reply = session_->chat(raw_request("The capital of France is", 8), {}, {});
          ASSERT_TRUE(reply.ok()) << reply.error().to_string();
          EXPECT_EQ(reply.value().text, alone.text);
        }
        static_cast<void>(session_->profile(Phase::decode));
        EXPECT_GT(session_->memory_use().session(), 0U);
      }
    });
}

std::string story(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) text += "The planet number " + std::to_string(i) + " goes around. ";
  return text;
}

TEST_F(Chat, ANewChatSharesTheSystemMessageThatAnotherHasRead) {
  const Message system{"system", story(12)};
  run(say({system, {"user", "Hello"}}, 4));
  session_->forget_context();
  const ChatRequest other = say({system, {"user", "What goes around?"}}, 8);
  const ChatResult shared = run(other);
  EXPECT_GE(shared.reused_tokens, 96);
  EXPECT_LT(shared.reused_tokens, shared.prompt_tokens);
  const std::shared_ptr<Session> fresh = open_or_fail(smollm2());
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->chat(other, {}, {}).value().text, shared.text);
}

class FullContext : public testing::Test {
 protected:
  void SetUp() override {
    OpenOptions options = smollm2();
    options.context = 160;
    session_ = open_or_fail(options);
    ASSERT_TRUE(session_);
    request_.messages = {{"system", "Be brief."}};
    for (int i = 0; i < 4; ++i) {
      request_.messages.push_back({"user", story(3)});
      request_.messages.push_back({"assistant", "I see."});
    }
    request_.messages.push_back({"user", "What is the capital of France?"});
    request_.max_tokens = 16;
    request_.sampling.temperature = 0;
  }
  std::shared_ptr<Session> session_;
  ChatRequest request_;
};

TEST_F(FullContext, AConversationThatIsTooLongIsRefusedWithAReason) {
  const auto refused = session_->chat(request_, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), testing::HasSubstr("the context holds 160"));
}

TEST_F(FullContext, OldestMessagesAreLeftOutWhenThatIsWanted) {
  request_.context_shift = true;
  const auto reply = session_->chat(request_, {}, {});
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  EXPECT_EQ(reply->left_out_messages % 2, 0) << "whole turns";
  EXPECT_GT(reply->left_out_messages, 0);
  EXPECT_LE(reply->prompt_tokens + request_.max_tokens, 160);
  ChatRequest shorter = request_;
  shorter.messages.erase(shorter.messages.begin() + 1,
                         shorter.messages.begin() + 1 + reply->left_out_messages);
  session_->forget_context();
  EXPECT_EQ(session_->chat(shorter, {}, {}).value().text, reply->text) << "the system's message stays";
}

TEST_F(FullContext, AReplyGoesOnPastTheEndOfTheContext) {
  ChatRequest request = raw_request("Once upon a time", 190);
  const auto ended = session_->chat(request, {}, {});
  ASSERT_TRUE(ended.ok());
  ASSERT_EQ(ended->stop_reason, "context");
  request.context_shift = true;
  const auto shifted = session_->chat(request, {}, {});
  ASSERT_TRUE(shifted.ok());
  EXPECT_NE(shifted->stop_reason, "context");
  EXPECT_GT(shifted->tokens.size(), ended->tokens.size());
  EXPECT_GT(shifted->forgotten_tokens, 60);
  EXPECT_LE(shifted->context_used, 160);
  EXPECT_TRUE(shifted->text.starts_with(ended->text)) << "the same until the context was full";
}

}  // namespace
}  // namespace orrery::api
