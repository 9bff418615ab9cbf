// A session's state is one value: whatever fails or is stopped on the way leaves it whole, readers never wait
// for what is being prepared, and changes are made in the order in which they came.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <random>
#include <semaphore>
#include <thread>

#include "tests/engine/api/tiny_session.h"
#include "tests/engine/edit/random_edits.h"
#include "tests/support/variable.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::seconds kLong{20};  // nothing here takes as long unless it waits for ever

void expect_same(const runtime::TinyReply& a, const runtime::TinyReply& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.logprobs, b.logprobs) << "bit for bit";
}

std::vector<std::string> words_of(const std::vector<edit::Edit>& edits) {
  std::vector<std::string> words;
  for (const edit::Edit& edit : edits) words.push_back(edit.to_string());
  return words;
}

Change edits(const std::vector<std::string>& words) {
  MakeEdits change;
  for (const std::string& one : words) change.edits.push_back(edit_of(one));
  return change;
}

/// Of changes, when they end: in order, with what they left.
class Ends {
 public:
  ChangeEvents next(ProgressCallback on_progress = {}) {
    const size_t index = submitted_++;
    return {std::move(on_progress), [this, index](const Changed& changed) {
              const std::scoped_lock lock(mutex_);
              order_.push_back(index);
              ends_.push_back(changed);
              ended_.notify_all();
            }};
  }
  /// All that were submitted, when they have ended.
  const std::vector<Changed>& wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(ended_.wait_for(lock, kLong, [this] { return ends_.size() == submitted_; }));
    for (size_t i = 0; i < order_.size(); ++i) EXPECT_EQ(order_[i], i) << "not in the order of submission";
    return ends_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t submitted_ = 0;
  std::vector<size_t> order_;
  std::vector<Changed> ends_;
};

/// Stops a preparation at one of its stages until it is let go on.
class Held {
 public:
  explicit Held(std::string stage) : stage_(std::move(stage)) {}
  ProgressCallback callback() {
    return [this](std::string_view stage, uint64_t, uint64_t) {
      if (stage != stage_ || held_.exchange(true)) return;
      reached_.release();
      go_on_.acquire();
    };
  }
  bool reached() { return reached_.try_acquire_for(kLong); }
  void go_on() { go_on_.release(); }

 private:
  std::string stage_;
  std::atomic<bool> held_{false};
  std::binary_semaphore reached_{0}, go_on_{0};
};

/// What must be as it was where a change fails.
struct Kept {
  explicit Kept(const TinySession& tiny)
      : state(tiny->state()), version(tiny.model().version()), reply(tiny.reply(6)) {}
  void expect(const TinySession& tiny) const {
    EXPECT_EQ(tiny->state(), state);
    EXPECT_EQ(tiny.model().version(), version);
    EXPECT_EQ(state->version, version);
    expect_same(tiny.reply(6), reply);
  }

  SessionStatePtr state;
  std::shared_ptr<const runtime::Version> version;
  runtime::TinyReply reply;
};

/// Parts of it on the card, with an edit to undo and one to redo.
TinySession edited() {
  TinySession tiny(2);
  for (const char* words : {"place scope=layers.0 device=cuda:0", "bypass scope=layers.1"})
    EXPECT_TRUE(tiny->apply(edit_of(words)).ok());
  EXPECT_TRUE(tiny->undo().ok());
  return tiny;
}

enum class Fault { exception, stop };

/// Makes a change again and again, with a fault each time that it tells of its progress once more, until it
/// is made. The stages at which it failed.
std::vector<std::string> stages_of_faults(const Change& change, Fault kind) {
  const TinySession tiny = edited();
  const Kept before(tiny);
  std::vector<std::string> stages;
  for (size_t fault = 0;; ++fault) {
    size_t told = 0;
    std::promise<std::stop_source> submitted;
    const auto fail = [&, source = submitted.get_future().share()](std::string_view stage, uint64_t,
                                                                   uint64_t) {
      if (told++ != fault) return;
      if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
      if (kind == Fault::exception) throw std::bad_alloc();
      std::stop_source(source.get()).request_stop();
    };
    Ends ends;
    submitted.set_value(tiny->submit(change, ends.next(fail)));
    const Changed end = ends.wait().front();
    EXPECT_TRUE(belongs_together(*end.state));
    if (end.records.ok()) {
      EXPECT_NE(tiny->state(), before.state);
      return stages;
    }
    EXPECT_EQ(end.records.error().code,
              kind == Fault::stop ? ErrorCode::cancelled : ErrorCode::out_of_memory);
    EXPECT_EQ(end.state, before.state);
    before.expect(tiny);
    if (testing::Test::HasFailure()) return stages;
  }
}

