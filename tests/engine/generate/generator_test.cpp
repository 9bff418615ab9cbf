// Replies of a tiny model whose vocabulary is made of pieces that show how text is put together.
#include "engine/generate/generator.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <thread>

#include "engine/generate/encode_texts.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::generate {
namespace {

using runtime::TinyModel;

/// Token t is written as "<t>"; odd tokens are the first and even ones the second half of a two-byte
/// character.
class PieceTokenizer final : public text::Tokenizer {
 public:
  std::vector<text::TokenId> ends;
  bool halves = false, spaced = false;

  std::string_view kind() const override { return "pieces"; }
  int32_t vocabulary() const override { return TinyModel::kVocabulary; }
  std::vector<text::TokenId> encode(std::string_view text, bool add_special, bool) const override {
    std::vector<text::TokenId> ids;
    for (const char c : text) ids.push_back(c);
    if (add_special) {
      ids.insert(ids.begin(), 1);
      ids.push_back(2);
    }
    return ids;
  }
  text::Encoding encode_pair(std::string_view, std::string_view, int64_t, bool) const override { return {}; }
  std::string piece(text::TokenId id) const override {
    if (halves) return id % 2 ? "\xC3" : "\xA9";
    return (spaced ? " <" : "<") + std::to_string(id) + ">";
  }
  std::string decode(const std::vector<text::TokenId>&, bool) const override { return {}; }
  bool drops_first_space() const override { return spaced; }
  bool is_special(text::TokenId id) const override { return id == 1 || id == 2; }
  text::TokenId find(std::string_view) const override { return -1; }
  text::TokenId bos() const override { return 1; }
  text::TokenId eos() const override { return 2; }
  std::vector<text::TokenId> end_ids() const override { return ends; }
};

class Generator : public testing::Test {
 protected:
  Generator() : model_(tiny_.model()), tokenizer_(std::make_shared<PieceTokenizer>()) {}

  Reply reply(const Request& request, const Events& events = {}, std::stop_token stop = {}) {
    const Engine engine{scheduler_, model_, tokenizer_};
    auto reply =
        write_reply(engine, runtime::DeviceScheduler::new_sequence(model_), request, events, std::move(stop));
    EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().to_string());
    return reply.ok() ? std::move(reply).value() : Reply{};
  }
  /// Waits until the sequence has so many tokens, but no longer than a hang would be noticed; how many it
  /// has.
  static int64_t written_within(const runtime::Sequence& sequence, int64_t tokens) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (sequence.length < tokens && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return sequence.length;
  }
  static Request request(int64_t max_tokens) {
    Request request;
    request.prompt = runtime::tiny_text(9, 5);
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    return request;
  }

  TinyModel tiny_;
  runtime::DeviceScheduler scheduler_{2};
  std::shared_ptr<runtime::Model> model_;
  std::shared_ptr<PieceTokenizer> tokenizer_;
};

TEST_F(Generator, EventsJoinToTheText) {
  std::string streamed;
  int64_t prefilled = 0;
  const Events events{[&](const runtime::PrefillStep& step) { prefilled = step.done; },
                      [&](const Token& token) { streamed += token.text; }};
  const Reply whole = reply(request(12), events);
  EXPECT_EQ(whole.reason, StopReason::length);
  EXPECT_EQ(whole.tokens.size(), 12U);
  EXPECT_EQ(streamed, whole.text);
  EXPECT_EQ(prefilled, 9);
  std::string pieces;
  for (const Token& token : whole.tokens) pieces += token.piece;
  EXPECT_EQ(whole.text, pieces);
  EXPECT_EQ(whole.tokens[3].position, 12);
  double decode = 0;
  for (size_t i = 1; i < whole.tokens.size(); ++i) decode += whole.tokens[i].step_ms;
  EXPECT_NEAR(decode, whole.figures.decode_ms, 1e-6) << "steps add up to the decode time";
  EXPECT_NEAR(whole.tokens[0].step_ms, whole.figures.prefill_ms, 0.5);
}

TEST_F(Generator, AnEndTokenEndsItWithoutText) {
  const Reply whole = reply(request(12));
  tokenizer_->ends = {whole.tokens[6].id};
  size_t first = 0;
  while (whole.tokens[first].id != whole.tokens[6].id) ++first;
  const Reply ended = reply(request(12));
  EXPECT_EQ(ended.reason, StopReason::end);
  ASSERT_EQ(ended.tokens.size(), first + 1);
  EXPECT_EQ(ended.tokens.back().text, "");
  EXPECT_THAT(whole.text, testing::StartsWith(ended.text));
}

TEST_F(Generator, AStopTextAcrossTokensEndsIt) {
  const Reply whole = reply(request(12));
  Request wanted = request(12);
  wanted.stops = {whole.tokens[3].piece.substr(1) + whole.tokens[4].piece};
  const Reply stopped = reply(wanted);
  EXPECT_EQ(stopped.reason, StopReason::stop);
  EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(wanted.stops[0])));
}

TEST_F(Generator, OnlyAContinuedTextKeepsItsFirstSpace) {
  const std::string plain = reply(request(3)).text;
  tokenizer_->spaced = true;
  Request wanted = request(3);
  const std::string spoken = reply(wanted).text;
  wanted.continues_text = true;
  EXPECT_EQ(reply(wanted).text, " " + spoken);
  EXPECT_EQ(spoken.substr(0, spoken.find(' ')), plain.substr(0, plain.find('>') + 1));
}

