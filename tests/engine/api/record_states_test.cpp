// A model whose states are records of the whole text (tests/data/models/mamba): however a text is cut,
// shared, taken back, moved or broken off, the reply is bit for bit the one that its text gives alone.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/inspect.h"
#include "engine/compile/states.h"
#include "tests/engine/api/fixed_state_sessions.h"

namespace orrery::api {
namespace {

using runtime::TinyReply;

constexpr int64_t kReply = 9;

/// Where the layers' own op of the last test breaks off a step.
std::atomic<bool> g_breaks{false};

/// Of a session that has read nothing else.
TinyReply alone(const std::vector<int32_t>& text, int64_t count = kReply) {
  return MambaSession().reply(text, count);
}

void expect_same(const TinyReply& reply, const TinyReply& expected) { api::expect_same(reply, expected, 0); }

TEST(RecordStates, AnyChunksOfAPromptGiveTheSameReply) {
  const std::vector<int32_t> text = text_of(101);
  const TinyReply whole = MambaSession(128).reply(text, kReply);
  ASSERT_EQ(whole.ids.size(), static_cast<size_t>(kReply));
  for (int64_t chunk = 1; chunk <= 50; ++chunk) {
    SCOPED_TRACE(chunk);
    expect_same(MambaSession(chunk).reply(text, kReply), whole);
  }
}

TEST(RecordStates, BeginningsAreShared) {
  const MambaSession session;
  const std::vector<int32_t> beginning = text_of(70);
  session.sharing(beginning, kReply);
  const std::vector<int32_t> text = joined(beginning, text_of(20, 9));
  const TinyReply reply = session.sharing(text, kReply);
  EXPECT_EQ(reply.outcome->reused_tokens, 64) << "whole pages";
  expect_same(reply, alone(text));
  const std::vector<int32_t> pages(beginning.begin(), beginning.begin() + 64);
  const TinyReply again = session.sharing(pages, kReply);
  EXPECT_EQ(again.outcome->reused_tokens, 32) << "the last token is read from the beginning of its page";
  expect_same(again, alone(pages));
  expect_same(session.sharing(text, kReply), alone(text));
}

TEST(RecordStates, AReplyThatIsStoppedCanBeGoneOnWith) {
  const MambaSession session(8);
  const generate::Engine engine = session->engine();
  const auto sequence = session.sequence();
  const std::vector<int32_t> prompt = text_of(60);
  for (const int64_t at : {16, 40}) {  // in the middle of the prompt
    TinyReply reply;
    std::stop_source stop;
    runtime::DecodeRequest request = runtime::tiny_request(prompt, kReply, &reply);
    request.stop = stop.get_token();
    request.on_prefill = [&](const runtime::PrefillStep& step) {
      if (step.done >= at) stop.request_stop();
    };
    const auto end = engine.scheduler.decode(engine.model, sequence, std::move(request)).get();
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->end, runtime::DecodeOutcome::End::cancelled);
  }
  const TinyReply reply = session.reply(prompt, kReply, sequence);
  EXPECT_GE(reply.outcome->reused_tokens, 40);
  expect_same(reply, alone(prompt));
}

TEST(RecordStates, WhatIsTakenBackIsForgotten) {
  const MambaSession session;
  const generate::Engine engine = session->engine();
  const auto sequence = session.sequence();
  const std::vector<int32_t> prompt = text_of(40);
  session.reply(prompt, kReply, sequence);
  engine.scheduler.take_back(engine.model, sequence, sequence->length, kReply + 3);
  std::vector<int32_t> other(prompt.begin(), prompt.end() - 3);
  other = joined(other, text_of(5, 8));
  expect_same(session.reply(other, kReply, sequence), alone(other));
}

TEST(RecordStates, EditsAndTheirUndoGiveWhatTheirGraphsGive) {
  const MambaSession session;
  const auto sequence = session.sequence();
  const std::vector<int32_t> prompt = text_of(50);
  const TinyReply whole = session.reply(prompt, kReply, sequence);
  ASSERT_TRUE(session->apply(edit_of("bypass scope=layers.1")).ok());
  MambaSession bypassed;
  ASSERT_TRUE(bypassed->apply(edit_of("bypass scope=layers.1")).ok());
  const TinyReply without = bypassed.reply(prompt, kReply);
  EXPECT_NE(without.logprobs, whole.logprobs);
  const TinyReply edited = session.reply(prompt, kReply, sequence);
  expect_same(edited, without);
  const std::vector<int32_t> next = joined(joined(prompt, edited.ids), text_of(6, 2));
  expect_same(session.reply(next, kReply, sequence), bypassed.reply(next, kReply));
  ASSERT_TRUE(session->undo().ok());
  expect_same(session.reply(prompt, kReply, sequence), whole);
}

TEST(RecordStates, AnUndoBeforeTheNextMessageCostsNothing) {
  const MambaSession session;
  const auto sequence = session.sequence();
  const std::vector<int32_t> prompt = text_of(50);
  const TinyReply first = session.reply(prompt, kReply, sequence);
  for (const char* words : {"bypass scope=layers.2", "bypass scope=layers.0"})
    ASSERT_TRUE(session->apply(edit_of(words)).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(session->undo().ok());
  const std::vector<int32_t> next = joined(joined(prompt, first.ids), text_of(6, 2));
  const TinyReply reply = session.reply(next, kReply, sequence);
  EXPECT_EQ(reply.outcome->reused_tokens, 50 + kReply - 1);
  expect_same(reply, alone(next));
}

struct Copy {
  static constexpr std::string_view kName = "breaking";
  struct Problem {};
  struct Args {};
};

/// dst = src, unless it is to break the step off.
graph::OpSchema breaking_op() {
  const auto lower = [](ops::LowerContext& context, const graph::Node& node) -> Result<ops::Lowered> {
    const ops::Slot src = context.slot(node.inputs[0]), dst = context.slot(node.outputs[0]);
    const int64_t cols = context.type(node.inputs[0]).shape.back().constant();
    ops::Lowered lowered;
    lowered.kernel = "breaking";
    lowered.run = [=](const ops::StepContext& step) {
      if (g_breaks) throw std::runtime_error("broken off");
      std::copy_n(step.data<const float>(src), step.tokens * cols, step.data<float>(dst));
    };
    return lowered;
  };
  static const kernels::Row<Copy> kRows[] = {{.name = "breaking"}};
  return {.name = "breaking",
          .family = graph::OpFamily::custom,
          .doc = "Copies, or breaks the step off.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = [](const graph::NodeView& view) -> Result<std::vector<graph::ValueType>> {
            return std::vector{*view.inputs[0]};
          },
          .cost = [](const graph::NodeView&, const Bindings&) { return graph::Cost{}; },
          .lowering = std::make_shared<const ops::Lowering>(
              ops::Lowering{lower, nullptr, [](kernels::DeviceKind) {
                              return kernels::RowTable{std::span<const kernels::Row<Copy>>(kRows)};
                            }})};
}

TEST(RecordStates, AStepThatFailedLeavesNothingBehind) {
  ASSERT_TRUE(ops::registry()->add(breaking_op()).ok());
  const auto file = mamba_file();
  graph::Graph graph = mamba_graph(*file);
  const ValueId between = graph.node(graph.find_path("layers.1.mixer.residual")).outputs[0];
  graph::Transaction transaction(graph, "break");
  const std::vector<graph::Use> users = graph.users(between);
  const auto node = transaction.add_node({"breaking", "layers.1.mixer", "breaking", {}, {between}, {}, {}});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  for (const graph::Use& use : users)
    ASSERT_TRUE(transaction.set_input(use.node, use.input, graph.node(*node).outputs[0]).ok());
  ASSERT_TRUE(transaction.commit().ok());
  const MambaSession session(file, std::move(graph), 64, 2048);
  const auto sequence = session.sequence();
  const std::vector<int32_t> prompt = text_of(40);
  const TinyReply first = session.reply(prompt, kReply, sequence);
  const std::vector<int32_t> next = joined(joined(prompt, first.ids), text_of(6, 2));
  g_breaks = true;  // layers 0 and 1 have written their records, layer 2 has not
  TinyReply broken;
  const generate::Engine engine = session->engine();
  EXPECT_FALSE(
      engine.scheduler.decode(engine.model, sequence, runtime::tiny_request(next, 1, &broken)).get().ok());
  g_breaks = false;
  const TinyReply reply = session.reply(next, kReply, sequence);
  EXPECT_EQ(reply.outcome->reused_tokens, 32) << "from the beginning of the page that was being written";
  expect_same(reply, alone(next));
  EXPECT_TRUE(ops::registry()->remove("breaking").ok());
}

/// The model with a tokenizer, whose words are t0 to t95.
class MambaFolder {
 public:
  MambaFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery_mamba_XXXXXX").string();
    EXPECT_TRUE(::mkdtemp(pattern.data()));
    path_ = pattern;
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy(std::filesystem::path(ORRERY_TEST_DATA "/models/mamba") / file, path_ / file);
    nlohmann::json vocabulary;
    for (int i = 0; i < 96; ++i) vocabulary["t" + std::to_string(i)] = i;
    const nlohmann::json tokenizer = {
        {"version", "1.0"},
        {"added_tokens", nlohmann::json::array()},
        {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
        {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "t0"}}}};
    std::ofstream(path_ / "tokenizer.json") << tokenizer;
  }
  ~MambaFolder() { std::filesystem::remove_all(path_); }

  std::shared_ptr<Session> open(const std::string& device) const {
    OpenOptions options;
    options.model = path_.string();
    options.device = device;
    options.precision = "exact";
    options.context = 256;
    auto session = Session::open(options, {}, {});
    EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().to_string());
    return session.ok() ? *session : nullptr;
  }

 private:
  std::filesystem::path path_;
};

