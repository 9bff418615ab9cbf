#include "kernels/norm.h"

#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using testing::Guard;
using testing::Guarded;
using testing::kOddSizes;
using testing::random_floats;

struct Case {
  Norm::Kind kind;
  bool residual, bias;
  int64_t tokens, cols, weight_rows = 1;
};

struct Result {
  std::vector<float> dst, sum;
};

Result run(const Row<Norm>& row, const Case& c, bool in_place, Guard guard = Guard::after) {
  guard = testing::placed(row, guard);
  const auto size = static_cast<size_t>(c.tokens * c.cols);
  std::vector<float> shifted = random_floats(size, 1, 3.0F);
  for (float& x : shifted) x += 5.0F;  // a mean far from zero shows cancellation
  Guarded<float> src(shifted, guard);
  const Guarded<float> residual(random_floats(size, 2), guard);
  const Guarded<float> weight(random_floats(static_cast<size_t>(c.weight_rows * c.cols), 3), guard);
  const Guarded<float> bias(random_floats(static_cast<size_t>(c.weight_rows * c.cols), 4), guard);
  Guarded<float> dst(size, 0.0F, guard);
  Guarded<float> sum(size, 0.0F, guard);
  Norm::Args args{.kind = c.kind,
                  .src = src.data(),
                  .dst = dst.data(),
                  .weight = weight.data(),
                  .tokens = c.tokens,
                  .cols = c.cols,
                  .weight_rows = c.weight_rows,
                  .eps = 1e-5F};
  if (c.bias) args.bias = bias.data();
  if (c.residual) {
    args.residual = residual.data();
    args.sum = in_place ? src.data() : sum.data();
  }
  testing::run_row(row, {c.kind, c.cols, c.residual}, args, 2, guard);
  return {dst.values(), c.residual && in_place ? src.values() : sum.values()};
}

TEST(Norm, rows_agree_with_the_reference) {
  for (const Norm::Kind kind : {Norm::Kind::rms, Norm::Kind::layer}) {
    for (const int64_t cols : kOddSizes) {
      for (const int64_t tokens : {int64_t{1}, int64_t{3}, int64_t{40}}) {
        for (const bool residual : {false, true}) {
          const bool bias = kind == Norm::Kind::layer && tokens != 3;
          const Case c{kind, residual, bias, tokens, cols, residual ? 1 : 4};
          const Result expected = run(testing::reference_of(norm_rows()), c, false);
          testing::each_fast_row(norm_rows(), {kind, cols, residual}, [&](const Row<Norm>& row) {
            for (const Guard guard : testing::guards()) {
              const Result actual = run(row, c, residual && tokens == 3, guard);
              EXPECT_LT(testing::relative_error(actual.dst, expected.dst), 1e-5) << cols << " x " << tokens;
              if (residual) {
                EXPECT_EQ(actual.sum, expected.sum);
              }
            }
          });
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
    EXPECT_NE(row.supports({Norm::Kind::rms, 0, false}), "") << row.name;
}

}  // namespace
}  // namespace orrery::kernels
