// The masks that calls of DropoutNorm draw.
#include <cmath>

#include "kernels/dropout_norm.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

/// What a row keeps of ones that are scaled by 1 / (1 - p), seen in residual_out.
std::vector<float> mask_of(const Row<DropoutNorm>& row, int64_t rows, int64_t cols, double p, uint64_t seed,
                           int threads) {
  const std::vector<float> ones(static_cast<size_t>(rows * cols), 1.0F);
  ThreadTeam team(threads);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  DropoutNorm::Args args{.problem = {Norm::Kind::layer, cols},
                         .src = place.put(ones),
                         .weight = place.put(ones),
                         .out = place.put(ones),
                         .residual_out = place.put(ones),
                         .rows = rows,
                         .dropout = Dropout(p, seed)};
  row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
  place.wait();
  return place.get(static_cast<const float*>(args.residual_out), ones.size());
}

TEST(DropoutMask, depends_on_seed_row_and_column_only) {
  constexpr int64_t kMaskRows = 37;
  for (const int64_t cols : {45, 1024, 1100}) {
    for (const double p : {0.1, 0.5, 0.9}) {
      const uint64_t seed = 0x123456789abcdefULL;
      const Dropout dropout(p, seed);
      std::vector<float> expected;
      for (int64_t r = 0; r < kMaskRows; ++r)
        for (int64_t c = 0; c < cols; ++c) expected.push_back(dropout.keeps(r, c) ? dropout.scale : 0.0F);
      for (const Row<DropoutNorm>& row : testing::rows_taking({.cols = 8}, dropout_norm_rows()))
        for (const int threads : {1, 2, 3})
          EXPECT_EQ(mask_of(row, kMaskRows, cols, p, seed, threads), expected) << row.name;
      EXPECT_NE(mask_of(testing::reference_of(dropout_norm_rows()), kMaskRows, cols, p, seed + 1, 1),
                expected);
    }
  }
}

TEST(DropoutMask, keeps_as_many_as_it_should) {
  constexpr int64_t kSide = 1000;
  for (const double p : {0.01, 0.1, 0.5, 0.9}) {
    const Dropout dropout(p, 42);
    // By rows, by columns and by place in the words: (kept - expected)^2 / variance sums to chi-square.
    std::vector<double> by_row(kSide), by_col(kSide), by_word(4);
    for (int64_t r = 0; r < kSide; ++r)
      for (int64_t c = 0; c < kSide; ++c)
        if (dropout.keeps(r, c)) {
          ++by_row[static_cast<size_t>(r)];
          ++by_col[static_cast<size_t>(c)];
          ++by_word[static_cast<size_t>(c % 4)];
        }
    for (const std::vector<double>& kept : {by_row, by_col, by_word}) {
      const auto bins = static_cast<double>(kept.size());
      const double drawn = static_cast<double>(kSide * kSide) / bins;
      double chi = 0;
      for (const double count : kept) {
        const double off = count - drawn * (1 - p);
        chi += off * off / (drawn * p * (1 - p));
      }
      EXPECT_NEAR(chi, bins, 4.5 * std::sqrt(2 * bins)) << "p " << p << ", " << bins << " bins";
    }
  }
}

TEST(DropoutMask, ends_of_the_range) {
  EXPECT_FALSE(Dropout(0.0, 1).drops());
  EXPECT_EQ(Dropout(0.5, 1).most, 1U << 23);
  EXPECT_TRUE(Dropout(0.5, 1).keeps(0x800000FFU));  // 2^23 2^-24 is 1 - p
  EXPECT_FALSE(Dropout(0.5, 1).keeps(0x80000100U));
  EXPECT_EQ(Dropout(0.75, 1).scale, 4.0F);
}

/// Both sources of a parallel residual, seen apart: ones of src, hundreds of src2.
TEST(DropoutMask, the_second_source_has_its_own) {
  constexpr int64_t kMaskRows = 9;
  for (const int64_t cols : {45, 1032}) {
    const Dropout first(0.5, 3), second = first.of(Dropout::kSecondNormStream);
    std::vector<float> ones, hundreds, expected;
    int64_t unlike = 0;
    for (int64_t r = 0; r < kMaskRows; ++r)
      for (int64_t c = 0; c < cols; ++c) {
        ones.push_back(1.0F);
        hundreds.push_back(second.keeps(r, c) ? 100.0F : NAN);
        expected.push_back((first.keeps(r, c) ? 2.0F : 0.0F) + (second.keeps(r, c) ? 200.0F : 0.0F));
        unlike += first.keeps(r, c) != second.keeps(r, c) ? 1 : 0;
      }
    const auto drawn = static_cast<double>(kMaskRows * cols);
    EXPECT_NEAR(static_cast<double>(unlike), drawn / 2, 2.5 * std::sqrt(drawn));
    for (const Row<DropoutNorm>& row : testing::rows_taking({.cols = 8}, dropout_norm_rows()))
      for (const int threads : {1, 3}) {
        ThreadTeam team(threads);
        testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
        DropoutNorm::Args args{.problem = {Norm::Kind::rms, cols, DType::f32, DType::f32, DType::f32, true},
                               .src = place.put(ones),
                               .src2 = place.put(hundreds),
                               .weight = place.put(ones),
                               .out = place.put(ones),
                               .residual_out = place.put(ones),
                               .rows = kMaskRows,
                               .dropout = first};
        row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
        place.wait();
        EXPECT_EQ(place.get(static_cast<const float*>(args.residual_out), ones.size()), expected) << row.name;
      }
  }
}

/// What is dropped is 0, whatever it was.
TEST(DropoutMask, dropped_elements_are_not_read) {
  const Dropout dropout(0.5, 7);
  std::vector<float> src(64);
  for (int64_t c = 0; c < 64; ++c) src[static_cast<size_t>(c)] = dropout.keeps(0, c) ? 1.0F : NAN;
  for (const Row<DropoutNorm>& row : testing::rows_taking({.cols = 8}, dropout_norm_rows())) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    DropoutNorm::Args args{.problem = {Norm::Kind::layer, 64},
                           .src = place.put(src),
                           .weight = place.put(src),
                           .out = place.put(src),
                           .residual_out = place.put(src),
                           .rows = 1,
                           .dropout = dropout};
    row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
    place.wait();
    const std::vector<float> x = place.get(static_cast<const float*>(args.residual_out), src.size());
    for (int64_t c = 0; c < 64; ++c)
      EXPECT_EQ(x[static_cast<size_t>(c)], dropout.keeps(0, c) ? 2.0F : 0.0F) << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