TEST(SessionStateTest, AFaultAtAnyStageLeavesAllAsItWas) {
  const std::vector<std::string> stages{"Making the edits",         "Running the passes",
                                        "Opening cuda:0",           "Placing the nodes",
                                        "Uploading to Test device", "Adopting the new graph"};
  for (const Fault kind : {Fault::exception, Fault::stop}) {
    EXPECT_EQ(stages_of_faults(edits({"bypass scope=layers.1", "place scope=output device=cuda:0"}), kind),
              stages);
    EXPECT_EQ(stages_of_faults(UndoEdit{}, kind).back(), stages.back());
    EXPECT_EQ(stages_of_faults(RedoEdit{}, kind).back(), stages.back());
    EXPECT_EQ(stages_of_faults(SetFusion{false}, kind).back(), stages.back());
  }
}

TEST(SessionStateTest, ACardThatRefusesLeavesAllAsItWas) {
  const TinySession tiny = edited();
  const Kept before(tiny);
  const auto refused = [&](const char* words) {
    const auto end = tiny->apply(edit_of(words));
    EXPECT_FALSE(end.ok()) << words;
    before.expect(tiny);
    return end.ok() ? std::string() : end.error().to_string();
  };
  EXPECT_THAT(refused("bypass scope=layers.9"), HasSubstr("layers.9"));
  EXPECT_THAT(refused("place scope=layers.0 device=cuda:9"), HasSubstr("cuda:9"));
  {
    const Variable full("ORRERY_FAKE_DEVICE_TAKEN_MB", "4096");
    EXPECT_THAT(refused("place scope=layers.1 device=cuda:0"), HasSubstr("cuda:0"));
    EXPECT_THAT(refused("place scope=layers.1 device=cuda:1"), HasSubstr("cuda:1"));
  }
  EXPECT_TRUE(tiny->apply(edit_of("place scope=layers.1 device=cuda:0")).ok());
}

TEST(SessionStateTest, AnUndonePlacementClearsTheCard) {
  const TinySession tiny(2);
  const runtime::TinyReply at_home = tiny.reply(6);
  ASSERT_TRUE(tiny->apply(edit_of("place scope=layers.0 device=cuda:0")).ok());
  const std::weak_ptr<const kernels::Device> card = tiny->state()->version->cards.at(0);
  EXPECT_FALSE(card.expired());
  expect_same(tiny.reply(6), at_home);
  ASSERT_TRUE(tiny->undo().ok());
  EXPECT_TRUE(tiny->state()->version->cards.empty());
  expect_same(tiny.reply(6), at_home);
  EXPECT_TRUE(card.expired()) << "it is held by something that no version needs";
}

TEST(SessionStateTest, AReaderNeverWaits) {
  for (const char* stage : {"Making the edits", "Running the passes", "Opening cuda:0", "Placing the nodes",
                            "Uploading to Test device", "Adopting the new graph"}) {
    SCOPED_TRACE(stage);
    const TinySession tiny = edited();
    const SessionStatePtr before = tiny->state();
    const runtime::TinyReply reply = tiny.reply(6);
    Ends ends;
    Held held(stage);
    tiny->submit(edits({"place scope=layers.1 device=cuda:0"}), ends.next(held.callback()));
    ASSERT_TRUE(held.reached());
    auto readers = std::async(std::launch::async, [&] {
      EXPECT_EQ(tiny->state(), before);
      EXPECT_EQ(tiny->model_graph(), before->model);
      EXPECT_EQ(tiny->fused_graph(), before->fused);
      EXPECT_EQ(tiny->edits().size(), 1U);
      EXPECT_EQ(tiny->recipe().size(), 1U);
      EXPECT_FALSE(tiny->placement().empty());
      EXPECT_TRUE(tiny->plan(Phase::prefill).ok());
      EXPECT_EQ(tiny->profile(Phase::decode)->fused_graph, before->version->fused);
      EXPECT_GT(tiny->memory_use().session(), 0U);
      tiny->derived_weights();
      tiny->context_used();
      tiny->limits();
      tiny->vitals();
      EXPECT_TRUE(tiny->preview({edit_of("bypass scope=layers.1")}, {}).ok());
      expect_same(tiny.reply(6), reply);
      tiny->submit(UndoEdit{}, ends.next());
    });
    const bool returned = readers.wait_for(kLong) == std::future_status::ready;
    EXPECT_TRUE(returned) << "a reader waits for the edit";
    held.go_on();
    readers.get();
    for (const Changed& changed : ends.wait()) EXPECT_TRUE(changed.records.ok());
    EXPECT_EQ(words_of(tiny->recipe()), words_of(before->history.recipe()));
  }
}

