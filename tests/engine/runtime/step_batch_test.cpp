#include "engine/runtime/step_batch.h"

#include <gmock/gmock.h>

#include <numeric>

namespace orrery::runtime {
namespace {

constexpr int32_t kSpare = 77;

/// Replies of which each has read some tokens and brings one, the pages of text i being i.
struct Replies {
  explicit Replies(int64_t count) : pages(static_cast<size_t>(count)) {
    std::iota(pages.begin(), pages.end(), 0);
    for (int64_t i = 0; i < count; ++i) {
      const auto token = static_cast<int32_t>(100 + i);
      const int64_t row = batch.add_sequence({&token, 1}, 10 + i, {&pages[static_cast<size_t>(i)], 1});
      batch.add_output(row, {});
    }
  }
  std::vector<int32_t> pages;
  StepBatch batch;
};

TEST(StepBatch, IsPaddedToTheNextMultipleOfEightFromNineOn) {
  for (int64_t count = 1; count <= 64; ++count) {
    Replies replies(count);
    const int64_t wanted = count <= 8 ? count : (count + 7) / 8 * 8;
    EXPECT_EQ(replies.batch.can_be_padded(), wanted > count) << count;
    if (!replies.batch.can_be_padded()) continue;
    const compile::Bucket before = replies.batch.bucket();
    replies.batch.pad(kSpare);
    EXPECT_EQ(replies.batch.sequences(), wanted);
    EXPECT_EQ(replies.batch.tokens(), wanted);
    EXPECT_EQ(replies.batch.outputs(), wanted);
    EXPECT_EQ(replies.batch.padding(), wanted - count);
    EXPECT_EQ(replies.batch.phase(), Phase::decode);
    EXPECT_FALSE(replies.batch.can_be_padded());
    const compile::Bucket after = replies.batch.bucket();
    EXPECT_EQ(after.max_tokens, before.max_tokens) << "the same plan serves it";
    EXPECT_EQ(after.max_outputs, before.max_outputs);
    EXPECT_EQ(after.max_sequences, before.max_sequences);
  }
}

TEST(StepBatch, PaddingIsBehindAllTextsAndReadsNothingButItsOwn) {
  Replies replies(13), plain(13);
  replies.batch.pad(kSpare);
  ops::StepContext padded, alone;
  replies.batch.fill(padded);
  plain.batch.fill(alone);
  for (int64_t i = 0; i < 13; ++i) {
    EXPECT_EQ(padded.token_ids[i], alone.token_ids[i]);
    EXPECT_EQ(padded.positions[i], alone.positions[i]);
    EXPECT_EQ(padded.kv_lengths[i], alone.kv_lengths[i]);
    EXPECT_EQ(padded.output_rows[i], alone.output_rows[i]);
    EXPECT_EQ(padded.page_table[i * padded.max_pages], alone.page_table[i * alone.max_pages]);
  }
  EXPECT_EQ(padded.max_length, alone.max_length);
  EXPECT_EQ(padded.max_pages, alone.max_pages);
  for (int64_t i = 13; i < 16; ++i) {
    EXPECT_EQ(padded.positions[i], 0);
    EXPECT_EQ(padded.kv_lengths[i], 1) << "its own token";
    EXPECT_EQ(padded.sequence_starts[i + 1], i + 1);
    EXPECT_EQ(padded.output_rows[i], i);
    EXPECT_EQ(padded.page_table[i * padded.max_pages], kSpare);
    EXPECT_EQ(padded.sampling[i].recent_count, 0);
    EXPECT_EQ(padded.sampling[i].chain, nullptr);
  }
  const ops::StepContext told = replies.batch.without_padding(padded);
  EXPECT_EQ(told.tokens, 13);
  EXPECT_EQ(told.sequences, 13);
  EXPECT_EQ(told.outputs, 13);
  EXPECT_EQ(told.mean_context(), alone.mean_context());
}

TEST(StepBatch, TheNextStepKnowsNothingOfThePadding) {
  Replies replies(13);
  replies.batch.pad(kSpare);
  replies.batch.clear();
  EXPECT_TRUE(replies.batch.empty());
  EXPECT_EQ(replies.batch.padding(), 0);
}

TEST(StepBatch, OnlyRepliesArePadded) {
  const std::vector<int32_t> tokens{1, 2};
  const int32_t page = 3;
  Replies beside_a_prompt(12);
  const int64_t row = beside_a_prompt.batch.add_sequence(tokens, 0, {&page, 1});
  beside_a_prompt.batch.add_output(row + 1, {});
  EXPECT_FALSE(beside_a_prompt.batch.can_be_padded());
  Replies with_one_that_wants_nothing(12);
  with_one_that_wants_nothing.batch.add_sequence({tokens.data(), 1}, 0, {&page, 1});
  EXPECT_FALSE(with_one_that_wants_nothing.batch.can_be_padded());
  StepBatch encoder;
  for (int i = 0; i < 12; ++i) encoder.add_sequence({tokens.data(), 1}, 0, {});
  EXPECT_FALSE(encoder.can_be_padded());
}

// Kernels that take the first of the step's tokens do not ask whether there are so many.
TEST(StepBatch, AStepThatIsTooSmallForItsPlanIsRefused) {
  compile::Plan plan;
  plan.least_sizes = {{{1, 2, 0, 0}, 9, "axis 0 of x", "first"}, {{0, 0, 1, 0}, 1, "axis 1 of y", "second"}};
  const auto refusal = [&](int64_t replies) {
    ops::StepContext step;
    Replies made(replies);
    made.batch.fill(step);
    const Result<void> fits = StepBatch::check_sizes(plan, step);
    return fits.ok() ? std::string() : fits.error().to_string();
  };
  EXPECT_EQ(refusal(3),
            "axis 0 of x has 7 elements in this step, and 9 are taken (first): take fewer, or give more");
  EXPECT_EQ(refusal(4), "");
  EXPECT_EQ(refusal(5), "");
}

}  // namespace
}  // namespace orrery::runtime
