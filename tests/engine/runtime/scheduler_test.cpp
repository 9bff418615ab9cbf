#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

class Scheduler : public testing::Test {
 protected:
  static void expect_same(const TinyReply& a, const TinyReply& b, float tolerance = 1e-4F) {
    EXPECT_EQ(a.ids, b.ids);
    ASSERT_EQ(a.logprobs.size(), b.logprobs.size());
    for (size_t i = 0; i < a.logprobs.size(); ++i) EXPECT_NEAR(a.logprobs[i], b.logprobs[i], tolerance) << i;
  }

  TinyModel tiny_;
  DeviceScheduler scheduler_{2};
};

TEST_F(Scheduler, TwoSequencesInOneStepGiveWhatEachGivesAlone) {
  const auto model = tiny_.model();
  const auto short_text = tiny_text(5, 1), long_text = tiny_text(23, 2);
  const TinyReply a = tiny_reply(scheduler_, model, short_text, 12),
                  b = tiny_reply(scheduler_, model, long_text, 12);
  TinyReply together_a, together_b;
  // Both are submitted while the scheduler is busy, so that they share every step.
  std::promise<void> go;
  auto held = scheduler_.call(DeviceScheduler::When::between_steps,
                              [&](kernels::ThreadTeam&) { go.get_future().wait(); });
  auto first = scheduler_.decode(model, DeviceScheduler::new_sequence(model),
                                 tiny_request(short_text, 12, &together_a));
  auto second = scheduler_.decode(model, DeviceScheduler::new_sequence(model),
                                  tiny_request(long_text, 12, &together_b));
  const size_t before = model->profiler.snapshot(Phase::decode).runs;
  go.set_value();
  held.get();
  ASSERT_TRUE(first.get().ok());
  ASSERT_TRUE(second.get().ok());
  expect_same(together_a, a);
  expect_same(together_b, b);
  EXPECT_EQ(model->profiler.snapshot(Phase::decode).runs - before, 11U) << "one step for both";
}

TEST_F(Scheduler, APromptInChunksGivesWhatItGivesAtOnce) {
  const auto text = tiny_text(45, 3);
  const TinyReply at_once = tiny_reply(scheduler_, tiny_.model(), text, 8);
  Model::Options options = TinyModel::exact_options();
  options.batch_tokens = 7;
  expect_same(tiny_reply(scheduler_, tiny_.model(options), text, 8), at_once);
}

TEST_F(Scheduler, FusedGivesWhatUnfusedGives) {
  const auto text = tiny_text(20, 4);
  const auto fused = tiny_.model();
  const auto plain = std::make_shared<Model>(tiny_.weights, TinyModel::version(tiny_.graph(), false),
                                             TinyModel::exact_options());
  ASSERT_LT(fused->version()->fused->order().size(), plain->version()->fused->order().size());
  expect_same(tiny_reply(scheduler_, fused, text, 10), tiny_reply(scheduler_, plain, text, 10));
}

TEST_F(Scheduler, AContinuedSequenceReadsOnlyWhatIsNew) {
  const auto model = tiny_.model();
  const auto sequence = DeviceScheduler::new_sequence(model);
  auto text = tiny_text(40, 5);
  tiny_reply(scheduler_, model, {text.begin(), text.begin() + 30}, 1, sequence);
  const TinyReply continued = tiny_reply(scheduler_, model, text, 6, sequence);
  EXPECT_EQ(continued.outcome.value().reused_tokens, 30);
  expect_same(continued, tiny_reply(scheduler_, model, text, 6));
  text[10] = (text[10] + 1) % TinyModel::kVocabulary;
  const TinyReply changed = tiny_reply(scheduler_, model, text, 6, sequence);
  EXPECT_EQ(changed.outcome.value().reused_tokens, 10);
  expect_same(changed, tiny_reply(scheduler_, model, text, 6));
  const TinyReply again = tiny_reply(scheduler_, model, text, 6, sequence);
  EXPECT_EQ(again.outcome.value().reused_tokens, 39) << "the last token is read again for its logits";
  expect_same(again, changed);
}

