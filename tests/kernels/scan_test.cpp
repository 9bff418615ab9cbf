#include "kernels/scan.h"

#include <cmath>

#include "kernels/lab/scan_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::ConvolutionCase;
using lab::ScanCase;
using lab::ScanShape;

/// Decode steps, prompts and parts of them, at page ends and in the middle of pages.
const std::vector<std::vector<ScanShape::Part>> kSteps = {
    {{1, 1}}, {{1, 32}}, {{1, 33}}, {{50, 50}}, {{33, 97}, {1, 5}, {7, 40}, {64, 64}},
};

TEST(CausalConvolution, rows_agree_with_the_reference) {
  for (const int64_t channels : testing::kOddSizes)
    for (const int64_t kernel : {1, 2, 4, 7}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, " + std::to_string(kernel));
      const auto& parts = kSteps[static_cast<size_t>(channels + kernel) % kSteps.size()];
      testing::expect_rows_agree(
          ConvolutionCase({.channels = channels, .kernel = kernel, .bias = kernel != 2, .parts = parts}),
          causal_convolution_rows());
    }
}

TEST(SelectiveScan, rows_agree_with_the_reference) {
  for (const int64_t channels : testing::kOddSizes)
    for (const int64_t states : {1, 5, 16, 33, 64}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, " + std::to_string(states));
      const auto& parts = kSteps[static_cast<size_t>(channels + states) % kSteps.size()];
      testing::expect_rows_agree(ScanCase({.channels = channels, .states = states, .parts = parts}),
                                 selective_scan_rows());
    }
}

TEST(CausalConvolution, every_step_agrees) {
  for (const auto& parts : kSteps)
    for (const int64_t page_tokens : {1, 3, 32})
      testing::expect_rows_agree(
          ConvolutionCase({.channels = 37, .page_tokens = page_tokens, .parts = parts}),
          causal_convolution_rows(), testing::kOneGuard);
}

TEST(SelectiveScan, every_step_agrees) {
  for (const auto& parts : kSteps)
    for (const int64_t page_tokens : {1, 3, 32})
      testing::expect_rows_agree(ScanCase({.channels = 37, .page_tokens = page_tokens, .parts = parts}),
                                 selective_scan_rows(), testing::kOneGuard);
}

