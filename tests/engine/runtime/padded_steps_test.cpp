// Many replies on a card: their steps are padded, so that few counts of replies are captured, and every reply
// is the one that its text gives alone. On the test module.
#include <gmock/gmock.h>

#include <condition_variable>

#include "tests/engine/runtime/tiny_model.h"
#include "tests/support/counting_device.h"

namespace orrery::runtime {
namespace {

class PaddedSteps : public testing::Test {
 protected:
  PaddedSteps() {
    auto opened = open_device(0);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
    card_ = std::make_shared<kernels::CountingDevice>(opened.value());
    model_ = tiny_.model(options());
    scheduler_ = std::make_unique<DeviceScheduler>(1, card_);
  }

  Model::Options options() const {
    Model::Options options = TinyModel::exact_options();
    options.device = card_;
    options.threads = 1;
    options.kv_tokens = 8192;
    return options;
  }
  /// Nothing runs until the returned promise is set.
  static std::promise<void> hold(DeviceScheduler& scheduler) {
    std::promise<void> go;
    scheduler.call(DeviceScheduler::When::between_steps,
                   [held = go.get_future().share()](kernels::ThreadTeam&) { held.wait(); });
    return go;
  }
  /// Replies of `count` tokens to as many texts, all at once: up to 32 prompts are one step.
  std::vector<TinyReply> replies(size_t texts, int64_t count) {
    return replies(*scheduler_, model_, texts, count);
  }
  static std::vector<TinyReply> replies(DeviceScheduler& scheduler, const std::shared_ptr<Model>& model,
                                        size_t texts, int64_t count) {
    std::vector<TinyReply> replies(texts);
    std::vector<std::future<Result<DecodeOutcome>>> futures;
    auto go = hold(scheduler);
    for (size_t i = 0; i < texts; ++i)
      futures.push_back(scheduler.decode(model, DeviceScheduler::new_sequence(model),
                                         tiny_request(text(i), count, &replies[i])));
    go.set_value();
    for (size_t i = 0; i < texts; ++i) {
      replies[i].outcome = futures[i].get();
      EXPECT_TRUE(replies[i].outcome.ok());
    }
    return replies;
  }
  static std::vector<int32_t> text(size_t i) { return tiny_text(2, static_cast<uint32_t>(i)); }
  void expect_as_alone(const std::vector<TinyReply>& replies, int64_t count) {
    for (size_t i = 0; i < replies.size(); ++i) {
      const TinyReply alone = tiny_reply(*scheduler_, model_, text(i), count);
      EXPECT_EQ(replies[i].ids, alone.ids) << i;
    }
  }