TEST(SessionStateTest, ChangesAreMadeInOrderEachUponTheOneBefore) {
  const TinySession tiny;
  Ends ends;
  Held held("Running the passes");
  tiny->submit(edits({"bypass scope=layers.0"}), ends.next(held.callback()));
  ASSERT_TRUE(held.reached());
  tiny->submit(edits({"bypass scope=layers.1", "bypass scope=layers.2"}), ends.next());
  tiny->submit(edits({"bypass scope=layers.1"}), ends.next());
  tiny->submit(UndoEdit{}, ends.next());
  tiny->submit(RestoreNodes{"layers.0"}, ends.next());
  tiny->submit(SetFusion{false}, ends.next());
  EXPECT_THAT(tiny->recipe(), IsEmpty());
  held.go_on();
  const std::vector<Changed>& done = ends.wait();
  const std::vector<std::vector<std::string>> recipes{
      {"bypass scope=layers.0"},
      {"bypass scope=layers.0", "bypass scope=layers.1", "bypass scope=layers.2"},
      {"bypass scope=layers.0", "bypass scope=layers.1", "bypass scope=layers.2"},
      {"bypass scope=layers.0", "bypass scope=layers.1"},
      {"bypass scope=layers.1"},
      {"bypass scope=layers.1"}};
  ASSERT_EQ(done.size(), recipes.size());
  for (size_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(done[i].records.ok(), i != 2) << "layers.1 is bypassed already";
    EXPECT_EQ(words_of(done[i].state->history.recipe()), recipes[i]);
    EXPECT_TRUE(belongs_together(*done[i].state));
  }
  EXPECT_EQ(tiny->state(), done.back().state);
  EXPECT_FALSE(tiny->state()->fusion);
}

TEST(SessionStateTest, AStoppedChangeIsLeftOutAlone) {
  const TinySession tiny;
  Ends ends;
  Held held("Placing the nodes");
  std::stop_source running = tiny->submit(edits({"bypass scope=layers.0"}), ends.next(held.callback()));
  ASSERT_TRUE(held.reached());
  std::stop_source waiting = tiny->submit(edits({"bypass scope=layers.1"}), ends.next());
  tiny->submit(edits({"bypass scope=layers.2"}), ends.next());
  running.request_stop();
  waiting.request_stop();
  held.go_on();
  const std::vector<Changed>& done = ends.wait();
  for (const size_t stopped : {0U, 1U}) EXPECT_EQ(done[stopped].records.error().code, ErrorCode::cancelled);
  EXPECT_EQ(words_of(tiny->recipe()), std::vector<std::string>{"bypass scope=layers.2"});
}

TEST(SessionStateTest, ClosingEndsWhatIsPreparedAndWhatWaits) {
  Ends ends;
  std::stop_source running(std::nostopstate);
  std::binary_semaphore reached(0), known(0);
  size_t told = 0;
  {
    const TinySession tiny;
    const auto until_closed = [&](std::string_view, uint64_t, uint64_t) {
      if (++told > 1) return;  // the rest of the preparation, which nobody wants
      reached.release();
      known.acquire();
      while (!running.stop_requested()) std::this_thread::yield();
    };
    running = tiny->submit(edits({"bypass scope=layers.0"}), ends.next(until_closed));
    tiny->submit(UndoEdit{}, ends.next());
    ASSERT_TRUE(reached.try_acquire_for(kLong));
    known.release();
  }
  for (const Changed& changed : ends.wait()) {
    ASSERT_FALSE(changed.records.ok());
    EXPECT_EQ(changed.records.error().code, ErrorCode::cancelled);
    EXPECT_THAT(changed.state->history.recipe(), IsEmpty());
  }
  EXPECT_EQ(told, 1U);
}

