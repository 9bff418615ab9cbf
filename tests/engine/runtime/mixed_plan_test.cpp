// Models whose nodes run partly in the program and partly on a card: the numbers, the states, and what
// happens when the card fails. On the test module, whose rows are the CPU's.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "tests/engine/runtime/placed.h"
#include "tests/support/counting_device.h"
#include "tests/support/variable.h"

namespace orrery::runtime {
namespace {

using testing::Contains;
using testing::HasSubstr;

weights::DevicePtr open_or_fail(int index = 0) {
  auto opened = open_device(index);
  EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
  return opened.ok() ? opened.value() : nullptr;
}

class Mixed : public testing::Test {
 protected:
  using Scopes = std::vector<std::string>;

  static Model::Options options(const weights::DevicePtr& home = {}) {
    Model::Options options = TinyModel::exact_options();
    options.device = home;
    options.threads = 1;
    return options;
  }
  std::shared_ptr<const Version> on_card(const Scopes& scopes, const weights::DevicePtr& card) const {
    std::vector<weights::DevicePtr> cards;
    if (card) cards.push_back(card);
    return placed_version(tiny_.graph(), all_on(card ? to_string(card->id()) : "cuda:0", scopes), "cpu",
                          std::move(cards));
  }
  std::shared_ptr<const Version> on_cpu(const Scopes& scopes) const {
    return placed_version(tiny_.graph(), all_on("cpu", scopes), "cuda:0");
  }
  /// At home on the CPU, some scopes on the card.
  std::shared_ptr<Model> with_card(const Scopes& scopes, const weights::DevicePtr& card) const {
    return std::make_shared<Model>(tiny_.weights, on_card(scopes, card), options());
  }
  TinyReply plain(const std::vector<int32_t>& text, int64_t count) {
    return tiny_reply(cpu_, tiny_.model(options()), text, count);
  }
  static void expect_same(const TinyReply& a, const TinyReply& b) {
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_EQ(a.logprobs, b.logprobs) << "bit for bit";
  }

