// A model whose attention is Fastmax over states of fixed size, in all layers or beside keys and values in
// others: however a text is cut, shared, taken back, moved or broken off, the reply is the one that its text
// gives alone, and the memory of the context does not grow.
#include <gmock/gmock.h>

#include "engine/api/recipes.h"
#include "engine/compile/states.h"
#include "tests/engine/api/fixed_state_sessions.h"

namespace orrery::api {
namespace {

using runtime::TinyModel;
using runtime::TinyReply;

constexpr int64_t kReply = 9;

/// To rounding: a softmax adds its keys up in another order where a prompt is cut otherwise.
void expect_same(const TinyReply& reply, const TinyReply& expected) {
  api::expect_same(reply, expected, 1e-4);
}

/// With a summary in every layer, and in one between keys and values.
class SummaryStates : public testing::TestWithParam<const char*> {
 protected:
  FastmaxSession session(int64_t batch_tokens = 64, int64_t kv_tokens = 4096) const {
    return FastmaxSession(GetParam(), batch_tokens, kv_tokens);
  }
  /// Of a session that has read nothing else.
  TinyReply alone(const std::vector<int32_t>& text, int64_t count = kReply) const {
    return session().reply(text, count);
  }
};
INSTANTIATE_TEST_SUITE_P(Layers, SummaryStates, testing::Values(kAllLayers, kOneLayer), [](const auto& info) {
  return std::string(info.param == kAllLayers ? "all" : "one");
});

TEST_P(SummaryStates, AnyChunksOfAPromptGiveTheSameReply) {
  const std::vector<int32_t> text = text_of(101);
  const TinyReply whole = session(128).reply(text, kReply);
  ASSERT_EQ(whole.ids.size(), static_cast<size_t>(kReply));
  for (const int64_t chunk : {1, 2, 7, 31, 32, 33, 50, 64}) {
    SCOPED_TRACE(chunk);
    const TinyReply reply = session(chunk).reply(text, kReply);
    expect_same(reply, whole);
    if (GetParam() == kAllLayers) {
      EXPECT_EQ(reply.logprobs, whole.logprobs) << "bit for bit";
    }
  }
}

/// What was written token by token is what a prompt of the same tokens leaves.
TEST_P(SummaryStates, PrefillEqualsDecode) {
  const auto one = session();
  const std::vector<int32_t> prompt = text_of(20);
  const TinyReply written = one.reply(prompt, 80);
  const std::vector<int32_t> first(written.ids.begin(), written.ids.begin() + 70);
  const TinyReply read = alone(joined(prompt, first), 10);
  TinyReply last;
  last.ids = {written.ids.begin() + 70, written.ids.end()};
  last.logprobs = {written.logprobs.begin() + 70, written.logprobs.end()};
  expect_same(read, last);
  if (GetParam() == kAllLayers) {
    EXPECT_EQ(read.logprobs, last.logprobs) << "bit for bit";
  }
}

TEST_P(SummaryStates, BeginningsAreShared) {
  const auto one = session();
  const std::vector<int32_t> beginning = text_of(70);
  one.sharing(beginning, kReply);
  const std::vector<int32_t> text = joined(beginning, text_of(20, 9));
  const TinyReply reply = one.sharing(text, kReply);
  EXPECT_EQ(reply.outcome->reused_tokens, 64) << "where a copy was left";
  expect_same(reply, alone(text));
  expect_same(one.sharing(beginning, kReply), alone(beginning));
  expect_same(one.sharing(text, kReply), alone(text));
}

TEST_P(SummaryStates, WhatIsTakenBackIsForgotten) {
  const auto chat = session();
  const generate::Engine engine = chat->engine();
  const auto sequence = chat.sequence();
  const std::vector<int32_t> prompt = text_of(80);
  chat.reply(prompt, kReply, sequence);
  for (const int64_t kept : {77, 60, 10}) {  // before the copy at 64 too
    SCOPED_TRACE(kept);
    engine.scheduler.take_back(engine.model, sequence, sequence->length, sequence->length - kept);
    std::vector<int32_t> other(prompt.begin(), prompt.begin() + kept);
    other = joined(other, text_of(5, 8));
    expect_same(chat.reply(other, kReply, sequence), alone(other));
  }
}

/// A text that is cut back to places all over it, and goes on otherwise each time.
TEST_P(SummaryStates, BranchesAllOverALongTextAreThoseOfTheirTextsAlone) {
  const auto chat = session();
  const auto sequence = chat.sequence();
  std::vector<int32_t> text = text_of(300);
  chat.reply(text, 250, sequence);
  for (const int64_t at : {540, 513, 400, 299, 288, 150, 40}) {
    SCOPED_TRACE(at);
    std::vector<int32_t> branch = sequence->tokens;
    branch.resize(static_cast<size_t>(std::min<int64_t>(at, static_cast<int64_t>(branch.size()))));
    branch = joined(branch, text_of(3, static_cast<uint32_t>(at)));
    expect_same(chat.reply(branch, kReply, sequence), alone(branch));
  }
}

TEST_P(SummaryStates, EditsAndTheirUndoGiveWhatTheirGraphsGive) {
  const auto chat = session();
  const auto sequence = chat.sequence();
  const std::vector<int32_t> prompt = text_of(50);
  const TinyReply whole = chat.reply(prompt, kReply, sequence);
  for (const char* words :
       {"bypass scope=layers.0", "attention scope=layers.1 kind=fastmax limit=0.5",
        "attention scope=layers.1 kind=fastmax p=2 normalise=false", "attention scope=layers.* kind=softmax",
        "attention scope=layers.* kind=fastmax window=7"}) {
    SCOPED_TRACE(words);
    ASSERT_TRUE(chat->apply(edit_of(words)).ok());
    const auto other = session();
    ASSERT_TRUE(other->apply(edit_of(words)).ok());
    const TinyReply fresh = other.reply(prompt, kReply);
    const TinyReply edited = chat.reply(prompt, kReply, sequence);
    EXPECT_NE(edited.logprobs, whole.logprobs);
    expect_same(edited, fresh);
    const std::vector<int32_t> next = joined(joined(prompt, edited.ids), text_of(6, 2));
    expect_same(chat.reply(next, kReply, sequence), other.reply(next, kReply));
    ASSERT_TRUE(chat->undo().ok());
    expect_same(chat.reply(prompt, kReply, sequence), whole);
  }
}

TEST_P(SummaryStates, ASavedRecipeGivesTheSameReplies) {
  const auto chat = session();
  ASSERT_TRUE(chat->apply(edit_of("scale node=layers.2.down factor=0.5")).ok());
  ASSERT_TRUE(chat->apply(edit_of("place scope=layers.1 device=cuda:0")).ok());
  const auto recipe = edit::parse_recipe(edit::write_recipe(recipe_of(*chat.session)));
  ASSERT_TRUE(recipe.ok()) << recipe.error().to_string();
  const TinyModel tiny(3);
  const GraphSession opened(tiny.graph(), tiny.file, tiny.weights, FastmaxSession::options(64, 4096));
  const auto replayed = opened->replay(recipe->edits);
  ASSERT_TRUE(replayed.ok()) << replayed.error().to_string();
  EXPECT_EQ(graph::print(*opened->model_graph()), graph::print(*chat->model_graph()));
  EXPECT_TRUE(belongs_together(*opened->state()));
  const std::vector<int32_t> prompt = text_of(70);
  const TinyReply expected = chat.reply(prompt, kReply);
  const auto sequence = opened.sequence();
  expect_same(opened.reply(prompt, kReply, sequence), expected);
  const std::vector<int32_t> next = joined(joined(prompt, expected.ids), text_of(11, 3));
  expect_same(opened.reply(next, kReply, sequence), chat.reply(next, kReply));
}

TEST_P(SummaryStates, AForkRepliesAsItsSessionDoes) {
  const auto chat = session();
  const auto sequence = chat.sequence();
  const std::vector<int32_t> prompt = text_of(70);
  const TinyReply whole = chat.reply(prompt, kReply, sequence);
  const auto reply_of = [&](const Fork& otherwise, const std::vector<int32_t>& text) {
    const auto fork = chat->fork(otherwise, {});
    EXPECT_TRUE(fork.ok()) << (fork.ok() ? "" : fork.error().to_string());
    if (!fork.ok()) return TinyReply{};
    const generate::Engine engine = dynamic_cast<SessionImpl&>(**fork).engine();
    return runtime::tiny_reply(engine.scheduler, engine.model, text, kReply,
                               runtime::DeviceScheduler::new_sequence(engine.model));
  };
  expect_same(reply_of({}, prompt), whole);
  expect_same(reply_of({.context = 512, .fusion = false}, prompt), whole);
  const edit::Edit back = edit_of("attention scope=layers.* kind=softmax");
  const TinyReply soft = reply_of({.edits = {back}}, prompt);
  EXPECT_NE(soft.logprobs, whole.logprobs);
  const std::vector<int32_t> next = joined(joined(prompt, whole.ids), text_of(11, 3));
  expect_same(chat.reply(next, kReply, sequence), alone(next));
  ASSERT_TRUE(chat->apply(back).ok());
  expect_same(chat.reply(prompt, kReply, sequence), soft);
}

/// There and back in the history, and without what was done to the layers: replies are those of the graphs.
TEST_P(SummaryStates, HistoryLeadsBackToTheSameReplies) {
  const auto chat = session();
  const auto sequence = chat.sequence();
  const std::vector<int32_t> prompt = text_of(50);
  const auto now = [&] { return chat.reply(prompt, kReply, sequence); };
  const TinyReply whole = now();
  ASSERT_TRUE(chat->undo().ok());
  const TinyReply original = now();
  EXPECT_NE(original.logprobs, whole.logprobs);
  ASSERT_TRUE(chat->redo().ok());
  expect_same(now(), whole);
  ASSERT_TRUE(chat->apply(edit_of("repeat scope=layers.1 times=2")).ok());
  const TinyReply repeated = now();
  EXPECT_NE(repeated.logprobs, whole.logprobs);
  ASSERT_TRUE(chat->jump_to(0).ok());
  expect_same(now(), original);
  ASSERT_TRUE(chat->jump_to(2).ok());
  expect_same(now(), repeated);
  ASSERT_TRUE(chat->jump_to(1).ok());
  expect_same(now(), whole);
  const auto restored = chat->restore("layers.*");
  ASSERT_TRUE(restored.ok()) << restored.error().to_string();
  EXPECT_TRUE(belongs_together(*chat->state()));
  expect_same(now(), original);
}

TEST_P(SummaryStates, LayersThatAreRepeatedMovedAndTakenOutKeepTheirOwn) {
  const std::vector<int32_t> prompt = text_of(70);
  for (const char* words : {"repeat scope=layers.1 times=2", "move scope=layers.1 after=layers.2",
                            "delete scope=layers.0", "move scope=layers.2 before=layers.0"}) {
    SCOPED_TRACE(words);
    const auto chat = session();
    const auto edited = chat->apply(edit_of(words));
    ASSERT_TRUE(edited.ok()) << edited.error().to_string();
    const auto sequence = chat.sequence();
    const TinyReply first = chat.reply(prompt, kReply, sequence);
    const std::vector<int32_t> next = joined(joined(prompt, first.ids), text_of(11, 3));
    const auto other = session();
    ASSERT_TRUE(other->apply(edit_of(words)).ok());
    expect_same(chat.reply(next, kReply, sequence), other.reply(next, kReply));
  }
}

TEST_P(SummaryStates, ThePassThatMakesThemCannotBeLeftOut) {
  const auto chat = session();
  const std::vector<int32_t> prompt = text_of(50);
  const TinyReply whole = chat.reply(prompt, kReply);
  const auto left_out = chat->set_passes({"summarise_fastmax"});
  ASSERT_FALSE(left_out.ok());
  EXPECT_THAT(left_out.error().to_string(), testing::HasSubstr("summarise_fastmax"));
  EXPECT_TRUE(belongs_together(*chat->state()));
  expect_same(chat.reply(prompt, kReply), whole);
  ASSERT_TRUE(chat->set_fusion(false).ok());
  expect_same(chat.reply(prompt, kReply), whole);
}

TEST(SummaryMemory, DoesNotGrowWithTheText) {
  const FastmaxSession session;
  const auto sequence = session.sequence();
  const std::vector<int32_t> text = text_of(1900);
  size_t bytes = 0;
  for (const int64_t tokens : {100, 200, 400, 800, 1600, 1900}) {
    session.reply({text.begin(), text.begin() + tokens}, kReply, sequence);
    if (tokens == 200) bytes = session.model().kv_bytes();
    if (tokens > 200) {
      EXPECT_EQ(session.model().kv_bytes(), bytes) << tokens;
    }
  }
  EXPECT_GT(bytes, 0U);
  const graph::Graph& graph = *session.model().version()->model;
  const uint64_t told = compile::kv_cache_bytes(graph, DType::f16, 100);
  EXPECT_EQ(told, compile::kv_cache_bytes(graph, DType::f16, 100'000));
  EXPECT_LE(bytes, told + 3 * 3 * 256) << "a text has no more, but for alignment";
}

}  // namespace
}  // namespace orrery::api