/// Changes of all kinds and edits of all verbs, many of which are refused.
class RandomChanges {
 public:
  RandomChanges(const TinySession& tiny, uint32_t seed) : tiny_(tiny), edits_(seed, 160), random_(seed) {}

  Change next() {
    switch (below(20)) {
      case 0:
      case 1:
        return edits({fmt::format("bypass scope=layers.{}", below(3))});
      case 2:
        return edits(
            {fmt::format("place scope=layers.{} device={}", below(3), below(2) == 0 ? "cuda:0" : "home")});
      case 3:
        return edits({fmt::format("set node=sampler.sample attribute=top_k value={}", below(40))});
      case 4:
        return edits({fmt::format("bypass scope=layers.{}", below(3)),
                      fmt::format("place scope=layers.{} device=cuda:0", below(3))});
      case 5:
        return RestoreNodes{fmt::format("layers.{}", below(3))};
      case 6:
        return SetFusion{below(2) == 0};
      case 7:
        return SetPasses{below(2) == 0 ? std::set<std::string>{"fuse_qkv", "fold_constants"}
                                       : std::set<std::string>{}};
      case 8:
        return JumpTo{static_cast<size_t>(below(8))};
      case 9:
        return SwitchRecipe{fmt::format("recipe {}", below(2)), below(2) == 0};
      case 10:
        return MakeEdits{{edit(), edit()}, fmt::format("recipe {}", below(2))};
      case 11:
        return RedoEdit{};
      case 12:
      case 13:
      case 14:
        return UndoEdit{};
      default:
        return MakeEdits{{edit()}};
    }
  }

 private:
  /// None by which replies would need what nobody gives them.
  edit::Edit edit() {
    edit::Edit edit;
    do edit = edits_.next(*tiny_->model_graph());
    while (edit.op == "input");
    return edit;
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }

  const TinySession& tiny_;
  edit::RandomEdits edits_;
  std::mt19937 random_;
};

/// A reply after another, and all that a window shows of the session, each on a thread of its own.
TEST(SessionStateTest, AllThatIsShownIsReadBesideStepsAndChanges) {
  constexpr int kRounds = 20, kAtOnce = 10;
  const TinySession tiny(2);
  std::atomic<bool> over{false};
  std::atomic<int> looks{0};
  std::thread writer([&] {
    auto sequence = tiny.sequence();
    while (!over) tiny.reply(20, sequence);
  });
  std::thread window([&] {
    for (bool on = true; !over; on = !on) {
      tiny->set_tracing(on);
      tiny->set_profiling(on);
      for (const Phase phase : {Phase::prefill, Phase::decode}) {
        ASSERT_TRUE(tiny->plan(phase).ok());
        ASSERT_NE(tiny->profile(phase), nullptr);
      }
      tiny->trace();
      ASSERT_GT(tiny->memory_use().session(), 0U);
      tiny->derived_weights();
      tiny->vitals();
      tiny->context_used();
      tiny->forget_context();
      tiny->memory_offers();
      tiny->limits();
      ASSERT_TRUE(tiny->preview({edit_of("set node=sampler.sample attribute=top_k value=3")}, {}).ok());
      ++looks;
    }
  });
  RandomChanges changes(tiny, 7);
  for (int round = 0; round < kRounds || looks < kRounds; ++round) {
    Ends ends;
    for (int i = 0; i < kAtOnce; ++i) tiny->submit(changes.next(), ends.next());
    ends.wait();
    if (testing::Test::HasFailure()) break;
  }
  over = true;
  writer.join();
  window.join();
}

TEST(SessionStateTest, ThousandsOfChangesWhileRepliesStream) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kChanges = 1000;  // instrumented code is several times slower
#else
  constexpr int kChanges = 10000;
