// Many replies at once with a cache that is too small for all of them: who waits, who gives way, and that
// every reply is the one that its text gives alone. On the CPU and on the test module.
#include <gmock/gmock.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

class ManyReplies : public testing::TestWithParam<bool> {
 protected:
  ManyReplies() {
    if (GetParam()) {
      auto opened = open_device(0);
      EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
      if (opened.ok()) card_ = opened.value();
    }
    scheduler_ = std::make_unique<DeviceScheduler>(1, card_);
  }

  std::shared_ptr<Model> model(int64_t kv_tokens) const {
    Model::Options options = TinyModel::exact_options();
    options.device = card_;
    options.threads = 1;  // a step waits for nothing but its own work, also on a busy machine
    options.kv_tokens = kv_tokens;
    return tiny_.model(options);
  }
  TinyReply alone(const std::vector<int32_t>& text, int64_t count) {
    return tiny_reply(*scheduler_, model(2048), text, count);
  }
  /// Nothing runs until the returned promise is set.
  std::promise<void> hold() {
    std::promise<void> go;
    scheduler_->call(DeviceScheduler::When::between_steps,
                     [held = go.get_future().share()](kernels::ThreadTeam&) { held.wait(); });
    return go;
  }

  TinyModel tiny_;
  weights::DevicePtr card_;
  std::unique_ptr<DeviceScheduler> scheduler_;
};

TEST_P(ManyReplies, WhoDoesNotFitWaitsInOrder) {
  const auto small = model(128);  // four pages
  std::vector<int> ended;
  std::vector<std::unique_ptr<TinyReply>> replies;
  std::vector<std::future<Result<DecodeOutcome>>> futures;
  auto go = hold();
  // The third would fit beside the first, but does not pass the second.
  const std::vector<int64_t> tokens{60, 90, 10};
  for (int i = 0; i < 3; ++i) {
    replies.push_back(std::make_unique<TinyReply>());
    DecodeRequest request =
        tiny_request(tiny_text(tokens[static_cast<size_t>(i)], 30), 3, replies.back().get());
    request.on_token = [&, i, take = request.on_token](const TokenStep& step) {
      const bool more = take(step);
      if (!more) ended.push_back(i);
      return more;
    };
    futures.push_back(scheduler_->decode(small, DeviceScheduler::new_sequence(small), std::move(request)));
  }
  go.set_value();
  for (auto& future : futures) {
    const auto outcome = future.get();
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(outcome.value().gave_way, 0);
  }
  EXPECT_THAT(ended, testing::ElementsAre(0, 1, 2));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(replies[i]->ids, alone(tiny_text(tokens[i], 30), 3).ids) << i;
}

TEST_P(ManyReplies, TheYoungestGivesWayAndItsReplyGoesOn) {
  const auto small = model(128);
  const auto one = tiny_text(20, 31), two = tiny_text(20, 32);
  TinyReply first, second;
  auto go = hold();
  auto older = scheduler_->decode(small, DeviceScheduler::new_sequence(small), tiny_request(one, 90, &first));
  auto younger =
      scheduler_->decode(small, DeviceScheduler::new_sequence(small), tiny_request(two, 90, &second));
  go.set_value();
  const auto a = older.get(), b = younger.get();
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a.value().gave_way, 0);
  EXPECT_EQ(b.value().gave_way, 1);
  EXPECT_EQ(first.ids, alone(one, 90).ids);
  EXPECT_EQ(second.ids, alone(two, 90).ids);
}

TEST_P(ManyReplies, WhatNobodyWorksOnGivesWayFirst) {
  const auto small = model(128);
  const auto idle = DeviceScheduler::new_sequence(small), longer_idle = DeviceScheduler::new_sequence(small);
  tiny_reply(*scheduler_, small, tiny_text(30, 33), 1, longer_idle);
  tiny_reply(*scheduler_, small, tiny_text(30, 34), 1, idle);
  const TinyReply reply = tiny_reply(*scheduler_, small, tiny_text(70, 35), 5);
  EXPECT_EQ(reply.ids, alone(tiny_text(70, 35), 5).ids);
  EXPECT_TRUE(longer_idle->kv.pages.empty());
  EXPECT_FALSE(idle->kv.pages.empty()) << "there was room without it";
  const TinyReply again = tiny_reply(*scheduler_, small, tiny_text(30, 33), 5, longer_idle);
  EXPECT_EQ(again.ids, alone(tiny_text(30, 33), 5).ids);
}

TEST_P(ManyReplies, ATextThatCannotFitAloneIsRefusedAndAReplyEndsThere) {
  const auto small = model(64);  // two pages, where the context is 256
  TinyReply reply;
  const auto refused =
      scheduler_
          ->decode(small, DeviceScheduler::new_sequence(small), tiny_request(tiny_text(65, 36), 1, &reply))
          .get();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), testing::HasSubstr("65 tokens, the KV cache holds 64"));
  const TinyReply full = tiny_reply(*scheduler_, small, tiny_text(50, 37), 100);
  EXPECT_EQ(full.outcome.value().end, DecodeOutcome::End::context);
  EXPECT_EQ(full.ids.size(), 14U);
}

TEST_P(ManyReplies, RequestsOnOneSequenceAreServedOneAfterTheOther) {
  const auto model = this->model(2048);
  const auto sequence = DeviceScheduler::new_sequence(model);
  const auto text = tiny_text(40, 38);
  auto longer = text;
  longer.push_back(5);
  TinyReply first, second;
  auto go = hold();
  auto one = scheduler_->decode(model, sequence, tiny_request(text, 20, &first));
  auto two = scheduler_->decode(model, sequence, tiny_request(longer, 20, &second));
  go.set_value();
  ASSERT_TRUE(one.get().ok());
  const auto outcome = two.get();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value().reused_tokens, 40);
  EXPECT_EQ(first.ids, alone(text, 20).ids);
  EXPECT_EQ(second.ids, alone(longer, 20).ids);
}

