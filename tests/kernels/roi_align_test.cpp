#include "kernels/roi_align.h"

#include <cmath>
#include <limits>

#include "kernels/lab/roi_align_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::RoiAlignBackwardCase;
using lab::RoiAlignCase;

RoiAlign::Problem problem_of(int64_t rows, int64_t cols, int64_t samples, bool aligned, bool largest) {
  return {.largest = largest,
          .aligned = aligned,
          .samples = samples,
          .scale = 0.5F,
          .channels = 5,
          .height = 9,
          .width = 13,
          .rows = rows,
          .cols = cols};
}

TEST(RoiAlign, rows_agree_with_the_reference) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{1, 1}, {7, 7}, {3, 300}})
      for (const int64_t samples : {0, 1, 3})
        for (const bool aligned : {false, true})
          for (const bool largest : {false, true}) {
            RoiAlign::Problem problem = problem_of(rows, cols, samples, aligned, largest);
            problem.dtype = dtype;
            testing::expect_rows_agree(RoiAlignCase(problem, 3, 21), roi_align_rows(), testing::kOneGuard);
            if (largest && dtype != DType::f32) continue;  // samples that are alike but for rounding
            testing::expect_rows_agree(RoiAlignBackwardCase(problem, 3, 21), roi_align_backward_rows(),
                                       testing::kOneGuard);
          }
}

TEST(RoiAlign, boxes_of_any_kind) {
  const float none = std::numeric_limits<float>::quiet_NaN(), far = 1e30F;
  const std::vector<float> boxes = {0,    2,    2,   2,   2,    // without a size
                                    1,    8,    8,   2,   4,    // turned round
                                    0,    -90,  -90, -80, -80,  // outside
                                    0,    -9,   -9,  99,  99,   // around all
                                    5,    1,    1,   5,   5,    // of no image
                                    -1,   1,    1,   5,   5,    //
                                    none, 1,    1,   5,   5,    //
                                    0,    none, 1,   5,   5,    //
                                    1,    0,    0,   26,  18};  // the whole image
  const auto expect_agreement = [](const RoiAlign::Problem& problem, int64_t images,
                                   const std::vector<float>& given) {
    constexpr auto kNormal = lab::Distribution::normal;
    testing::expect_rows_agree(RoiAlignCase(problem, images, 0, 3, kNormal, given), roi_align_rows(),
                               testing::kOneGuard);
    testing::expect_rows_agree(RoiAlignBackwardCase(problem, images, 0, 3, kNormal, given),
                               roi_align_backward_rows(), testing::kOneGuard);
  };
  for (const int64_t samples : {0, 2})
    for (const bool aligned : {false, true})
      for (const bool largest : {false, true})
        expect_agreement(problem_of(2, 3, samples, aligned, largest), 2, boxes);
  expect_agreement(problem_of(1, 1, 2, false, false), 1, {0, -far, -far, far, far});
}

TEST(RoiAlign, infinities_and_what_is_no_number) {
  for (const bool largest : {false, true}) {
    const RoiAlign::Problem problem = problem_of(4, 4, 2, true, largest);
    testing::expect_rows_agree(RoiAlignCase(problem, 2, 30, 3, lab::Distribution::broken), roi_align_rows(),
                               testing::kOneGuard);
    testing::expect_rows_agree(RoiAlignBackwardCase(problem, 2, 30, 3, lab::Distribution::broken),
                               roi_align_backward_rows(), testing::kOneGuard);
  }
}