#endif
  constexpr int kAtOnce = 50;
  const TinySession tiny(2);
  const std::string opened = graph::print(*tiny->model_graph());
  const runtime::TinyReply first = tiny.reply(12);
  std::atomic<bool> over{false};
  std::atomic<int64_t> tokens{0}, reads{0};
  std::thread writer([&] {
    auto sequence = runtime::DeviceScheduler::new_sequence(tiny->engine().model);
    while (!over) tokens += static_cast<int64_t>(tiny.reply(40, sequence).ids.size());
  });
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      SessionStatePtr last;
      while (!over) {
        const SessionStatePtr now = tiny->state();
        if (now == last) {
          std::this_thread::yield();
          continue;
        }
        ASSERT_TRUE(belongs_together(*now));
        ASSERT_LE(tiny->placement().size(), now->model->order().size());
        last = now;
        ++reads;
      }
    });
  RandomChanges changes(tiny, 12);
  int made = 0;
  for (int done = 0; done < kChanges && !testing::Test::HasFailure(); done += kAtOnce) {
    Ends ends;
    for (int i = 0; i < kAtOnce; ++i) tiny->submit(changes.next(), ends.next());
    for (const Changed& changed : ends.wait()) made += changed.records.ok() ? 1 : 0;
  }
  over = true;
  writer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(made, kChanges / 5);
  EXPECT_GT(tokens.load(), 100);
  EXPECT_GT(reads.load(), 100);
  ASSERT_TRUE(tiny->set_fusion(true).ok());
  while (tiny->undo().ok()) {
  }
  EXPECT_EQ(graph::print(*tiny->model_graph()), opened);
  expect_same(tiny.reply(12), first);
}

/// Replies of the chat, one after another.
class Chatting {
 public:
  explicit Chatting(const TinySession& tiny)
      : thread_([this, &tiny] {
          while (!over_) {
            const auto reply = tiny->chat(request(200), events(), {});
            ASSERT_TRUE(reply.ok()) << reply.error().to_string();
          }
        }) {}
  ~Chatting() {
    over_ = true;
    thread_.join();
  }
  Chatting(const Chatting&) = delete;
  Chatting& operator=(const Chatting&) = delete;

  static ChatRequest request(int64_t tokens) {
    ChatRequest request;
    request.raw = "w3 w14 w15 w92 w65 w35";
    request.max_tokens = tokens;
    request.sampling.temperature = 0;
    return request;
  }
  /// Waits until one more token has come.
  bool goes_on() {
    const int64_t before = tokens_;
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (tokens_ == before && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return tokens_ != before;
  }

 private:
  ChatEvents events() {
    ChatEvents events;
    events.on_token = [this](const TokenEvent&) { ++tokens_; };
    return events;
  }

  std::atomic<bool> over_{false};
  std::atomic<int64_t> tokens_{0};
  std::thread thread_;
};

std::string said(const TinySession& tiny) {
  const auto reply = tiny->chat(Chatting::request(12), {}, {});
  EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().to_string());
  return reply.ok() ? reply->text : "";
}

TEST(SessionStateTest, AnySequenceOfChangesWhileAChatStreams) {
#if defined(__SANITIZE_THREAD__)
  constexpr uint32_t kSequences = 10;  // instrumented code is several times slower
#else
  constexpr uint32_t kSequences = 50;
#endif
  constexpr int kSteps = 16;
  const std::string as_opened = said(TinySession(2));
  size_t made = 0;
  for (uint32_t seed = 0; seed < kSequences && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const TinySession tiny(2);
    const std::string opened = graph::print(*tiny->model_graph());
    RandomChanges changes(tiny, seed);
    {
      Chatting chat(tiny);
      for (int step = 0; step < kSteps; ++step) {
        ASSERT_TRUE(chat.goes_on());
        const Changed changed = wait_for(*tiny.session, changes.next());
        made += changed.records.ok() ? 1 : 0;
        ASSERT_TRUE(belongs_together(*changed.state));
      }
    }
    const auto recipe = edit::parse_recipe(edit::write_recipe({tiny->recipe()}));
    ASSERT_TRUE(recipe.ok()) << recipe.error().to_string();
    const auto replay = replayed(tiny->state()->history.opened(), recipe->edits);
    ASSERT_TRUE(replay.ok()) << replay.error().to_string();
    EXPECT_EQ(graph::print(*replay->graph), graph::print(*tiny->model_graph()));
    ASSERT_TRUE(tiny->set_passes({}).ok());
    ASSERT_TRUE(tiny->set_fusion(true).ok());
    ASSERT_TRUE(tiny->jump_to(0).ok());
    EXPECT_EQ(graph::print(*tiny->model_graph()), opened);
    EXPECT_EQ(said(tiny), as_opened);
  }
  EXPECT_GT(made, kSequences * kSteps / 5);
}

}  // namespace
}  // namespace orrery::api