TEST_P(ManyReplies, APromptBesideAReplyIsReadInPartsThatFitBetweenItsTokens) {
  const auto model = this->model(2048), other = this->model(2048);
  const auto text = tiny_text(200, 39);
  const auto parts_of = [](std::vector<int64_t>& parts) {
    return [&parts, before = int64_t{0}](const PrefillStep& step) mutable {
      parts.push_back(step.done - before);
      before = step.done;
    };
  };
  std::vector<int64_t> alone, beside;
  TinyReply written, first, second;
  DecodeRequest request = tiny_request(text, 1, &first);
  request.on_prefill = parts_of(alone);
  ASSERT_TRUE(scheduler_->decode(other, DeviceScheduler::new_sequence(other), std::move(request)).get().ok());
  EXPECT_THAT(alone, testing::ElementsAre(64, 64, 64, 8)) << "as many as a step takes";

  DecodeRequest late = tiny_request(text, 1, &second);
  late.on_prefill = parts_of(beside);
  std::future<Result<DecodeOutcome>> read;
  request = tiny_request(tiny_text(5, 40), 240, &written);
  request.on_token = [&, take = request.on_token](const TokenStep& step) {
    const bool more = take(step);
    if (written.ids.size() == 10)
      read = scheduler_->decode(model, DeviceScheduler::new_sequence(model), std::move(late));
    return more;
  };
  ASSERT_TRUE(scheduler_->decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get().ok());
  ASSERT_TRUE(read.get().ok());
  EXPECT_EQ(second.ids, first.ids);
  ASSERT_FALSE(beside.empty());
  EXPECT_LE(beside.front(), StepBudget::kFirstChunk);
  for (size_t i = 1; i < beside.size(); ++i)
    EXPECT_LE(beside[i], 2 * std::max(beside[i - 1], StepBudget::kFirstChunk)) << "no jump into the unknown";
}

/// One of many: what it asks for, and when it leaves.
struct Guest {
  std::vector<int32_t> text;
  int64_t count = 0, leaves_after = 0;  // tokens
  bool shares = false;
  kernels::SamplingParams sampling;
  std::stop_source stop;
  TinyReply reply;
};

std::vector<std::unique_ptr<Guest>> guests(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  const auto system = tiny_text(40, seed);
  std::vector<std::unique_ptr<Guest>> guests;
  for (size_t i = 0; i < count; ++i) {
    auto guest = std::make_unique<Guest>();
    guest->shares = i % 3 == 0;
    if (guest->shares) guest->text = system;
    for (const int32_t token : tiny_text(between(1, 20), seed + static_cast<uint32_t>(i)))
      guest->text.push_back(token);
    guest->count = between(20, 120);
    guest->leaves_after = i % 4 == 1 ? between(1, guest->count) : guest->count;
    guest->sampling.temperature = i % 2 == 0 ? 0.0F : 1.0F;
    guest->sampling.seed = i;
    guests.push_back(std::move(guest));
  }
  return guests;
}

DecodeRequest request_of(const Guest& guest, TinyReply* reply) {
  DecodeRequest request = tiny_request(guest.text, guest.count, reply);
  request.sampling = guest.sampling;
  return request;
}

TEST_P(ManyReplies, ThatComeAndGoAtRandomAreEachAsAlone) {
  constexpr size_t kTables = 64;
  const auto small = model(384);  // twelve pages; one text takes up to six
  auto all = guests(kTables + kTables / 2, 77);
  std::latch seated(kTables);
  auto go = hold();
  // One guest at a table at a time: who leaves makes room for the next.
  std::vector<std::jthread> tables;
  for (size_t table = 0; table < kTables; ++table)
    tables.emplace_back([&, table] {
      for (size_t i = table; i < all.size(); i += kTables) {
        Guest& guest = *all[i];
        DecodeRequest request = request_of(guest, &guest.reply);
        request.share_prefix = guest.shares;
        request.stop = guest.stop.get_token();
        request.on_token = [&guest, take = request.on_token](const TokenStep& step) {
          const bool more = take(step);
          if (static_cast<int64_t>(guest.reply.ids.size()) >= guest.leaves_after) guest.stop.request_stop();
          return more;
        };
        const auto sequence = DeviceScheduler::new_sequence(small);
        auto outcome = scheduler_->decode(small, sequence, std::move(request));
        if (i == table) seated.count_down();
        guest.reply.outcome = outcome.get();
      }
    });
  seated.wait();
  go.set_value();
  tables.clear();
  int64_t gave_way = 0;
  for (const auto& guest : all) {
    ASSERT_TRUE(guest->reply.outcome.ok()) << guest->reply.outcome.error().to_string();
    gave_way += guest->reply.outcome.value().gave_way;
  }
  EXPECT_GT(gave_way, 0) << "the cache is too small for all";
  EXPECT_EQ(small->kv()->pages_in_use(), 0);
  const auto roomy = model(2048);
  for (const auto& guest : all) {
    TinyReply alone;
    const auto sequence = DeviceScheduler::new_sequence(roomy);
    ASSERT_TRUE(scheduler_->decode(roomy, sequence, request_of(*guest, &alone)).get().ok());
    alone.ids.resize(std::min(alone.ids.size(), static_cast<size_t>(guest->leaves_after)));
    EXPECT_EQ(guest->reply.ids, alone.ids);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ManyReplies, testing::Bool(),
                         [](const auto& device) { return device.param ? "Card" : "Cpu"; });

}  // namespace
}  // namespace orrery::runtime
