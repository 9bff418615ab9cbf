#include "kernels/resize.h"

#include "kernels/lab/resize_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::ResizeBackwardCase;
using lab::ResizeCase;
using Function = Resize::Function;
using Coordinates = Resize::Coordinates;
using Rounded = Resize::Rounded;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr Function kFunctions[] = {Function::nearest, Function::linear, Function::cubic};
constexpr Coordinates kCoordinates[] = {Coordinates::half_pixel, Coordinates::half_pixel_1d,
                                        Coordinates::align_corners, Coordinates::asymmetric};
constexpr Rounded kRoundings[] = {Rounded::half_down, Rounded::half_up, Rounded::floor, Rounded::ceil};

struct Sizes {
  int64_t src[kSpatial], dst[kSpatial];
};

Resize::Problem problem_of(const Sizes& sizes, Function function, Coordinates coordinates) {
  Resize::Problem problem;
  problem.function = function;
  problem.coordinates = coordinates;
  problem.planes = 3;
  std::copy_n(sizes.src, kSpatial, problem.src_size);
  std::copy_n(sizes.dst, kSpatial, problem.dst_size);
  return problem;
}

TEST(Resize, rows_agree_with_the_reference) {
  const Sizes all[] = {{{1, 5, 7}, {1, 10, 14}},   {{1, 9, 8}, {1, 3, 5}},     {{1, 1, 300}, {1, 1, 601}},
                       {{1, 4, 4}, {1, 1, 1}},     {{1, 1, 1}, {1, 3, 4}},     {{2, 3, 4}, {5, 2, 7}},
                       {{1, 40, 30}, {1, 23, 31}}, {{1, 6, 1021}, {1, 6, 100}}};
  for (const Sizes& sizes : all)
    for (const Function function : kFunctions)
      for (const Coordinates coordinates : kCoordinates)
        for (const DType dtype : kTypes) {
          Resize::Problem problem = problem_of(sizes, function, coordinates);
          problem.dtype = dtype;
          SCOPED_TRACE(std::string(name_of(dtype)) + ", function " +
                       std::to_string(static_cast<int>(function)) + ", coordinates " +
                       std::to_string(static_cast<int>(coordinates)) + ", width " +
                       std::to_string(sizes.src[2]) + " to " + std::to_string(sizes.dst[2]));
          testing::expect_rows_agree(ResizeCase(problem), resize_rows(), testing::kOneGuard);
          testing::expect_rows_agree(ResizeBackwardCase(problem), resize_backward_rows(), testing::kOneGuard);
        }
}

TEST(Resize, the_nearest_is_found_by_each_rounding) {
  for (const Rounded rounded : kRoundings)
    for (const Coordinates coordinates : kCoordinates)
      for (const int64_t to : {1, 2, 3, 5, 6, 12, 35}) {
        Resize::Problem problem = problem_of({{1, 4, 6}, {1, 3, to}}, Function::nearest, coordinates);
        problem.rounded = rounded;
        testing::expect_rows_agree(ResizeCase(problem), resize_rows(), testing::kOneGuard);
        testing::expect_rows_agree(ResizeBackwardCase(problem), resize_backward_rows(), testing::kOneGuard);
      }
}

TEST(Resize, infinities_and_what_is_no_number) {
  for (const auto inputs : {lab::Distribution::masked, lab::Distribution::broken})
    for (const Function function : kFunctions)
      for (const Coordinates coordinates : kCoordinates) {
        const Resize::Problem problem = problem_of({{1, 20, 30}, {1, 31, 15}}, function, coordinates);
        testing::expect_rows_agree(ResizeCase(problem, 5, inputs), resize_rows(), testing::kOneGuard);
        testing::expect_rows_agree(ResizeBackwardCase(problem, 5, inputs), resize_backward_rows(),
                                   testing::kOneGuard);
      }
}

/// One row of four elements.
std::vector<float> resized(const Row<Resize>& row, const std::vector<float>& src, int64_t to,
                           Function function, Coordinates coordinates, Rounded rounded = Rounded::half_down) {
  const auto from = static_cast<int64_t>(src.size());
  Resize::Problem problem = problem_of({{1, 1, from}, {1, 1, to}}, function, coordinates);
  problem.planes = 1;
  problem.rounded = rounded;
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  const auto* given = place.put(src);
  auto* dst = place.put(std::vector<float>(static_cast<size_t>(to)));
  row.run({problem, given, dst}, place.launch(lab::put_workspace(row, problem, place)));
  place.wait();
  return place.get(dst, static_cast<size_t>(to));
}