  TinyModel tiny_;
  DeviceScheduler cpu_{1};
  const std::vector<int32_t> text_ = tiny_text(21, 1);
};

TEST_F(Mixed, LayersOnTheCardGiveTheCpusNumbers) {
  const auto card = open_or_fail();
  const TinyReply alone = plain(text_, 40);
  for (const Scopes& scopes : {Scopes{"layers.0"}, Scopes{"layers.1"}, Scopes{"layers.0", "output"},
                               Scopes{"sampler"}, Scopes{"layers.0", "layers.1", "output", "sampler"}})
    expect_same(tiny_reply(cpu_, with_card(scopes, card), text_, 40), alone);
}

TEST_F(Mixed, LayersOfACardsModelRunOnTheCpu) {
  const auto card = open_or_fail();
  DeviceScheduler there(1, card);
  const TinyReply alone = plain(text_, 40);
  for (const Scopes& scopes : {Scopes{"layers.0"}, Scopes{"output", "sampler"}}) {
    const auto model = std::make_shared<Model>(tiny_.weights, on_cpu(scopes), options(card));
    expect_same(tiny_reply(there, model, text_, 40), alone);
  }
}

TEST_F(Mixed, SegmentsAreReplayed) {
  const auto card = std::make_shared<kernels::CountingDevice>(open_or_fail());
  const auto model = with_card({"layers.0", "output"}, card);
  model->profiler.set_enabled(false);
  tiny_reply(cpu_, model, tiny_text(20, 2), 3);
  cpu_.finish_captures(model);
  card->waits = 0;
  expect_same(tiny_reply(cpu_, model, text_, 12), plain(text_, 12));
  EXPECT_EQ(card->captures, 2) << "one graph a segment";
  EXPECT_EQ(card->launches, 2 * 11) << "all steps but the prompt's";
  EXPECT_EQ(card->waits, 2 * 12);
}

TEST_F(Mixed, TransfersAndBothSidesAreMeasured) {
  const auto model = with_card({"layers.1"}, open_or_fail());
  tiny_reply(cpu_, model, text_, 12);
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const ProfileSnapshot snapshot = model->profiler.snapshot(phase);
    EXPECT_EQ(snapshot.runs, 1U);
    size_t transfers = 0;
    for (size_t i = 0; i < snapshot.nodes.size(); ++i) {
      const graph::Node& node = snapshot.fused->node(snapshot.nodes[i]);
      EXPECT_GE(snapshot.times[i], 0) << node.path() << ": times go forwards";
      transfers += graph::is_transfer(node) ? 1 : 0;
    }
    EXPECT_GE(transfers, 2U);
  }
}

TEST_F(Mixed, AMovedStateKeepsWhatItHolds) {
  const auto card = open_or_fail();
  const auto model = tiny_.model(options()), alone = tiny_.model(options());
  const auto home = model->version();
  const auto sequence = DeviceScheduler::new_sequence(model), beside = DeviceScheduler::new_sequence(alone);
  std::vector<int32_t> text = tiny_text(70, 3);
  int64_t read = 0;
  const auto first = on_card({"layers.0"}, card), second = on_card({"layers.1"}, card),
             both = on_card({"layers.0", "layers.1"}, card);
  // When it comes back to `second`, the state lies elsewhere on the card than where its graphs were captured.
  for (const auto& version : {home, first, both, second, home, both, second}) {
    EXPECT_TRUE(model->keeps_context(*version, *sequence));
    model->set_version(version);
    const TinyReply reply = tiny_reply(cpu_, model, text, 9, sequence);
    EXPECT_EQ(reply.outcome.value().reused_tokens, read) << "nothing is read again";
    expect_same(reply, tiny_reply(cpu_, alone, text, 9, beside));
    text.insert(text.end(), reply.ids.begin(), reply.ids.end());
    read = static_cast<int64_t>(text.size()) - 1;
  }
}

TEST_F(Mixed, WhatAPlacementTookIsFreedWhenItIsUndone) {
  const auto card = open_or_fail();
  const auto model = with_card({}, card);
  const auto listed = [&] {
    std::vector<std::string> forms;
    for (const weights::DerivedWeight& form : model->weights().derived())
      forms.push_back(fmt::format("{}, {}: {}", form.tensor, form.transform, form.bytes));
    return forms;
  };
  const TinyReply before = tiny_reply(cpu_, model, text_, 4);
  const std::vector<std::string> at_home = listed();
  model->set_version(on_card({"layers.1"}, card));
  tiny_reply(cpu_, model, text_, 4);
  EXPECT_GT(listed().size(), at_home.size()) << "nothing was uploaded";
  EXPECT_THAT(listed(), Contains(HasSubstr("on ")));
  cpu_.finish_captures(model);  // a plan lives while a step of it is captured
  model->set_version(on_card({}, nullptr));
  EXPECT_EQ(listed(), std::vector<std::string>()) << "a version that no step runs still holds weights";
  expect_same(tiny_reply(cpu_, model, text_, 4), before);
  EXPECT_EQ(listed(), at_home);
}

TEST_F(Mixed, TwoSchedulersShareACard) {
  const auto card = open_or_fail();
  DeviceScheduler there(1, card);
  const TinyReply alone = plain(text_, 60);
  const auto mixed = with_card({"layers.0", "output"}, card);
  const auto whole = std::make_shared<Model>(tiny_.weights, TinyModel::version(tiny_.graph()), options(card));
  std::thread other([&] {
    for (int i = 0; i < 10; ++i) expect_same(tiny_reply(there, whole, text_, 60), alone);
  });
  for (int i = 0; i < 10; ++i) expect_same(tiny_reply(cpu_, mixed, text_, 60), alone);
  other.join();
}

TEST_F(Mixed, OutOfMemoryFailsOnlyTheModelThatNeedsTheCard) {
  const Variable none("ORRERY_FAKE_DEVICE_MB", "0");
  const auto mixed = with_card({"layers.0"}, open_or_fail(1));
  TinyReply failed;
  const auto outcome =
      cpu_.decode(mixed, DeviceScheduler::new_sequence(mixed), tiny_request(text_, 5, &failed)).get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("cuda:1"));
  EXPECT_EQ(plain(text_, 5).ids.size(), 5U);
}

TEST_F(Mixed, ALostCardFailsOnlyWhatRunsOnIt) {
  const Variable lost("ORRERY_FAKE_DEVICE_LOST_AFTER", "20");
  const auto card = open_or_fail(1);
  const auto mixed = with_card({"layers.0"}, card);
  const auto alone = tiny_.model(options());
  TinyReply failed, fine;
  auto first = cpu_.decode(mixed, DeviceScheduler::new_sequence(mixed), tiny_request(text_, 60, &failed));
  auto second = cpu_.decode(alone, DeviceScheduler::new_sequence(alone), tiny_request(text_, 60, &fine));
  const auto outcome = first.get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::device);
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("was lost"));
  ASSERT_TRUE(second.get().ok());
  EXPECT_EQ(fine.ids.size(), 60U);
  expect_same(tiny_reply(cpu_, mixed, text_, 60), plain(text_, 60));
  EXPECT_EQ(card->epoch(), 2U) << "made anew once";
}

TEST_F(Mixed, WithoutACardItIsRefused) {
  const auto model = with_card({"layers.0"}, nullptr);
  kernels::ThreadTeam team(1);
  const auto plan = model->plan(*model->version(), compile::bucket_for(1, 1, 1), team);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().to_string(), HasSubstr("cuda:0, which is not open"));
}

}  // namespace
}  // namespace orrery::runtime