TEST_F(Scheduler, ANewSequenceSharesWhatOthersHaveRead) {
  const auto model = tiny_.model();
  const auto system = tiny_text(70, 11);
  auto one = system, two = system;
  for (int i = 0; i < 10; ++i) one.push_back(i), two.push_back(90 - i);
  const auto reply = [&](const std::vector<int32_t>& text, const std::shared_ptr<Sequence>& sequence) {
    TinyReply written;
    DecodeRequest request = tiny_request(text, 6, &written);
    request.share_prefix = true;
    written.outcome = scheduler_.decode(model, sequence, std::move(request)).get();
    return written;
  };
  const TinyReply alone = tiny_reply(scheduler_, tiny_.model(), two, 6);
  const auto living = DeviceScheduler::new_sequence(model);
  reply(one, living);
  const TinyReply beside = reply(two, DeviceScheduler::new_sequence(model));
  ASSERT_TRUE(beside.outcome.ok());
  EXPECT_EQ(beside.outcome.value().reused_tokens, 64) << "of a chat that is there";
  expect_same(beside, alone);
  const TinyReply after = reply(two, DeviceScheduler::new_sequence(model));
  EXPECT_EQ(after.outcome.value().reused_tokens, 64) << "of one that ended";
  expect_same(after, alone);
  expect_same(reply(one, living), tiny_reply(scheduler_, tiny_.model(), one, 6));
}

TEST_F(Scheduler, AGrammarIsAskedForWhatMayFollowBeforeEachDraw) {
  const auto model = tiny_.model();
  const auto text = tiny_text(9, 14);
  // The next token must be one more than the last one was, or 7 to begin with.
  std::vector<std::vector<int32_t>> asked;
  std::vector<uint32_t> mask(TinyModel::kVocabulary / 32 + 1);
  const auto reply = [&](auto allows) {
    TinyReply reply;
    DecodeRequest request = tiny_request(text, 5, &reply);
    request.sampling.temperature = 1;
    request.chain.emplace().allowed = [&, allows](std::span<const int32_t> tokens) {
      asked.emplace_back(tokens.begin(), tokens.end());
      std::fill(mask.begin(), mask.end(), 0);
      if (const int32_t next = allows(tokens); next >= 0)
        mask[static_cast<size_t>(next) / 32] |= 1U << (next % 32);
      return std::span<const uint32_t>(mask);
    };
    reply.outcome = scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get();
    return reply;
  };
  const TinyReply counted =
      reply([](std::span<const int32_t> tokens) { return tokens.size() == 9 ? 7 : tokens.back() + 1; });
  ASSERT_TRUE(counted.outcome.ok());
  EXPECT_EQ(counted.ids, (std::vector<int32_t>{7, 8, 9, 10, 11}));
  ASSERT_EQ(asked.size(), 5U);
  EXPECT_EQ(asked[0], text);
  EXPECT_EQ(asked[4].size(), 13U);
  const TinyReply none = reply([](std::span<const int32_t>) { return -1; });
  ASSERT_FALSE(none.outcome.ok());
  EXPECT_THAT(none.outcome.error().to_string(), testing::HasSubstr("None of the tokens that may follow"));
}

TEST_F(Scheduler, MirostatGoesOnFromTokenToToken) {
  const auto model = tiny_.model();
  const auto reply = [&](float eta) {
    TinyReply reply;
    DecodeRequest request = tiny_request(tiny_text(9, 15), 40, &reply);
    request.sampling = {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 3};
    kernels::SamplerChain& chain = request.chain.emplace().settings;
    chain.mirostat = 2;
    chain.mirostat_tau = 0.5F;
    chain.mirostat_eta = eta;
    reply.outcome = scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get();
    return reply.ids;
  };
  const auto held = reply(1.0F);
  EXPECT_EQ(reply(1.0F), held);
  EXPECT_NE(reply(0.0F), held) << "without learning, mu stays where it began";
}

TEST_F(Scheduler, AFullContextIsShiftedWhenThatIsWanted) {
  Model::Options options = TinyModel::exact_options();
  options.context = 64;
  const auto model = tiny_.model(options);
  const auto text = tiny_text(60, 12);
  TinyReply reply;
  DecodeRequest request = tiny_request(text, 40, &reply);
  request.shift = 10;
  reply.outcome = scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get();
  ASSERT_TRUE(reply.outcome.ok());
  EXPECT_EQ(reply.ids.size(), 40U);
  EXPECT_EQ(reply.outcome.value().forgotten, 54) << "27 of the 54 behind the first ten, twice";
  // What follows the shift is what a text gives that never held the forgotten part.
  std::vector<int32_t> shifted(text.begin(), text.begin() + 10);
  shifted.insert(shifted.end(), text.begin() + 37, text.end());
  shifted.insert(shifted.end(), reply.ids.begin(), reply.ids.begin() + 4);
  const TinyReply never = tiny_reply(scheduler_, tiny_.model(), shifted, 20);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(reply.ids[4 + i], never.ids[i]) << i;
}

