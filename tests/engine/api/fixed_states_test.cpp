// Models whose states have a fixed size: replies at once, of shared beginnings, after another reply and on
// another device are those that their texts give alone.
#include <gmock/gmock.h>

#include <functional>

#include "tests/engine/api/fixed_state_sessions.h"

namespace orrery::api {
namespace {

using runtime::TinyReply;

constexpr int64_t kReply = 9;

struct Model {
  const char* name;
  std::function<GraphSession(int64_t batch_tokens, int64_t kv_tokens)> open;
  double tolerance;  // a softmax adds its keys up in another order where a prompt is cut otherwise
};

GraphSession mamba(int64_t batch_tokens, int64_t kv_tokens) { return MambaSession(batch_tokens, kv_tokens); }
GraphSession fastmax(int64_t batch_tokens, int64_t kv_tokens) {
  return FastmaxSession(kAllLayers, batch_tokens, kv_tokens);
}
GraphSession fastmax_beside_softmax(int64_t batch_tokens, int64_t kv_tokens) {
  return FastmaxSession(kOneLayer, batch_tokens, kv_tokens);
}

class FixedStates : public testing::TestWithParam<Model> {
 protected:
  GraphSession session(int64_t batch_tokens = 64, int64_t kv_tokens = 2048) const {
    return GetParam().open(batch_tokens, kv_tokens);
  }
  /// The reply is that of a session that has read nothing else.
  void expect_as_alone(const TinyReply& reply, const std::vector<int32_t>& text,
                       int64_t count = kReply) const {
    expect_same(reply, session().reply(text, count), GetParam().tolerance);
  }
};
INSTANTIATE_TEST_SUITE_P(Models, FixedStates,
                         testing::Values(Model{"mamba", mamba, 0}, Model{"fastmax", fastmax, 1e-4},
                                         Model{"fastmax_beside_softmax", fastmax_beside_softmax, 1e-4}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(FixedStates, RepliesAtOnceAreThoseOfTheirTextsAlone) {
  std::vector<std::vector<int32_t>> texts;
  for (uint32_t i = 0; i < 5; ++i) texts.push_back(text_of(20 + 13 * i, i));
  const std::vector<TinyReply> replies = session(24).replies_at_once(texts, kReply);
  for (size_t i = 0; i < texts.size(); ++i) expect_as_alone(replies[i], texts[i]);
}

TEST_P(FixedStates, WhoGivesWayIsReadAgain) {
  std::vector<std::vector<int32_t>> texts;
  for (uint32_t i = 0; i < 3; ++i) texts.push_back(text_of(30, i));
  // Five pages for three texts that take two each, and a third later.
  const std::vector<TinyReply> replies = session(64, 5 * 32).replies_at_once(texts, 40);
  int64_t gave_way = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(replies[i].outcome.ok());
    gave_way += replies[i].outcome->gave_way;
    expect_as_alone(replies[i], texts[i], 40);
  }
  EXPECT_GT(gave_way, 0);
}

TEST_P(FixedStates, TextsThatShareABeginningAreWrittenAtOnce) {
  const GraphSession one = session(10);
  for (const int64_t length : {64, 70}) {  // whole pages, and not
    SCOPED_TRACE(length);
    const std::vector<int32_t> beginning = text_of(length);
    one.sharing(beginning, kReply);
    const generate::Engine engine = one->engine();
    std::vector<TinyReply> replies(4);
    std::vector<std::future<Result<runtime::DecodeOutcome>>> ends;
    const auto text = [&](size_t i) {
      return i == 3 ? beginning : joined(beginning, text_of(30 * static_cast<int64_t>(i), 40));
    };
    for (size_t i = 0; i < 4; ++i) {
      runtime::DecodeRequest request = runtime::tiny_request(text(i), kReply, &replies[i]);
      request.share_prefix = true;
      ends.push_back(engine.scheduler.decode(engine.model, one.sequence(), std::move(request)));
    }
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(ends[i].get().ok());
      expect_as_alone(replies[i], text(i));
    }
  }
}

TEST_P(FixedStates, AChatGoesOnAndIsGeneratedAgain) {
  const GraphSession chat = session();
  const auto sequence = chat.sequence();
  const std::vector<int32_t> prompt = text_of(70);
  const TinyReply first = chat.reply(prompt, kReply, sequence);
  const TinyReply again = chat.reply(prompt, kReply, sequence);
  EXPECT_EQ(again.outcome->reused_tokens, 64) << "from the last page's beginning";
  expect_same(again, first, GetParam().tolerance);
  const std::vector<int32_t> next = joined(joined(prompt, again.ids), text_of(11, 3));
  const TinyReply reply = chat.reply(next, kReply, sequence);
  EXPECT_EQ(reply.outcome->reused_tokens, 70 + kReply - 1) << "the last token of a reply is not read";
  expect_as_alone(reply, next);
}

TEST_P(FixedStates, TheyMoveToAnotherDeviceAndBack) {
  const GraphSession chat = session();
  const auto sequence = chat.sequence();
  std::vector<int32_t> text = text_of(50);
  std::vector<int32_t> ids = chat.reply(text, kReply, sequence).ids;
  const auto goes_on = [&](const char* where) {
    SCOPED_TRACE(where);
    const auto held = static_cast<int64_t>(text.size()) + kReply - 1;
    text = joined(joined(text, ids), text_of(6, 2));
    const TinyReply reply = chat.reply(text, kReply, sequence);
    EXPECT_EQ(reply.outcome->reused_tokens, held);
    expect_as_alone(reply, text);
    ids = reply.ids;
  };
  ASSERT_TRUE(chat->apply(edit_of("place scope=layers.1 device=cuda:0")).ok());
  goes_on("layer 1 on the card");
  ASSERT_TRUE(chat->apply(edit_of("place scope=layers.0 device=cuda:0")).ok());
  goes_on("layer 0 too");
  ASSERT_TRUE(chat->undo().ok());
  ASSERT_TRUE(chat->undo().ok());
  goes_on("all at home");
}

}  // namespace
}  // namespace orrery::api