std::string words_of(const std::vector<int32_t>& tokens) {
  std::string text;
  for (const int32_t token : tokens) text += (text.empty() ? "t" : " t") + std::to_string(token);
  return text;
}

/// What the person would do: ask, go on, ask again, edit, undo; each greedy reply of a session.
std::vector<std::vector<int32_t>> chatted(Session& session) {
  std::vector<std::vector<int32_t>> replies;
  const auto ask = [&](const std::vector<int32_t>& text) {
    ChatRequest request;
    request.raw = words_of(text);
    request.max_tokens = kReply;
    request.sampling.temperature = 0;
    const auto reply = session.chat(request, {}, {});
    EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().to_string());
    std::vector<int32_t> ids;
    if (reply.ok())
      for (const TokenEvent& token : reply->tokens) ids.push_back(token.id);
    replies.push_back(ids);
    return ids;
  };
  const std::vector<int32_t> first = text_of(60);
  const std::vector<int32_t> second = joined(joined(first, ask(first)), text_of(12, 2));
  ask(second);
  ask(second);  // once more
  EXPECT_TRUE(session.apply(edit_of("bypass scope=layers.1")).ok());
  ask(second);
  EXPECT_TRUE(session.undo().ok());
  ask(second);
  session.forget_context();
  ask(second);
  return replies;
}