TEST_F(Scheduler, PagesOfAStoppedSequenceAreReused) {
  Model::Options options = TinyModel::exact_options();
  options.kv_tokens = 96;  // three pages
  const auto model = tiny_.model(options);
  for (int i = 0; i < 20; ++i) tiny_reply(scheduler_, model, tiny_text(60, 6), 20);
  EXPECT_EQ(model->kv()->pages_in_use(), 0);
}

TEST_F(Scheduler, TextsLongerThanTheContextAreRefused) {
  const auto model = tiny_.model();
  TinyReply reply;
  const auto outcome =
      scheduler_
          .decode(model, DeviceScheduler::new_sequence(model), tiny_request(tiny_text(256, 9), 1, &reply))
          .get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().to_string(), testing::HasSubstr("256"));
}

TEST_F(Scheduler, TheEndOfTheContextEndsTheReply) {
  const auto model = tiny_.model();
  const TinyReply reply = tiny_reply(scheduler_, model, tiny_text(250, 9), 1000);
  EXPECT_EQ(reply.outcome.value().end, DecodeOutcome::End::context);
  EXPECT_EQ(reply.ids.size(), 6U);
}

TEST_F(Scheduler, AStopRequestEndsBetweenStepsWithWhatIsThere) {
  const auto model = tiny_.model();
  std::stop_source stop;
  DecodeRequest request;
  request.tokens = tiny_text(10, 10);
  request.stop = stop.get_token();
  int64_t count = 0;
  request.on_token = [&](const TokenStep&) {
    if (++count == 5) stop.request_stop();
    return true;
  };
  const auto outcome =
      scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value().end, DecodeOutcome::End::cancelled);
  EXPECT_EQ(outcome.value().generated, 5);
  EXPECT_EQ(count, 5);
}

TEST_F(Scheduler, AnExceptionInACallbackFailsOnlyThatSequence) {
  const auto model = tiny_.model();
  DecodeRequest request;
  request.tokens = tiny_text(10, 11);
  request.on_token = [](const TokenStep&) -> bool { throw std::runtime_error("the window is gone"); };
  auto thrown = scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request));
  TinyReply other;
  auto fine = scheduler_.decode(model, DeviceScheduler::new_sequence(model),
                                tiny_request(tiny_text(4, 12), 20, &other));
  const auto outcome = thrown.get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().to_string(), testing::HasSubstr("the window is gone"));
  EXPECT_TRUE(fine.get().ok());
}

TEST_F(Scheduler, ManySequencesComeAndGo) {
  const auto model = tiny_.model();
  std::vector<TinyReply> alone;
  for (uint32_t i = 0; i < 8; ++i)
    alone.push_back(tiny_reply(scheduler_, model, tiny_text(3 + 2 * i, 20 + i), 10));
  std::vector<std::unique_ptr<TinyReply>> replies;
  std::vector<std::future<Result<DecodeOutcome>>> futures;
  std::vector<std::stop_source> stops(120);
  for (uint32_t i = 0; i < 120; ++i) {
    replies.push_back(std::make_unique<TinyReply>());
    DecodeRequest request =
        tiny_request(tiny_text(3 + 2 * (i % 8), 20 + i % 8), i % 5 == 4 ? 200 : 10, replies[i].get());
    request.stop = stops[i].get_token();
    futures.push_back(scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)));
    if (i % 5 == 4) stops[i].request_stop();
  }
  for (uint32_t i = 0; i < 120; ++i) {
    const auto outcome = futures[i].get();
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    if (i % 5 != 4) expect_same(*replies[i], alone[i % 8]);
  }
  EXPECT_EQ(model->kv()->pages_in_use(), 0);
}

TEST_F(Scheduler, ScoreIsWhatTheStepsSaid) {
  const auto model = tiny_.model();
  const auto text = tiny_text(10, 30);
  const TinyReply reply = tiny_reply(scheduler_, model, text, 100);
  DecodeRequest request;
  request.tokens = text;
  request.tokens.insert(request.tokens.end(), reply.ids.begin(), reply.ids.end());
  request.score = true;
  request.top = 3;
  const auto score = scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get();
  ASSERT_TRUE(score.ok()) << score.error().to_string();
  ASSERT_EQ(score.value().logprobs.size(), 109U);
  for (size_t i = 0; i < 100; ++i) EXPECT_NEAR(score.value().logprobs[9 + i], reply.logprobs[i], 1e-4) << i;
  ASSERT_TRUE(score.value().last);
  EXPECT_EQ(score.value().last->top_count, 3);
}

