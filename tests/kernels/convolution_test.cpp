#include "kernels/convolution.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "kernels/lab/convolution_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::SpatialConvolutionCase;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

/// One number stands for every spatial dim that has more than one element.
struct Asked {
  int64_t batch = 1, groups = 1, channels = 1, outputs = 1;  // of a group
  int64_t size[kSpatial] = {1, 5, 7};
  int64_t kernel[kSpatial] = {1, 3, 3};
  int64_t stride = 1, low = 0, high = 0, dilation = 1, more = 0;
  bool transposed = false;
  DType dtype = DType::f32;
};

Convolution::Problem problem_of(const Asked& asked) {
  Convolution::Problem problem;
  problem.src = problem.weight = problem.bias = problem.dst = asked.dtype;
  problem.transposed = asked.transposed;
  problem.batch = asked.batch;
  problem.groups = asked.groups;
  problem.channels = asked.channels;
  problem.outputs = asked.outputs;
  for (int d = 0; d < kSpatial; ++d) {
    problem.src_size[d] = problem.dst_size[d] = asked.size[d];
    if (asked.size[d] == 1 && asked.kernel[d] == 1) continue;
    problem.window.kernel[d] = asked.kernel[d];
    problem.window.stride[d] = asked.stride;
    problem.window.padding[d] = asked.low;
    problem.window.dilation[d] = asked.dilation;
    const int64_t extent = problem.window.extent(d), padding = asked.low + asked.high;
    problem.dst_size[d] = asked.transposed
                              ? (asked.size[d] - 1) * asked.stride + extent - padding + asked.more
                              : (asked.size[d] + padding - extent) / asked.stride + 1;
  }
  return problem;
}

std::string text_of(const Convolution::Problem& p) {
  const auto sizes = [](const int64_t(&of)[kSpatial]) {
    return std::to_string(of[0]) + "x" + std::to_string(of[1]) + "x" + std::to_string(of[2]);
  };
  return std::string(name_of(p.src)) + " " + std::to_string(p.batch) + " of " + std::to_string(p.groups) +
         " groups, " + std::to_string(p.channels) + " to " + std::to_string(p.outputs) + ", " +
         sizes(p.src_size) + " to " + sizes(p.dst_size) + ", kernel " + sizes(p.window.kernel) + ", stride " +
         sizes(p.window.stride) + ", padding " + sizes(p.window.padding) + ", dilation " +
         sizes(p.window.dilation) + (p.transposed ? ", transposed" : "");
}

void expect_agreement(const Asked& asked, std::span<const testing::Guard> guards = testing::kOneGuard) {
  const Convolution::Problem problem = problem_of(asked);
  ASSERT_EQ(ref::legal(problem), "") << text_of(problem);
  SCOPED_TRACE(text_of(problem));
  testing::expect_rows_agree(SpatialConvolutionCase(problem), convolution_rows(), guards);
}

TEST(Convolution, channels_and_groups_of_every_type) {
  for (const DType dtype : kTypes)
    for (const bool transposed : {false, true})
      for (const auto& [groups, channels, outputs] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                                      {1, 3, 64},
                                                      {1, 7, 5},
                                                      {1, 33, 65},
                                                      {1, 64, 130},
                                                      {2, 17, 9},
                                                      {4, 4, 6},
                                                      {3, 20, 40},
                                                      {70, 1, 1},
                                                      {5, 1, 3}})
        expect_agreement({.batch = 2,
                          .groups = groups,
                          .channels = channels,
                          .outputs = outputs,
                          .size = {1, 6, 9},
                          .low = 1,
                          .high = 1,
                          .transposed = transposed,
                          .dtype = dtype},
                         testing::guards());
}

// Every combination, on sizes that are odd; paddings may be larger than src, and on one side only.
TEST(Convolution, strides_paddings_and_dilations) {
  for (const int64_t stride : {1, 2, 3, 5})
    for (const auto& [low, high] : {std::pair<int64_t, int64_t>{0, 0}, {1, 1}, {2, 0}, {0, 3}, {9, 11}})
      for (const int64_t dilation : {1, 2, 4})
        for (const int64_t kernel : {1, 2, 3}) {
          if (5 + low + high < (kernel - 1) * dilation + 1) continue;
          expect_agreement({.batch = 2,
                            .channels = 5,
                            .outputs = 7,
                            .size = {1, 5, 8},
                            .kernel = {1, kernel, kernel},
                            .stride = stride,
                            .low = low,
                            .high = high,
                            .dilation = dilation});
        }
}

