// Many replies on a card: their steps are padded, so that few counts of replies are captured, and every reply
// is the one that its text gives alone. On the test module.
#include <gmock/gmock.h>

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
  std::promise<void> hold() {
    std::promise<void> go;
    scheduler_->call(DeviceScheduler::When::between_steps,
                     [held = go.get_future().share()](kernels::ThreadTeam&) { held.wait(); });
    return go;
  }
  /// Replies of `count` tokens to as many texts of 5 tokens, all at once.
  std::vector<TinyReply> replies(size_t texts, int64_t count) {
    std::vector<TinyReply> replies(texts);
    std::vector<std::future<Result<DecodeOutcome>>> futures;
    auto go = hold();
    for (size_t i = 0; i < texts; ++i)
      futures.push_back(scheduler_->decode(model_, DeviceScheduler::new_sequence(model_),
                                           tiny_request(text(i), count, &replies[i])));
    go.set_value();
    for (size_t i = 0; i < texts; ++i) {
      replies[i].outcome = futures[i].get();
      EXPECT_TRUE(replies[i].outcome.ok());
    }
    return replies;
  }
  static std::vector<int32_t> text(size_t i) { return tiny_text(5, static_cast<uint32_t>(i)); }
  void expect_as_alone(const std::vector<TinyReply>& replies, int64_t count) {
    for (size_t i = 0; i < replies.size(); ++i) {
      const TinyReply alone = tiny_reply(*scheduler_, model_, text(i), count);
      EXPECT_EQ(replies[i].ids, alone.ids) << i;
      EXPECT_EQ(replies[i].logprobs, alone.logprobs) << i;
    }
  }

  TinyModel tiny_;
  std::shared_ptr<kernels::CountingDevice> card_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<DeviceScheduler> scheduler_;
};

TEST_F(PaddedSteps, ChangeNoBitOfAReply) {
  for (const size_t count : {9, 12, 17}) expect_as_alone(replies(count, 40), 40);
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

}  // namespace
}  // namespace orrery::runtime