TEST_F(Generator, HalfCharactersAreNeverShown) {
  tokenizer_->halves = true;
  std::vector<std::string> texts;
  const Events events{{}, [&](const Token& token) { texts.push_back(token.text); }};
  const Reply whole = reply(request(30), events);
  std::string joined;
  for (const std::string& text : texts) {
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("\xC3\xC3")));
    if (!text.empty()) {
      EXPECT_NE(text.back(), '\xC3');
    }
    joined += text;
  }
  EXPECT_EQ(joined, whole.text);
}

TEST_F(Generator, ACancelledReplyKeepsItsText) {
  std::stop_source stop;
  int count = 0;
  const Events events{{}, [&](const Token&) {
                        if (++count == 4) stop.request_stop();
                      }};
  const Reply cut = reply(request(0), events, stop.get_token());
  EXPECT_EQ(cut.reason, StopReason::cancelled);
  EXPECT_EQ(cut.tokens.size(), 4U);
  EXPECT_FALSE(cut.text.empty());
}

TEST_F(Generator, AListenerIsCalledOnTheAskersThreadAndStepsDoNotWaitForIt) {
  const auto sequence = runtime::DeviceScheduler::new_sequence(model_);
  const Request wanted = request(12);
  int64_t written_meanwhile = 0;
  std::set<std::thread::id> threads;
  const Events events{{}, [&](const Token&) {
                        threads.insert(std::this_thread::get_id());
                        if (threads.size() == 1) written_meanwhile = written_within(*sequence, 9 + 12);
                      }};
  const auto reply = write_reply({scheduler_, model_, tokenizer_}, sequence, wanted, events, {});
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(written_meanwhile, 9 + 12) << "while the first token was being told";
  EXPECT_THAT(threads, testing::ElementsAre(std::this_thread::get_id()));
}

TEST_F(Generator, WhatWasWrittenPastTheEndOfAReplyIsTakenBack) {
  const Reply whole = reply(request(30));
  Request wanted = request(30);
  wanted.stops = {whole.tokens[3].piece.substr(1) + whole.tokens[4].piece};
  const auto sequence = runtime::DeviceScheduler::new_sequence(model_);
  std::vector<Token> told;
  const Events events{{}, [&](const Token& token) {
                        if (told.empty()) written_within(*sequence, 9 + 30);
                        told.push_back(token);
                      }};
  const auto stopped = write_reply({scheduler_, model_, tokenizer_}, sequence, wanted, events, {});
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->reason, StopReason::stop);
  EXPECT_EQ(stopped->text, whole.text.substr(0, whole.text.find(wanted.stops[0])));
  EXPECT_EQ(told.size(), stopped->tokens.size());
  const auto tokens = static_cast<int64_t>(told.size());
  EXPECT_LT(tokens, 30);
  EXPECT_EQ(stopped->figures.generated, tokens);
  EXPECT_EQ(sequence->length, 9 + tokens) << "as if no more had been written";
  double decode = 0;
  for (size_t i = 1; i < told.size(); ++i) decode += told[i].step_ms;
  EXPECT_NEAR(stopped->figures.decode_ms, decode, 1e-9);
}

TEST_F(Generator, AListenerThatFailsEndsItsReplyAlone) {
  const Events events{{}, [](const Token&) { throw std::runtime_error("the window is gone"); }};
  const Engine engine{scheduler_, model_, tokenizer_};
  const auto failed =
      write_reply(engine, runtime::DeviceScheduler::new_sequence(model_), request(0), events, {});
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().to_string(), testing::HasSubstr("the window is gone"));
  EXPECT_EQ(reply(request(5)).tokens.size(), 5U);
}

TEST_F(Generator, WithoutALimitTheContextEndsIt) {
  const Reply whole = reply(request(0));
  EXPECT_EQ(whole.reason, StopReason::context);
  EXPECT_EQ(static_cast<int64_t>(whole.tokens.size()) + 9, model_->options().context);
}

TEST_F(Generator, SeedsDecideTheDraw) {
  Request wanted = request(40);
  wanted.sampling = {1.5F, 0, 1.0F, 0.0F, 1.0F, 7};
  const Reply first = reply(wanted), again = reply(wanted);
  wanted.sampling.seed = 8;
  const Reply other = reply(wanted);
  EXPECT_EQ(first.text, again.text);
  EXPECT_NE(first.text, other.text);
}

TEST_F(Generator, AlternativesAreMostProbableFirst) {
  Request wanted = request(3);
  wanted.top = 5;
  for (const Token& token : reply(wanted).tokens) {
    ASSERT_EQ(token.top.size(), 5U);
    EXPECT_EQ(token.top[0].id, token.id) << "greedy";
    EXPECT_FLOAT_EQ(token.top[0].logprob, token.logprob);
    for (size_t i = 1; i < 5; ++i) EXPECT_LE(token.top[i].logprob, token.top[i - 1].logprob);
  }
}

TEST(EncodeWithin, KeepsTheClosingToken) {
  const PieceTokenizer tokenizer;
  EXPECT_THAT(encode_within(tokenizer, "abc", 10), testing::ElementsAre(1, 'a', 'b', 'c', 2));
  EXPECT_THAT(encode_within(tokenizer, "abc", 4), testing::ElementsAre(1, 'a', 'b', 2));
  EXPECT_THAT(encode_within(tokenizer, "abc", 0), testing::SizeIs(5));
}

TEST(LabelProbabilities, OfASingleLabelAreNotShared) {
  EXPECT_THAT(label_probabilities(std::vector<float>{0.0F}), testing::ElementsAre(0.5F));
  EXPECT_NEAR(label_probabilities(std::vector<float>{2.0F})[0], 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_THAT(label_probabilities(std::vector<float>{1.0F, 1.0F}), testing::ElementsAre(0.5F, 0.5F));
}

}  // namespace
}  // namespace orrery::generate
