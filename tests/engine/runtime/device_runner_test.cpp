// Steps on a device: which are captured, replayed and measured. On the test module.
#include <gmock/gmock.h>

#include "engine/runtime/devices.h"
#include "tests/engine/runtime/tiny_model.h"
#include "tests/support/counting_device.h"

namespace orrery::runtime {
namespace {

class OnDevice : public testing::Test {
 protected:
  OnDevice() {
    auto opened = open_device(0);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
    card_ = std::make_shared<kernels::CountingDevice>(opened.value());
    Model::Options options = TinyModel::exact_options();
    options.device = card_;
    model_ = tiny_.model(options);
    scheduler_ = std::make_unique<DeviceScheduler>(1, card_);
  }

  TinyReply reply(const std::vector<int32_t>& text, int64_t count) {
    return tiny_reply(*scheduler_, model_, text, count);
  }
  TinyReply on_cpu(const std::vector<int32_t>& text, int64_t count) {
    DeviceScheduler cpu(1);
    Model::Options options = TinyModel::exact_options();
    options.threads = 1;
    return tiny_reply(cpu, tiny_.model(options), text, count);
  }

  TinyModel tiny_;
  std::shared_ptr<kernels::CountingDevice> card_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<DeviceScheduler> scheduler_;
};

TEST_F(OnDevice, TextsOfTheSameLengthReplayOneGraph) {
  model_->profiler.set_enabled(false);
  for (uint32_t i = 0; i < 5; ++i) {
    const auto text = tiny_text(21, i);
    EXPECT_EQ(reply(text, 1).logprobs, on_cpu(text, 1).logprobs) << "text " << i;
    scheduler_->finish_captures(model_);
  }
  EXPECT_EQ(card_->captures, 1) << "when the second came";
  EXPECT_EQ(card_->launches, 3) << "from the third on";
  EXPECT_EQ(scheduler_->unsettled_steps(), 2U);
}

TEST_F(OnDevice, ATextThatComesOnceIsNotCaptured) {
  for (int64_t tokens = 20; tokens < 30; ++tokens) reply(tiny_text(tokens, 1), 1);
  EXPECT_EQ(card_->captures, 0);
}

TEST_F(OnDevice, TokensReplayOneGraph) {
  model_->profiler.set_enabled(false);
  reply(tiny_text(6, 2), 3);
  scheduler_->finish_captures(model_);
  card_->waits = card_->copies = 0;
  const auto text = tiny_text(5, 1);
  EXPECT_EQ(reply(text, 30).logprobs, on_cpu(text, 30).logprobs);
  EXPECT_EQ(card_->captures, 1) << "all lengths below 64 are one graph";
  EXPECT_EQ(card_->launches, 29) << "all steps but the prompt's";
  EXPECT_EQ(card_->waits, 30) << "one a step";
  EXPECT_EQ(card_->copies, 1) << "inputs of the prompt; others are in the graph";
  EXPECT_EQ(card_->marks, 0);
  EXPECT_EQ(scheduler_->unsettled_steps(), 4U) << "two prompts and the first two tokens";
}

TEST_F(OnDevice, OneReplayInManyIsMeasured) {
  const auto measured = [&](Phase phase) { return model_->profiler.snapshot(phase).runs; };
  const auto text = tiny_text(21, 1);
  reply(text, 1);
  EXPECT_EQ(measured(Phase::prefill), 1U) << "a single run has a profile";
  const int marks = card_->marks;
  reply(text, 1);
  scheduler_->finish_captures(model_);
  EXPECT_EQ(measured(Phase::prefill), 2U) << "beside the capture";
  for (int i = 1; i < 2 * PlanRunner::kMeasuredEvery; ++i) reply(text, 1);
  EXPECT_EQ(measured(Phase::prefill), 3U);
  EXPECT_EQ(card_->captures, 2) << "with and without marks";
  EXPECT_EQ(card_->marks, 3 * marks) << "recorded when it ran and when it was captured, not at each replay";
  reply(tiny_text(4, 2), 3);
  EXPECT_EQ(measured(Phase::decode), 1U) << "from the second step on";
  reply(tiny_text(4, 2), 2 + 2 * PlanRunner::kMeasuredEvery);
  EXPECT_EQ(measured(Phase::decode), 3U);
}

}  // namespace
}  // namespace orrery::runtime