// A plane that rises evenly has the value of the middle of a cell as its mean.
TEST(RoiAlign, of_an_even_slope_the_middles_of_cells) {
  std::vector<float> src(64);
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<float>(i / 8 * 10 + i % 8);
  const std::vector<float> box = {0, 1, 2, 5, 6};
  for (const Row<RoiAlign>& row : testing::all_rows(roi_align_rows()))
    for (const bool aligned : {false, true}) {
      SCOPED_TRACE(std::string(row.name));
      const RoiAlign::Problem problem{.aligned = aligned,
                                      .samples = 2,
                                      .scale = 1.0F,
                                      .channels = 1,
                                      .height = 8,
                                      .width = 8,
                                      .rows = 2,
                                      .cols = 2};
      ThreadTeam team(1);
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      const auto* given = place.put(src);
      const auto* boxes = place.put(box);
      auto* dst = place.put(std::vector<float>(4));
      row.run({problem, 1, 1, given, boxes, dst}, place.launch(lab::put_workspace(row, problem, place)));
      place.wait();
      const float first = aligned ? 26.5F : 32.0F;  // at row 3, column 2, less half a place each
      EXPECT_EQ(place.get(dst, 4), (std::vector<float>{first, first + 2, first + 20, first + 22}));
    }
}

/// grad_src of one image of one channel and 3 x 4 elements, of one box of one cell.
std::vector<float> gradients_of(const Row<RoiAlignBackward>& row, bool largest, int64_t samples,
                                const std::vector<float>& src, const std::vector<float>& box, float grad) {
  const RoiAlignBackward::Problem problem{{.largest = largest,
                                           .samples = samples,
                                           .scale = 1.0F,
                                           .channels = 1,
                                           .height = 3,
                                           .width = 4,
                                           .rows = 1,
                                           .cols = 1},
                                          1};
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  const auto* grad_dst = place.put(std::vector<float>{grad});
  const auto* given = place.put(src);
  const auto* boxes = place.put(box);
  auto* grad_src = place.put(std::vector<float>(12, 7.0F));
  row.run({problem, 1, 1, grad_dst, given, boxes, grad_src},
          place.launch(lab::put_workspace(row, problem, place)));
  place.wait();
  return place.get(grad_src, 12);
}

// A box of 2 x 1 from (1, 1/2) on; its samples are at row 1 and columns 3/2 and 5/2, or in its middle.
TEST(RoiAlign, gradients_go_where_samples_came_from) {
  const std::vector<float> box = {0, 1, 0.5F, 3, 1.5F}, src = {0, 0, 0, 0, 1, 2, 9, 3, 0, 0, 0, 0};
  for (const Row<RoiAlignBackward>& row : testing::all_rows(roi_align_backward_rows())) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_EQ(gradients_of(row, false, 1, src, box, 8),
              (std::vector<float>{0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0}));
    EXPECT_EQ(gradients_of(row, false, 0, src, box, 8),
              (std::vector<float>{0, 0, 0, 0, 0, 2, 4, 2, 0, 0, 0, 0}));
    EXPECT_EQ(gradients_of(row, true, 0, src, box, 8),
              (std::vector<float>{0, 0, 0, 0, 0, 0, 4, 4, 0, 0, 0, 0}));
    EXPECT_EQ(gradients_of(row, true, 0, std::vector<float>(12, 5.0F), box, 8),
              (std::vector<float>{0, 0, 0, 0, 0, 4, 4, 0, 0, 0, 0, 0}))
        << "of equal samples the first";
  }
}

TEST(RoiAlign, gradients_are_the_same_bits_however_many_threads_there_are) {
  const RoiAlignBackwardCase c(problem_of(7, 7, 2, true, false), 2, 60);
  testing::each_fast_row(roi_align_backward_rows(), c.problem, [&](const Row<RoiAlignBackward>& row) {
    const std::vector<lab::Output> once = testing::run(c, row, 1);
    for (const int threads : {2, 3}) EXPECT_EQ(testing::run(c, row, threads)[0].values, once[0].values);
  });
}

TEST(RoiAlign, refuses_what_is_none) {
  for (const Row<RoiAlign>& row : testing::all_rows(roi_align_rows())) {
    RoiAlign::Problem problem = problem_of(2, 2, 0, false, false);
    problem.dtype = DType::i8;
    EXPECT_EQ(lab::refusal_of(row, problem), "i8; it takes f32, f16 or bf16");
    EXPECT_EQ(lab::refusal_of(row, problem_of(0, 2, 0, false, false)), "no cells");
    EXPECT_EQ(lab::refusal_of(row, problem_of(2, 2, -1, false, false)), "fewer than no samples");
  }
}

}  // namespace
}  // namespace orrery::kernels