TEST(RecordStates, AChatIsTheSameOnEveryDevice) {
  const MambaFolder folder;
  const auto session = folder.open("cpu");
  ASSERT_TRUE(session);
  const auto replies = chatted(*session);
  ASSERT_EQ(replies.size(), 6U);
  EXPECT_EQ(replies[0], alone(text_of(60)).ids);
  EXPECT_EQ(replies[2], replies[1]) << "generated again";
  EXPECT_NE(replies[3], replies[1]) << "without a layer";
  EXPECT_EQ(replies[4], replies[1]) << "undone";
  EXPECT_EQ(replies[5], replies[1]) << "read from the beginning";
  const auto on_card = folder.open("cuda:0");
  ASSERT_TRUE(on_card);
  EXPECT_EQ(chatted(*on_card), replies);
}

TEST(RecordStates, ManyRepliesOnACardAreThoseOfTheirTextsAlone) {
  const MambaFolder folder;
  const auto session = folder.open("cuda:0");
  ASSERT_TRUE(session);
  const generate::Engine engine = static_cast<SessionImpl&>(*session).engine();
  constexpr size_t kCount = 13;  // more than eight are padded
  constexpr int64_t kLong = 40;  // beyond a page
  std::vector<TinyReply> replies(kCount);
  std::vector<std::future<Result<runtime::DecodeOutcome>>> ends;
  for (uint32_t i = 0; i < kCount; ++i)
    ends.push_back(engine.scheduler.decode(engine.model, runtime::DeviceScheduler::new_sequence(engine.model),
                                           runtime::tiny_request(text_of(3 + i, i), kLong, &replies[i])));
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(ends[i].get().ok());
    expect_same(replies[i], alone(text_of(3 + i, i), kLong));
  }
}

TEST(RecordStates, MemoryIsCountedByPages) {
  const auto file = mamba_file();
  const graph::Graph graph = mamba_graph(*file);
  // three layers of 64 channels: three tokens of the convolution, sixteen states
  constexpr uint64_t kPage = 3 * 64 * (3 + 16) * sizeof(float);
  EXPECT_EQ(compile::kv_cache_bytes(graph, DType::f16, 1), kPage);
  EXPECT_EQ(compile::kv_cache_bytes(graph, DType::q8_0, 64), 2 * kPage);
  EXPECT_EQ(compile::kv_cache_bytes(graph, DType::f32, 65), 3 * kPage);
  const auto built = models::build(*file, nullptr);
  const MemoryDemand demand = model_demand("mamba", *built, false);
  for (const auto& [type, bytes] : demand.page_bytes) EXPECT_EQ(bytes, kPage) << type;
  const MambaSession session;
  session.reply(text_of(65), 1, session.sequence());
  EXPECT_EQ(session.model().kv_bytes() % kPage, 0U);
  EXPECT_GE(session.model().kv_bytes(), 3 * kPage);
}

}  // namespace
}  // namespace orrery::api