TEST_F(Scheduler, ABypassedLayerRunsAtTheNextStepAndUndoBringsTheOldBack) {
  const auto model = tiny_.model();
  const auto whole = model->version();
  const auto text = tiny_text(30, 40);
  const auto sequence = DeviceScheduler::new_sequence(model);
  const TinyReply before = tiny_reply(scheduler_, model, text, 8, sequence);

  const auto shorter = TinyModel::version(tiny_.graph({0}));
  EXPECT_FALSE(model->keeps_context(*shorter, *sequence)) << "layer 1 now reads other numbers";
  model->set_version(shorter);
  const TinyReply without = tiny_reply(scheduler_, model, text, 8, sequence);
  EXPECT_EQ(without.outcome.value().reused_tokens, 0);
  EXPECT_NE(without.ids, before.ids);
  const auto fresh = std::make_shared<Model>(tiny_.weights, shorter, TinyModel::exact_options());
  expect_same(without, tiny_reply(scheduler_, fresh, text, 8));

  model->set_version(whole);
  expect_same(tiny_reply(scheduler_, model, text, 8, sequence), before);
}

TEST_F(Scheduler, WithoutItsLastLayerTheContextIsKept) {
  const auto model = tiny_.model();
  const auto text = tiny_text(30, 41);
  const auto sequence = DeviceScheduler::new_sequence(model);
  tiny_reply(scheduler_, model, text, 1, sequence);
  const auto whole = model->version(), shorter = TinyModel::version(tiny_.graph({1}));
  EXPECT_TRUE(model->keeps_context(*shorter, *sequence));
  model->set_version(shorter);
  EXPECT_EQ(tiny_reply(scheduler_, model, text, 4, sequence).outcome.value().reused_tokens, 29);
  const auto longer = tiny_text(60, 41);
  tiny_reply(scheduler_, model, longer, 1, sequence);
  model->set_version(whole);
  const TinyReply back = tiny_reply(scheduler_, model, longer, 4, sequence);
  EXPECT_EQ(back.outcome.value().reused_tokens, 30) << "layer 1 has not seen the other 30";
  const auto fresh = tiny_.model();
  expect_same(back, tiny_reply(scheduler_, fresh, longer, 4));
}

TEST_F(Scheduler, AnEditWhileItWritesIsReadAgainAndGoesOn) {
  const auto model = tiny_.model();
  const auto shorter = TinyModel::version(tiny_.graph({0}));
  TinyReply reply;
  DecodeRequest request = tiny_request(tiny_text(12, 42), 20, &reply);
  request.on_token = [&, take = request.on_token](const TokenStep& step) {
    const bool more = take(step);
    if (reply.ids.size() == 10) model->set_version(shorter);
    return more;
  };
  const auto outcome =
      scheduler_.decode(model, DeviceScheduler::new_sequence(model), std::move(request)).get();
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  auto text = tiny_text(12, 42);
  text.insert(text.end(), reply.ids.begin(), reply.ids.begin() + 10);
  const auto fresh = std::make_shared<Model>(tiny_.weights, shorter, TinyModel::exact_options());
  const TinyReply rest = tiny_reply(scheduler_, fresh, text, 10);
  EXPECT_EQ(rest.ids, std::vector<int32_t>(reply.ids.begin() + 10, reply.ids.end()));
}

TEST_F(Scheduler, ModelsTakeTurns) {
  const auto a = tiny_.model(), b = tiny_.model();
  TinyReply long_reply, short_reply;
  size_t meanwhile = 0;
  auto first = scheduler_.decode(a, DeviceScheduler::new_sequence(a),
                                 tiny_request(tiny_text(4, 50), 240, &long_reply));
  DecodeRequest request = tiny_request(tiny_text(4, 51), 5, &short_reply);
  request.on_token = [&, take = request.on_token](const TokenStep& step) {
    meanwhile = long_reply.ids.size();
    return take(step);
  };
  ASSERT_TRUE(scheduler_.decode(b, DeviceScheduler::new_sequence(b), std::move(request)).get().ok());
  ASSERT_TRUE(first.get().ok());
  EXPECT_LT(meanwhile, 240U);
}

TEST(SchedulerEnd, WhatIsLeftFailsAsCancelled) {
  const TinyModel tiny;
  const auto model = tiny.model();
  std::future<Result<DecodeOutcome>> future;
  {
    DeviceScheduler scheduler(2);
    DecodeRequest request;
    request.tokens = tiny_text(10, 60);
    request.on_token = [](const TokenStep&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return true;
    };
    future = scheduler.decode(model, DeviceScheduler::new_sequence(model), std::move(request));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto outcome = future.get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace orrery::runtime
