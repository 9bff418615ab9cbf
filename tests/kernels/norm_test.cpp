#include "kernels/norm.h"

#include "kernels/lab/norm_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

TEST(Norm, rows_agree_with_the_reference) {
  for (const Norm::Kind kind : {Norm::Kind::rms, Norm::Kind::layer}) {
    for (const int64_t cols : testing::kOddSizes) {
      for (const int64_t tokens : {int64_t{1}, int64_t{3}, int64_t{40}}) {
        for (const bool residual : {false, true}) {
          SCOPED_TRACE(std::to_string(cols) + " x " + std::to_string(tokens));
          const lab::NormCase c({.kind = kind,
                                 .residual = residual,
                                 .bias = kind == Norm::Kind::layer && tokens != 3,
                                 .tokens = tokens,
                                 .cols = cols,
                                 .weight_rows = residual ? 1 : 4,
                                 .in_place = residual && tokens == 3});
          testing::expect_rows_agree(c, norm_rows());
        }
      }
    }
  }
}

TEST(Norm, reference_is_the_formula) {
  const float src[] = {3.0F, -4.0F};
  const float weight[] = {1.0F, 2.0F};
  const float bias[] = {0.5F, 0.0F};
  float dst[2];
  Norm::Args args{
      .kind = Norm::Kind::rms, .src = src, .dst = dst, .weight = weight, .tokens = 1, .cols = 2, .eps = 0.5F};
  testing::reference_of(norm_rows()).run(args, {});
  EXPECT_FLOAT_EQ(dst[0], 3.0F / std::sqrt(13.0F));  // mean square 12.5
  EXPECT_FLOAT_EQ(dst[1], -8.0F / std::sqrt(13.0F));
  args.kind = Norm::Kind::layer;
  args.bias = bias;
  testing::reference_of(norm_rows()).run(args, {});
  EXPECT_FLOAT_EQ(dst[0], 3.5F / std::sqrt(12.75F) + 0.5F);  // mean -0.5, variance 12.25
  EXPECT_FLOAT_EQ(dst[1], -7.0F / std::sqrt(12.75F));
}

TEST(Norm, rows_of_weights_take_turns) {
  const float src[] = {3.0F, -4.0F, 3.0F, -4.0F, 3.0F, -4.0F};
  const float weight[] = {1.0F, 2.0F, 10.0F, 20.0F};
  float dst[6];
  const Norm::Args args{
      .src = src, .dst = dst, .weight = weight, .tokens = 3, .cols = 2, .weight_rows = 2, .eps = 0.5F};
  testing::reference_of(norm_rows()).run(args, {});
  EXPECT_FLOAT_EQ(dst[2], 10.0F * dst[0]);
  EXPECT_FLOAT_EQ(dst[3], 10.0F * dst[1]);
  EXPECT_FLOAT_EQ(dst[4], dst[0]);
}

TEST(Norm, refuses_rows_without_columns) {
  for (const Row<Norm>& row : testing::all_rows(norm_rows()))
    EXPECT_NE(lab::refusal_of(row, {Norm::Kind::rms, 0, false}), "") << row.name;
}

}  // namespace
}  // namespace orrery::kernels