// Worked out by hand from the formulas.
TEST(Resize, coordinates_and_weights_are_as_its_header_says) {
  using Floats = std::vector<float>;
  const Floats src = {0, 10, 20, 40};
  for (const Row<Resize>& row : testing::all_rows(resize_rows())) {
    SCOPED_TRACE(std::string(row.name));
    const auto of = [&](int64_t to, Function function, Coordinates coordinates) {
      return resized(row, src, to, function, coordinates);
    };
    EXPECT_EQ(of(8, Function::linear, Coordinates::half_pixel),
              (Floats{0, 2.5, 7.5, 12.5, 17.5, 25, 35, 40}));
    EXPECT_EQ(of(7, Function::linear, Coordinates::align_corners), (Floats{0, 5, 10, 15, 20, 30, 40}));
    EXPECT_EQ(of(8, Function::linear, Coordinates::asymmetric), (Floats{0, 5, 10, 15, 20, 30, 40, 40}));
    EXPECT_EQ(of(1, Function::linear, Coordinates::half_pixel), Floats{15});
    EXPECT_EQ(of(1, Function::linear, Coordinates::half_pixel_1d), Floats{0});
    EXPECT_EQ(of(1, Function::linear, Coordinates::align_corners), Floats{0});
    EXPECT_EQ(of(4, Function::cubic, Coordinates::half_pixel), src);
    // w(3/2), w(1/2), w(1/2), w(3/2) are -3/32, 19/32, 19/32, -3/32 with a = -3/4
    EXPECT_EQ(of(2, Function::cubic, Coordinates::half_pixel),
              (Floats{(-3.0F * 0 + 19 * 0 + 19 * 10 - 3 * 20) / 32,
                      (-3.0F * 10 + 19 * 20 + 19 * 40 - 3 * 40) / 32}));
    const auto nearest = [&](Rounded rounded) {
      return resized(row, src, 2, Function::nearest, Coordinates::half_pixel, rounded);  // at 1/2 and 5/2
    };
    EXPECT_EQ(nearest(Rounded::half_down), (Floats{0, 20}));
    EXPECT_EQ(nearest(Rounded::half_up), (Floats{10, 40}));
    EXPECT_EQ(nearest(Rounded::floor), (Floats{0, 20}));
    EXPECT_EQ(nearest(Rounded::ceil), (Floats{10, 40}));
  }
}

// What linear halves of {a, b, c, d} to twice as many places give back, worked out from the weights above.
TEST(Resize, gradients_are_the_weights_the_other_way) {
  Resize::Problem problem = problem_of({{1, 1, 4}, {1, 1, 8}}, Function::linear, Coordinates::half_pixel);
  problem.planes = 1;
  for (const Row<ResizeBackward>& row : testing::all_rows(resize_backward_rows())) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    auto* grad_src = place.put(std::vector<float>(4));
    row.run({problem, place.put(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}), grad_src},
            place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    EXPECT_EQ(place.get(grad_src, 4),
              (std::vector<float>{1 + 0.75F * 2 + 0.25F * 3, 0.25F * 2 + 0.75F * 3 + 0.75F * 4 + 0.25F * 5,
                                  0.25F * 4 + 0.75F * 5 + 0.75F * 6 + 0.25F * 7, 0.25F * 6 + 0.75F * 7 + 8}))
        << row.name;
  }
}

TEST(Resize, gradients_are_the_same_bits_however_many_threads_there_are) {
  const Resize::Problem problem =
      problem_of({{1, 17, 23}, {1, 40, 11}}, Function::cubic, Coordinates::half_pixel);
  const ResizeBackwardCase c(problem);
  testing::each_fast_row(resize_backward_rows(), problem, [&](const Row<ResizeBackward>& row) {
    const std::vector<lab::Output> once = testing::run(c, row, 1);
    for (const int threads : {2, 3}) EXPECT_EQ(testing::run(c, row, threads)[0].values, once[0].values);
  });
}

TEST(Resize, refuses_what_is_none) {
  for (const Row<Resize>& row : testing::all_rows(resize_rows())) {
    Resize::Problem problem = problem_of({{1, 2, 3}, {1, 4, 5}}, Function::linear, Coordinates::half_pixel);
    problem.dtype = DType::u8;
    EXPECT_EQ(lab::refusal_of(row, problem), "u8; it takes f32, f16 or bf16");
    problem.dtype = DType::f32;
    problem.dst_size[1] = 0;
    EXPECT_EQ(lab::refusal_of(row, problem), "a spatial size of 0");
  }
}

}  // namespace
}  // namespace orrery::kernels