/// The reference too: whatever the row, a text's numbers are those of the text alone.
template <class Case>
void expect_chunks_equal_whole(std::span<const Row<typename Case::Op>> own) {
  constexpr int64_t kLength = 75;
  ScanShape shape{.channels = 70, .parts = {{kLength, kLength}, {kLength, kLength}}, .text = kLength};
  for (const Row<typename Case::Op>& row : testing::all_rows(own)) {
    if (!lab::refusal_of(row, Case(shape).problem).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    shape.parts = {{kLength, kLength}, {kLength, kLength}};
    const auto whole = testing::run(Case(shape), row);
    for (const int64_t chunk : {1, 2, 7, 31, 32, 33, 50}) {
      std::vector<float> held, dst[2];
      for (int64_t at = 0; at < kLength; at += chunk) {
        const int64_t tokens = std::min(chunk, kLength - at);
        shape.parts = {{tokens, at + tokens}, {tokens, at + tokens}};
        const auto step = testing::run(Case(shape, held), row, at % 3 == 0 ? 1 : 3);
        const auto middle = step[0].values.begin() + tokens * shape.channels;
        dst[0].insert(dst[0].end(), step[0].values.begin(), middle);
        dst[1].insert(dst[1].end(), middle, step[0].values.end());
        held = step[1].values;
      }
      dst[0].insert(dst[0].end(), dst[1].begin(), dst[1].end());
      EXPECT_EQ(dst[0], whole[0].values) << "chunks of " << chunk;
      EXPECT_EQ(held, whole[1].values) << "chunks of " << chunk;
    }
  }
}

TEST(CausalConvolution, chunks_equal_the_whole) {
  expect_chunks_equal_whole<ConvolutionCase>(causal_convolution_rows());
}
TEST(SelectiveScan, chunks_equal_the_whole) { expect_chunks_equal_whole<ScanCase>(selective_scan_rows()); }

/// The formulas once more, without pages or records: one channel, one state, worked out by hand.
TEST(SelectiveScan, reference_follows_the_formula) {
  const float src[] = {1, -2, 3}, delta[] = {0, 0, 0}, b[] = {1, 1, 2}, c[] = {1, 2, 1};
  const float a = -1, d = 10;
  const int32_t starts[] = {0, 3}, lengths[] = {3}, pages[] = {0};
  float dst[3], record = NAN;
  ref::selective_scan({.problem = {1, 1},
                       .src = src,
                       .delta = delta,
                       .b = b,
                       .c = c,
                       .a = &a,
                       .d = &d,
                       .dst = dst,
                       .ragged = {starts, lengths, pages, 1, 1, 3},
                       .record = {reinterpret_cast<std::byte*>(&record), 4, 32}},
                      {});
  // softplus(0) = ln 2, so e^(step a) = 1/2.
  const double step = std::log(2.0), h0 = step, h1 = h0 / 2 - 2 * step, h2 = h1 / 2 + 6 * step;
  EXPECT_NEAR(dst[0], 10 + h0, 1e-6);
  EXPECT_NEAR(dst[1], -20 + 2 * h1, 1e-6);
  EXPECT_NEAR(dst[2], 30 + h2, 1e-5);
  EXPECT_NEAR(record, h2, 1e-6);
}

TEST(CausalConvolution, reference_follows_the_formula) {
  const float src[] = {1, 2, 3}, weight[] = {100, 10, 1}, bias = 0.5F;
  const int32_t starts[] = {0, 3}, lengths[] = {3}, pages[] = {0};
  float dst[3], record[2] = {NAN, NAN};
  ref::causal_convolution({.problem = {1, 3},
                           .src = src,
                           .dst = dst,
                           .weight = weight,
                           .bias = &bias,
                           .ragged = {starts, lengths, pages, 1, 1, 3},
                           .record = {reinterpret_cast<std::byte*>(record), 8, 32}},
                          {});
  EXPECT_EQ(dst[0], 1.5F);
  EXPECT_EQ(dst[1], 12.5F);
  EXPECT_EQ(dst[2], 123.5F);
  EXPECT_EQ(record[0], 2);
  EXPECT_EQ(record[1], 3);
}

TEST(SelectiveScan, far_steps_stay_finite) {
  for (const Row<SelectiveScan>& row : testing::all_rows(selective_scan_rows())) {
    if (!lab::refusal_of(row, {1, 1}).empty()) continue;
    const testing::Guard guard = testing::placed(row, testing::Guard::after);
    const testing::Guarded<float> src({1, 1, 1}, guard), delta({-100, 100, -30}, guard),
        ones({1, 1, 1}, guard);
    const testing::Guarded<float> a({-1.0F}, guard), d({0.0F}, guard);
    const testing::Guarded<int32_t> starts({0, 3}, guard), lengths({3}, guard), pages({0}, guard);
    testing::Guarded<float> dst(3, 0.0F, guard), record(1, 0.0F, guard);
    testing::run_row(row, {1, 1},
                     {.problem = {1, 1},
                      .src = src.data(),
                      .delta = delta.data(),
                      .b = ones.data(),
                      .c = ones.data(),
                      .a = a.data(),
                      .d = d.data(),
                      .dst = dst.data(),
                      .ragged = {starts.data(), lengths.data(), pages.data(), 1, 1, 3},
                      .record = {reinterpret_cast<std::byte*>(record.data()), 4, 32}});
    const std::vector<float> values = dst.values();
    EXPECT_NEAR(values[0], 0, 1e-30) << row.name;
    EXPECT_NEAR(values[1], 100, 1e-4) << row.name;
    EXPECT_NEAR(values[2], 100, 1e-4) << row.name;
  }
}

TEST(SelectiveScan, refuses_what_it_cannot_hold) {
  EXPECT_NE(lab::refusal_of(selective_scan_rows().back(), {0, 16}), "");
  EXPECT_NE(lab::refusal_of(selective_scan_rows().back(), {4, 0}), "");
  EXPECT_NE(lab::refusal_of(selective_scan_rows().front(), {4, 65}), "");
  EXPECT_EQ(lab::refusal_of(selective_scan_rows().back(), {4, 65}), "");
  EXPECT_NE(lab::refusal_of(causal_convolution_rows().back(), {4, 0}), "");
}

}  // namespace
}  // namespace orrery::kernels
