// Another way of attending in the running model: the chat goes on with it, a text gives the same numbers
// however it is cut, and back is back.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

class AttentionEdits : public testing::Test {
 protected:
  void open(const OpenOptions& options) {
    session_ = open_or_fail(options);
    ASSERT_TRUE(session_);
  }
  EditRecord apply(const std::string& words) {
    const auto edit = edit::parse_edit(words);
    EXPECT_TRUE(edit.ok()) << words;
    const auto record = session_->apply(edit.value());
    EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().to_string());
    return record.ok() ? record.value() : EditRecord{};
  }
  ChatResult say(const ChatRequest& request) {
    auto result = session_->chat(request, {}, {});
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
    ChatResult reply = result.ok() ? std::move(result).value() : ChatResult{};
    for (const TokenEvent& token : reply.tokens) EXPECT_TRUE(std::isfinite(token.logprob));
    return reply;
  }
  ChatResult reply(int64_t tokens = 12) { return say(raw_request("The capital of France is", tokens)); }

  std::shared_ptr<Session> session_;
};

std::vector<float> logprobs_of(const ChatResult& result) {
  std::vector<float> logprobs;
  for (const TokenEvent& token : result.tokens) logprobs.push_back(token.logprob);
  return logprobs;
}

TEST_F(AttentionEdits, TheChatGoesOnByFastmaxAndBackIsTheSameReply) {
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  const ChatResult whole = reply();
  const EditRecord record = apply("attention scope=layers.* kind=fastmax p=2");
  EXPECT_FALSE(record.kv_kept) << "later layers' keys are others";
  const ChatResult fast = reply();
  EXPECT_EQ(fast.reused_tokens, 0);
  EXPECT_EQ(fast.tokens.size(), 12U);
  EXPECT_NE(logprobs_of(fast), logprobs_of(whole));
  apply("attention scope=layers.0-9 p=1 heads=0-5 window=3");
  EXPECT_NE(logprobs_of(reply()), logprobs_of(fast));
  apply("attention scope=layers.* kind=softmax heads=0-8 window=0");
  const ChatResult back = reply();
  EXPECT_EQ(ids_of(back), ids_of(whole));
  EXPECT_EQ(logprobs_of(back), logprobs_of(whole));
}

TEST_F(AttentionEdits, ContextIsReadAgainFromThatLayerOn) {
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  const ChatResult whole = reply();
  EXPECT_TRUE(apply("attention scope=layers.29 kind=fastmax window=4096").kv_kept)
      << "no keys are made after it";
  const ChatResult last = reply();
  EXPECT_EQ(last.reused_tokens, whole.prompt_tokens - 1);
  EXPECT_NE(logprobs_of(last), logprobs_of(whole));
  EXPECT_FALSE(apply("attention scope=layers.12 kind=fastmax").kv_kept);
  EXPECT_EQ(reply().reused_tokens, 0);
}

TEST_F(AttentionEdits, AHeadThatIsNotKeptSaysNothing) {
  ASSERT_NO_FATAL_FAILURE(open(smollm2()));
  const ChatResult whole = reply();
  apply("attention scope=layers.3 heads=0-7");
  const ChatResult without = reply();
  EXPECT_NE(logprobs_of(without), logprobs_of(whole));
  apply("attention scope=layers.3 heads=0-8");
  EXPECT_EQ(logprobs_of(reply()), logprobs_of(whole));
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 17; ++i)
    text += "Planet " + std::to_string(i) + " was seen first by someone who counted slowly. ";
  return text;
}

// No token is told by later ones: a prompt in steps of 64 tokens gives the bits of one in a single step.
TEST_F(AttentionEdits, APromptInChunksGivesTheBitsOfThePromptAtOnce) {
  if (!device_under_test().empty())
    GTEST_SKIP() << "a card multiplies weights in another way for other counts";
  std::map<int64_t, std::shared_ptr<Session>> sessions;
  for (const int64_t batch_tokens : {64, 2048}) {
    OpenOptions options = smollm2();
    options.batch_tokens = batch_tokens;
    ASSERT_NO_FATAL_FAILURE(open(options));
    apply("bypass scope=layers.4-29");
    sessions[batch_tokens] = session_;
  }
  for (const std::string fastmax : {"p=2", "p=1", "p=2 limit=2 window=100", "limit=1 normalise=false"}) {
    std::vector<ChatResult> replies;
    for (const auto& [batch_tokens, session] : sessions) {
      session_ = session;
      apply("attention scope=layers.0-3 kind=fastmax " + fastmax);
      replies.push_back(say(raw_request(long_text(), 3)));
    }
    ASSERT_GT(replies[0].prompt_tokens, 3 * 64);
    ASSERT_GE(replies[0].prompt_tokens % 64, 9) << "fewer tokens are summed in another order";
    EXPECT_EQ(replies[0].reused_tokens, 0) << fastmax;
    EXPECT_EQ(ids_of(replies[0]), ids_of(replies[1])) << fastmax;
    EXPECT_EQ(logprobs_of(replies[0]), logprobs_of(replies[1])) << fastmax;
  }
}

// What is generated token by token is what a prompt of the same tokens would give.
TEST_F(AttentionEdits, DecodeGivesTheNumbersOfAPrompt) {
  OpenOptions options = smollm2();
  options.precision = "exact";
  ASSERT_NO_FATAL_FAILURE(open(options));
  apply("attention scope=layers.* kind=fastmax limit=4");
  const std::string prompt = "Once upon a time there was";
  const ChatResult generated = say(raw_request(prompt, 16));
  // As far as the text of the tokens is read as the same tokens.
  std::vector<int32_t> ids = session_->tokenize(prompt, true).value();
  ASSERT_EQ(static_cast<int64_t>(ids.size()), generated.prompt_tokens);
  std::string text = prompt, same = prompt;
  size_t count = 0;
  for (size_t i = 0; i + 1 < generated.tokens.size(); ++i) {
    text += generated.tokens[i].piece;
    ids.push_back(generated.tokens[i].id);
    if (session_->tokenize(text, true).value() != ids) continue;
    same = text;
    count = i + 1;
  }
  ASSERT_GT(count, 1U);
  session_->forget_context();
  const ChatResult again = say(raw_request(same, 1));
  ASSERT_EQ(again.tokens.size(), 1U);
  EXPECT_EQ(again.tokens[0].id, generated.tokens[count].id);
  EXPECT_NEAR(again.tokens[0].logprob, generated.tokens[count].logprob, 2e-3);
}

TEST_F(AttentionEdits, EncodersTakeItAndGiveItBack) {
  ASSERT_NO_FATAL_FAILURE(open(minilm()));
  const auto embed = [&] {
    const auto result = session_->embed({"The comet returns.", "Nothing does."}, {});
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
    return result.ok() ? (*result)[0].vector : std::vector<float>();
  };
  const std::vector<float> whole = embed();
  apply("attention scope=layers.* kind=fastmax p=1 heads=0-10");
  const std::vector<float> fast = embed();
  ASSERT_EQ(fast.size(), whole.size());
  EXPECT_NE(fast, whole);
  for (const float x : fast) ASSERT_TRUE(std::isfinite(x));
  apply("attention scope=layers.* kind=softmax heads=0-11");
  EXPECT_EQ(embed(), whole);
}

}  // namespace
}  // namespace orrery::api
