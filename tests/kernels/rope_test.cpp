#include "kernels/rope.h"

#include <numbers>

#include "kernels/lab/rope_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using testing::Guard;
using testing::Guarded;

TEST(Rope, rows_agree_with_the_reference) {
  constexpr std::pair<int64_t, int64_t> kDims[] = {{2, 2},   {8, 6},     {32, 32},   {64, 64}, {64, 16},
                                                   {80, 34}, {128, 128}, {100, 100}, {64, 0}};
  for (const Rope::Style style : {Rope::Style::interleaved, Rope::Style::half}) {
    for (const auto& [head_dim, rope_dims] : kDims) {
      for (const int64_t tokens : {int64_t{1}, int64_t{41}}) {
        for (const int32_t position : {0, 1000, 131'000}) {
          SCOPED_TRACE(std::to_string(head_dim) + "/" + std::to_string(rope_dims) + " at " +
                       std::to_string(position));
          const lab::RopeCase c({.style = style,
                                 .tokens = tokens,
                                 .heads = 5,
                                 .head_dim = head_dim,
                                 .rope_dims = rope_dims,
                                 .first_position = position,
                                 .factors = tokens > 1,
                                 .in_place = position == 1000});
          testing::expect_rows_agree(c, rope_rows());
        }
      }
    }
  }
}

TEST(Rope, quarter_turns_keep_their_signs) {
  // base 1 and frequency pi / 2 a position: each step of position is a quarter turn of (x, y).
  const float expected[4][2] = {{3, 4}, {-4, 3}, {-3, -4}, {4, -3}};
  for (const Row<Rope>& row : testing::all_rows(rope_rows())) {
    if (!lab::refusal_of(row, {Rope::Style::interleaved, 2, 2}).empty()) continue;
    const Guard guard = testing::placed(row, Guard::after);
    const Guarded<float> src({3, 4}, guard);
    for (int32_t position = 0; position < 9; ++position) {
      const Guarded<int32_t> positions({position}, guard);
      Guarded<float> rotated(2, 0.0F, guard);
      testing::run_row(row, {Rope::Style::interleaved, 2, 2},
                       {.src = src.data(),
                        .dst = rotated.data(),
                        .src_stride = 2,
                        .dst_stride = 2,
                        .positions = positions.data(),
                        .tokens = 1,
                        .heads = 1,
                        .head_dim = 2,
                        .rope_dims = 2,
                        .base = 1.0F,
                        .scaling = {RopeScaling::Kind::linear, 2.0 / std::numbers::pi}});
      const std::vector<float> dst = rotated.values();
      EXPECT_NEAR(dst[0], expected[position % 4][0], 2e-6) << row.name << " " << position;
      EXPECT_NEAR(dst[1], expected[position % 4][1], 2e-6) << row.name << " " << position;
    }
  }
}

TEST(Rope, rows_scale_turns_alike) {
  RopeScaling llama3{RopeScaling::Kind::llama3, 8.0, 1.0, 4.0, 512.0};
  RopeScaling yarn = yarn_scaling(4.0, 1.0, 32.0, 512.0, 100000.0, 64);
  yarn.attention_factor = 1.25F;
  for (const RopeScaling& scaling : {llama3, yarn}) {
    for (const Rope::Style style : {Rope::Style::interleaved, Rope::Style::half}) {
      const lab::RopeCase c({.style = style,
                             .tokens = 7,
                             .heads = 3,
                             .head_dim = 80,
                             .rope_dims = 64,
                             .first_position = 1000,
                             .scaling = scaling});
      testing::expect_rows_agree(c, rope_rows(), testing::kOneGuard);
    }
  }
}

TEST(Rope, scaling_keeps_fast_pairs_and_divides_slow_ones) {
  // llama3: 512 tokens of original context; kept from 4 turns on, divided below 1, half of each at 2.5.
  const RopeScaling llama3{RopeScaling::Kind::llama3, 8.0, 1.0, 4.0, 512.0};
  EXPECT_DOUBLE_EQ(scaled_turns(llama3, 0, 4.0 / 512), 4.0 / 512);
  EXPECT_DOUBLE_EQ(scaled_turns(llama3, 0, 0.5 / 512), 0.5 / 512 / 8);
  EXPECT_DOUBLE_EQ(scaled_turns(llama3, 0, 2.5 / 512), 2.5 / 512 * (0.5 + 0.5 / 8));
  // yarn: with base e^10 and 20 dims, pair i turns e^-i / 2 pi a position. Over 2 pi e^8.5 tokens pair 8.5
  // turns once and pair 8.5 - ln 32 = 5.03 turns 32 times: the mix goes from 5 to 9.
  const double context = 2 * std::numbers::pi * std::exp(8.5);
  const RopeScaling yarn = yarn_scaling(4.0, 1.0, 32.0, context, std::exp(10.0), 20);
  EXPECT_DOUBLE_EQ(yarn.fast, 5.0);
  EXPECT_DOUBLE_EQ(yarn.slow, 9.0);
  EXPECT_DOUBLE_EQ(scaled_turns(yarn, 5, 0.25), 0.25);
  EXPECT_DOUBLE_EQ(scaled_turns(yarn, 9, 0.25), 0.0625);
}

TEST(Rope, refuses_what_it_cannot_rotate) {
  const Row<Rope>& reference = testing::reference_of(rope_rows());
  EXPECT_NE(lab::refusal_of(reference, {Rope::Style::half, 64, 63}), "");
  EXPECT_NE(lab::refusal_of(reference, {Rope::Style::half, 64, 66}), "");
  EXPECT_EQ(lab::refusal_of(reference, {Rope::Style::half, 2048, 2048}), "");
  EXPECT_NE(lab::refusal_of(rope_rows().front(), {Rope::Style::half, 2048, 2048}), "");
}

}  // namespace
}  // namespace orrery::kernels