TEST(Convolution, transposes_of_strides_paddings_and_dilations) {
  for (const int64_t stride : {1, 2, 3})
    for (const auto& [low, high] : {std::pair<int64_t, int64_t>{0, 0}, {1, 1}, {2, 1}})
      for (const int64_t dilation : {1, 2})
        for (const int64_t kernel : {1, 2, 4})
          for (const int64_t more : {0, 1}) {
            if (more >= std::max(stride, dilation)) continue;
            if (3 * stride + (kernel - 1) * dilation + 1 - low - high + more < 1) continue;
            expect_agreement({.batch = 2,
                              .channels = 6,
                              .outputs = 5,
                              .size = {1, 4, 7},
                              .kernel = {1, kernel, kernel},
                              .stride = stride,
                              .low = low,
                              .high = high,
                              .dilation = dilation,
                              .more = more,
                              .transposed = true});
          }
}

TEST(Convolution, of_one_and_of_three_dims) {
  for (const bool transposed : {false, true})
    for (const int64_t stride : {1, 2}) {
      for (const int64_t width : {3, 31, 1000, 1021})
        expect_agreement({.batch = 2,
                          .channels = 9,
                          .outputs = 17,
                          .size = {1, 1, width},
                          .kernel = {1, 1, 3},
                          .stride = stride,
                          .low = 1,
                          .high = 1,
                          .transposed = transposed});
      for (const DType dtype : kTypes)
        expect_agreement({.batch = 2,
                          .groups = 2,
                          .channels = 3,
                          .outputs = 18,
                          .size = {4, 5, 6},
                          .kernel = {3, 2, 3},
                          .stride = stride,
                          .low = 1,
                          .high = 1,
                          .transposed = transposed,
                          .dtype = dtype});
    }
  expect_agreement({.size = {1, 1, 1}, .kernel = {1, 1, 1}});
  expect_agreement(
      {.channels = 20, .outputs = 20, .size = {1, 1, 1}, .kernel = {1, 3, 3}, .low = 1, .high = 1});
}

// Images that are cut into parts, of which the last ones are not full.
TEST(Convolution, large_images) {
  expect_agreement({.batch = 2, .channels = 16, .outputs = 40, .size = {1, 37, 65}, .low = 1, .high = 1});
  expect_agreement({.batch = 3, .groups = 40, .size = {1, 61, 67}, .kernel = {1, 5, 5}, .low = 2, .high = 2});
  expect_agreement({.channels = 3, .outputs = 20, .size = {1, 23, 601}, .stride = 2});
  expect_agreement({.channels = 300, .outputs = 140, .size = {1, 9, 9}, .low = 1, .high = 1});
  for (const DType dtype : kTypes)
    expect_agreement(
        {.channels = 130, .outputs = 70, .size = {1, 13, 40}, .kernel = {1, 1, 1}, .dtype = dtype});
}

// Rows for many channels turn src and weights first, share the steps of few places among blocks, and read
// what has one tap as it lies.
TEST(Convolution, many_channels_of_16_bits) {
  DType dtype = DType::f16;
  const auto expect = [&dtype](Asked asked) {
    asked.dtype = dtype = dtype == DType::f16 ? DType::bf16 : DType::f16;
    expect_agreement(asked);
  };
  expect({.batch = 3, .channels = 200, .outputs = 70, .size = {1, 7, 7}, .low = 1, .high = 1});
  expect({.channels = 512, .outputs = 150, .size = {1, 4, 8}, .low = 1, .high = 1});
  expect({.channels = 16, .outputs = 300, .size = {1, 3, 3}, .low = 1, .high = 1});
  expect({.groups = 2, .channels = 24, .outputs = 33, .size = {3, 5, 8}, .kernel = {2, 3, 3}});
  for (const int64_t stride : {1, 2, 3})
    for (const auto& [low, high] : {std::pair<int64_t, int64_t>{0, 0}, {2, 0}, {0, 3}})
      for (const bool transposed : {false, true})
        expect({.batch = 2,
                .groups = 2,
                .channels = 40,
                .outputs = 90,
                .size = {1, 9, 16},
                .kernel = {1, 4, 3},
                .stride = stride,
                .low = low,
                .high = high,
                .dilation = 2,
                .transposed = transposed});
  expect({.channels = 1024, .outputs = 70, .size = {1, 8, 12}, .kernel = {1, 1, 1}});
  for (const int64_t channels : {16, 96})
    for (const int64_t width : {11, 12, 40})
      for (const int64_t outputs : {20, 200})
        expect({.batch = 3,
                .groups = 2,
                .channels = channels,
                .outputs = outputs,
                .size = {1, 8, width},
                .kernel = {1, 1, 1}});
}