  /// Whether the plan for so many replies is compiled.
  bool has_plan(int64_t count) {
    kernels::ThreadTeam team(1);
    std::stop_source stopped;
    stopped.request_stop();
    const compile::Bucket bucket = compile::bucket_for(count, count, count);
    return model_->plan(*model_->version(), bucket, team, stopped.get_token()).ok();
  }
  /// Or is soon.
  bool gets_plan(int64_t count) {
    for (int turn = 0; turn < 5000 && !has_plan(count); ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return has_plan(count);
  }

  TinyModel tiny_;
  std::shared_ptr<kernels::CountingDevice> card_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<DeviceScheduler> scheduler_;
};

TEST_F(PaddedSteps, ChangeNoBitOfAReply) {
  DeviceScheduler cpu(1);  // the same rows, never padded
  Model::Options plain = options();
  plain.device = nullptr;
  for (const size_t count : {8, 9, 12, 17, 31}) {
    const auto padded = replies(count, 40), alone = replies(cpu, tiny_.model(plain), count, 40);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(padded[i].ids, alone[i].ids) << count << ", " << i;
      EXPECT_EQ(padded[i].logprobs, alone[i].logprobs) << count << ", " << i;
    }
  }
  EXPECT_EQ(model_->kv()->pages_in_use(), 0);
}

TEST_F(PaddedSteps, AreToldWithoutTheirPadding) {
  model_->profiler.trace().set_on(true);
  replies(13, 40);
  EXPECT_EQ(model_->profiler.snapshot(Phase::decode).tokens, 13);
  const StepTrace::Kept kept = model_->profiler.trace().kept();
  int64_t whole = 0;
  for (const auto& step : kept.steps) {
    EXPECT_LE(step->sequences, 13);
    if (step->phase != Phase::decode || step->sequences < 13) continue;
    EXPECT_EQ(step->tokens, 13);
    if (step->plan) {
      EXPECT_EQ(step->bindings.at(kTokens), 13);
    }
    ++whole;
  }
  EXPECT_GT(whole, 30);
}

/// Holds back whoever begins to capture, until it is let go.
class Gate {
 public:
  explicit Gate(kernels::CountingDevice& card) {
    card.on_capture = [this] {
      std::unique_lock lock(mutex_);
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    };
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

TEST_F(PaddedSteps, AllCountsBetweenTwoMultiplesOfEightAreOneGraph) {
  model_->profiler.set_enabled(false);
  replies(12, 4);
  scheduler_->finish_captures(model_);
  EXPECT_EQ(card_->captures, 1);
  for (const size_t count : {9, 10, 11, 13, 14, 15, 16}) {
    const int before = card_->launches;
    replies(count, 20);
    EXPECT_GE(card_->launches - before, 18) << count;
  }
  EXPECT_EQ(card_->captures, 1);
}

TEST_F(PaddedSteps, RepliesThatComeAndGoAreReplaysSoon) {
  model_->profiler.set_enabled(false);
  constexpr size_t kTables = 64, kGuests = 4 * kTables;
  std::mt19937 random(5);
  std::vector<TinyReply> replies(kGuests);
  std::vector<int64_t> counts(kGuests);
  for (int64_t& count : counts) count = 5 + static_cast<int64_t>(random() % 40);
  std::atomic<size_t> next{0};
  {
    std::vector<std::jthread> tables;
    for (size_t table = 0; table < kTables; ++table)
      tables.emplace_back([&] {
        for (size_t i = next++; i < kGuests; i = next++) {
          const auto sequence = DeviceScheduler::new_sequence(model_);
          replies[i].outcome =
              scheduler_->decode(model_, sequence, tiny_request(text(i), counts[i], &replies[i])).get();
        }
      });
  }
  for (size_t i = 0; i < kGuests; ++i) {
    ASSERT_TRUE(replies[i].outcome.ok()) << replies[i].outcome.error().to_string();
    const TinyReply alone = tiny_reply(*scheduler_, model_, text(i), counts[i]);
    EXPECT_EQ(replies[i].ids, alone.ids) << i;
  }
  // Once more, with all that was captured: the number of replies changes at nearly every step.
  scheduler_->finish_captures(model_);
  const int launches = card_->launches, waits = card_->waits;
  std::vector<TinyReply> again(kTables);
  std::vector<std::future<Result<DecodeOutcome>>> futures;
  auto go = hold(*scheduler_);
  for (size_t i = 0; i < kTables; ++i)
    futures.push_back(scheduler_->decode(model_, DeviceScheduler::new_sequence(model_),
                                         tiny_request(text(i), 20 + static_cast<int64_t>(i), &again[i])));
  go.set_value();
  for (auto& future : futures) ASSERT_TRUE(future.get().ok());
  EXPECT_GE(2 * (card_->launches - launches), card_->waits - waits) << "most steps are replays";
}

TEST_F(PaddedSteps, GoOnWhileACaptureTakesLong) {
  model_->profiler.set_enabled(false);
  Gate gate(*card_);
  const std::vector<TinyReply> all = replies(12, 40);
  gate.wait_for_somebody();
  EXPECT_EQ(card_->launches, 0) << "all steps ran directly";
  gate.open();
  scheduler_->finish_captures(model_);
  expect_as_alone(all, 40);
  replies(12, 10);
  EXPECT_GT(card_->launches, 0);
}

TEST_F(PaddedSteps, ACaptureThatFailsLeavesTheStepRunningDirectly) {
  model_->profiler.set_enabled(false);
  card_->on_capture = [] {
    throw kernels::DeviceError(kernels::DeviceError::Kind::failed, "no capture today");
  };
  expect_as_alone(replies(12, 20), 20);
  scheduler_->finish_captures(model_);
  replies(12, 3);
  scheduler_->finish_captures(model_);  // the second step of all prompts asks for one
  const uint64_t unsettled = scheduler_->unsettled_steps();
  const int captures = card_->captures;
  replies(12, 20);
  EXPECT_EQ(scheduler_->unsettled_steps(), unsettled) << "they will not become faster";
  EXPECT_EQ(card_->captures, captures) << "it is not tried again";
  EXPECT_EQ(card_->launches, 0);
}

TEST_F(PaddedSteps, TheEndWaitsForWhatIsBeingCaptured) {
  Gate gate(*card_);
  replies(12, 10);
  gate.wait_for_somebody();
  std::jthread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    gate.open();
  });
  scheduler_ = nullptr;  // the model, and with it the plan, is still there
  EXPECT_EQ(card_->captures, 1) << "what was queued after it is dropped";
}

TEST_F(PaddedSteps, AModelEndsWhileAStepOfItIsCaptured) {
  model_->profiler.set_enabled(false);
  Gate gate(*card_);
  replies(12, 10);
  gate.wait_for_somebody();
  const std::weak_ptr<Model> ended = model_;
  model_ = tiny_.model(options());
  for (int turn = 0; turn < 5000 && !ended.expired(); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(ended.expired()) << "what is being captured holds the plan alone";
  gate.open();
  expect_as_alone(replies(12, 30), 30);
  scheduler_->finish_captures(model_);
  expect_as_alone(replies(12, 30), 30);
  EXPECT_GT(card_->launches, 0);
}

TEST_F(PaddedSteps, MemoryMovesOnlyWhenNothingIsBeingCaptured) {
  model_->profiler.set_enabled(false);
  Gate gate(*card_);
  replies(12, 10);
  gate.wait_for_somebody();
  const int before = card_->waits;
  int meanwhile = 0;
  std::jthread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    meanwhile = card_->waits - before;
    gate.open();
  });
  const std::vector<TinyReply> more = replies(60, 30);  // another plan, with a larger arena
  opens.join();
  EXPECT_EQ(meanwhile, 0) << "no step ran in the larger arena";
  scheduler_->finish_captures(model_);
  expect_as_alone(more, 30);
  expect_as_alone(replies(12, 30), 30);
}

TEST_F(PaddedSteps, ADeviceThatIsRenewedDropsWhatIsBeingCaptured) {
  model_->profiler.set_enabled(false);
  Gate gate(*card_);
  replies(12, 10);
  gate.wait_for_somebody();
  EXPECT_TRUE(gets_plan(8) && gets_plan(24)) << "nothing is uploaded meanwhile";
  scheduler_
      ->call(DeviceScheduler::When::between_steps,
             [&](kernels::ThreadTeam&) {
               const std::scoped_lock stream(card_->stream_mutex());
               card_->renew();
             })
      .get();
  gate.open();
  for (int turn = 0; turn < 3; ++turn) {
    expect_as_alone(replies(12, 30), 30);
    scheduler_->finish_captures(model_);
  }
  EXPECT_GT(card_->launches, 0) << "captured anew";
}

TEST_F(PaddedSteps, TheNextPlansAreCompiledBeforeTheyAreNeeded) {
  replies(3, 10);
  EXPECT_FALSE(has_plan(8));
  EXPECT_FALSE(has_plan(16)) << "a few replies seldom become many at once";
  replies(12, 10);
  EXPECT_TRUE(gets_plan(8));
  EXPECT_TRUE(gets_plan(24));
  EXPECT_FALSE(has_plan(40));
}

}  // namespace
}  // namespace orrery::runtime