// Of which the oracle would take minutes: it works out some rows, of all places of an image and of many
// outputs.
TEST(Convolution, some_rows_of_very_large_images) {
  const Convolution::Problem problem = problem_of({.batch = 2,
                                                   .channels = 64,
                                                   .outputs = 96,
                                                   .size = {1, 56, 56},
                                                   .low = 1,
                                                   .high = 1,
                                                   .dtype = DType::bf16});
  const SpatialConvolutionCase large(problem);
  const std::vector<int64_t> rows = large.expected({})[0].output.rows;
  std::set<int64_t> heights, outputs;
  for (const int64_t row : rows) heights.insert(row % 56), outputs.insert(row / 56 % 96);
  EXPECT_GT(heights.size(), 10U);
  EXPECT_GT(outputs.size(), 10U);
  EXPECT_LT(rows.size(), 2U * 96 * 56 / 4);
  testing::expect_rows_agree(large, convolution_rows(), testing::kOneGuard);
}

TEST(Convolution, types_may_differ) {
  for (const DType src : kTypes)
    for (const DType weight : kTypes)
      for (const DType dst : kTypes) {
        Convolution::Problem problem =
            problem_of({.batch = 1, .channels = 20, .outputs = 18, .size = {1, 6, 6}});
        problem.src = src;
        problem.weight = weight;
        problem.bias = src;
        problem.dst = dst;
        SCOPED_TRACE(text_of(problem));
        testing::expect_rows_agree(SpatialConvolutionCase(problem), convolution_rows(), testing::kOneGuard);
      }
}

TEST(Convolution, infinities_and_what_is_no_number_stay_where_they_are_read) {
  for (const bool transposed : {false, true})
    for (const DType dtype : kTypes) {
      const Convolution::Problem problem = problem_of({.channels = 18,
                                                       .outputs = 17,
                                                       .size = {1, 30, 31},
                                                       .low = 1,
                                                       .high = 1,
                                                       .transposed = transposed,
                                                       .dtype = dtype});
      testing::expect_rows_agree(SpatialConvolutionCase(problem, true, 3, lab::Distribution::broken),
                                 convolution_rows(), testing::kOneGuard);
    }
  // One NaN of src is in all windows that reach it and in no other.
  std::vector<float> src(18 * 49, 1.0F), weight(16 * 18 * 9, 1.0F);
  src[18 / 2 * 49 + 3 * 7 + 3] = std::numeric_limits<float>::quiet_NaN();
  const Convolution::Problem problem =
      problem_of({.channels = 18, .outputs = 16, .size = {1, 7, 7}, .low = 1, .high = 1});
  testing::each_fast_row(convolution_rows(), problem, [&](const Row<Convolution>& row) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const auto* given = place.put(src);
    const auto* weights = place.put(weight);
    auto* dst = place.put(std::vector<float>(16 * 49));
    row.run({problem, given, weights, nullptr, dst}, place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    const std::vector<float> got = place.get(dst, 16 * 49);
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t y = i % 49 / 7, x = i % 7;
      const bool reached = y >= 2 && y <= 4 && x >= 2 && x <= 4;
      EXPECT_EQ(std::isnan(got[i]), reached) << i;
      const bool border_y = y == 0 || y == 6, border_x = x == 0 || x == 6;
      if (reached) continue;
      EXPECT_EQ(got[i], 18.0F * (border_y ? 2 : 3) * (border_x ? 2 : 3)) << i;
    }
  });
}

TEST(Convolution, results_are_the_same_bits_on_any_threads) {
  for (const auto& asked : {Asked{.batch = 3, .channels = 20, .outputs = 150, .size = {1, 40, 50}},
                            Asked{.groups = 30, .size = {1, 40, 50}}}) {
    const SpatialConvolutionCase c(problem_of(asked));
    testing::each_fast_row(convolution_rows(), c.problem, [&](const Row<Convolution>& row) {
      const auto first = testing::run(c, row, 1);
      for (const int threads : {2, 3, 5})
        EXPECT_EQ(testing::run(c, row, threads)[0].values, first[0].values) << threads;
    });
  }
}

TEST(Convolution, refuses_what_is_none) {
  for (const Row<Convolution>& row : testing::all_rows(convolution_rows())) {
    Convolution::Problem problem = problem_of({});
    problem.src = DType::i32;
    EXPECT_EQ(lab::refusal_of(row, problem), "i32; it takes f32, f16 or bf16");
    problem = problem_of({});
    problem.window.stride[1] = 0;
    EXPECT_EQ(lab::refusal_of(row, problem),
              "a window needs a kernel, a stride and a dilation of at least 1");
    problem = problem_of({});
    problem.dst_size[2] = 0;
    EXPECT_EQ(lab::refusal_of(row, problem), "a spatial size of 0");
  }
}

}  // namespace
}  // namespace orrery::kernels
