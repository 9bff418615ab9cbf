#include "kernels/pooling.h"

#include <cmath>
#include <limits>

#include "kernels/lab/pooling_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::PoolingBackwardCase;
using lab::PoolingCase;
using Function = Pooling::Function;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The same window in the last `dims` dims.
Pooling::Problem problem_of(int dims, std::initializer_list<int64_t> sizes, int64_t kernel, int64_t stride,
                            int64_t low, int64_t high, int64_t dilation = 1) {
  Pooling::Problem problem;
  problem.planes = 3;
  std::copy(sizes.begin(), sizes.end(), problem.src_size);
  for (int d = 0; d < kSpatial; ++d) {
    problem.dst_size[d] = problem.src_size[d];
    if (d < kSpatial - dims) continue;
    problem.window.kernel[d] = kernel;
    problem.window.stride[d] = stride;
    problem.window.padding[d] = low;
    problem.window.dilation[d] = dilation;
    problem.after[d] = high;
    problem.dst_size[d] = (problem.src_size[d] + low + high - problem.window.extent(d)) / stride + 1;
  }
  return problem;
}

void expect_agreement(Pooling::Problem problem, lab::Distribution inputs = lab::Distribution::normal) {
  for (const DType dtype : kTypes)
    for (const auto& [function, counts_padding] :
         {std::pair{Function::max, false}, {Function::average, false}, {Function::average, true}}) {
      problem.dtype = dtype;
      problem.function = function;
      problem.counts_padding = counts_padding;
      ASSERT_EQ(ref::legal(problem), "");
      SCOPED_TRACE(std::string(name_of(dtype)) + (function == Function::max ? " max" : " average") +
                   (counts_padding ? " with padding" : "") + ", width " +
                   std::to_string(problem.src_size[2]) + " to " + std::to_string(problem.dst_size[2]) +
                   ", kernel " + std::to_string(problem.window.kernel[2]) + ", stride " +
                   std::to_string(problem.window.stride[2]) + ", dilation " +
                   std::to_string(problem.window.dilation[2]));
      testing::expect_rows_agree(PoolingCase(problem, 7, inputs), pooling_rows(), testing::kOneGuard);
      if (function == Function::max)
        testing::expect_rows_agree(PoolingBackwardCase(problem, 7, inputs), pooling_backward_rows(),
                                   testing::kOneGuard);
    }
}

TEST(Pooling, strides_paddings_and_dilations) {
  for (const int64_t kernel : {1, 2, 3, 5})
    for (const int64_t stride : {1, 2, 3, 7})
      for (const auto& [low, high] : {std::pair<int64_t, int64_t>{0, 0}, {1, 1}, {2, 0}, {0, 3}, {9, 12}})
        for (const int64_t dilation : {1, 2, 3}) {
          if (5 + low + high < (kernel - 1) * dilation + 1) continue;
          expect_agreement(problem_of(2, {1, 5, 8}, kernel, stride, low, high, dilation));
        }
}

TEST(Pooling, of_one_and_of_three_dims) {
  for (const int64_t width : {3, 255, 256, 257, 1021})
    expect_agreement(problem_of(1, {1, 1, width}, 3, 2, 1, 1));
  expect_agreement(problem_of(3, {5, 6, 7}, 3, 2, 1, 1));
  expect_agreement(problem_of(3, {5, 6, 7}, 2, 1, 0, 1, 2));
  expect_agreement(problem_of(2, {1, 33, 601}, 7, 3, 3, 3));
}

// As of a pool that rounds its sizes up: the last windows reach beyond the padding.
TEST(Pooling, windows_that_reach_beyond_the_padding) {
  Pooling::Problem problem = problem_of(2, {1, 6, 7}, 3, 2, 0, 0);
  ++problem.dst_size[1];
  ++problem.dst_size[2];
  expect_agreement(problem);
}

TEST(Pooling, infinities_and_what_is_no_number) {
  for (const auto inputs : {lab::Distribution::masked, lab::Distribution::broken})
    expect_agreement(problem_of(2, {1, 30, 31}, 3, 2, 1, 1), inputs);
}

TEST(Pooling, what_no_number_and_no_element_make_is_as_its_header_says) {
  const std::vector<float> src = {1, kNaN, -kInfinity, 2, -kInfinity, -kInfinity, kInfinity, 3};
  struct Wanted {
    Function function;
    bool counts_padding;
    std::vector<float> values;
  };
  // Windows of two, from two places before src to two after.
  const Wanted wanted[] = {{Function::max, false, {-kInfinity, kNaN, 2, -kInfinity, kInfinity, -kInfinity}},
                           {Function::average, false, {kNaN, kNaN, -kInfinity, -kInfinity, kInfinity, kNaN}},
                           {Function::average, true, {0, kNaN, -kInfinity, -kInfinity, kInfinity, 0}}};
  for (const Wanted& each : wanted) {
    Pooling::Problem problem = problem_of(1, {1, 1, 8}, 2, 2, 2, 2);
    problem.planes = 1;
    problem.function = each.function;
    problem.counts_padding = each.counts_padding;
    for (const Row<Pooling>& row : testing::all_rows(pooling_rows())) {
      SCOPED_TRACE(std::string(row.name));
      ThreadTeam team(1);
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      const auto* given = place.put(src);
      auto* dst = place.put(std::vector<float>(6));
      row.run({problem, given, dst}, place.launch(lab::put_workspace(row, problem, place)));
      place.wait();
      const std::vector<float> got = place.get(dst, 6);
      for (size_t i = 0; i < got.size(); ++i)
        if (std::isnan(each.values[i]))
          EXPECT_TRUE(std::isnan(got[i])) << i;
        else
          EXPECT_EQ(got[i], each.values[i]) << i;
    }
  }
}

/// Windows of two from one place before src on: of equal ones the first has it, of two NaN the last, and a
/// window of the padding alone gives its to none.
TEST(Pooling, gradients_go_to_where_the_largest_is_found) {
  const std::vector<float> src = {1, 1, kNaN, kNaN, -kInfinity, -kInfinity, 4, 3};
  Pooling::Problem problem = problem_of(1, {1, 1, 8}, 2, 1, 2, 1);
  problem.planes = 1;
  ASSERT_EQ(problem.dst_size[2], 10);
  const std::vector<float> grad = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  for (const Row<PoolingBackward>& row : testing::all_rows(pooling_backward_rows())) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    auto* grad_src = place.put(src);
    row.run({problem, place.put(grad), place.put(src), grad_src},
            place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    // Windows: none, 0, {0 1}, {1 2}, {2 3}, {3 4}, {4 5}, {5 6}, {6 7}, 7
    EXPECT_EQ(place.get(grad_src, 8), (std::vector<float>{2 + 4, 0, 8, 16 + 32, 64, 0, 128 + 256, 512}))
        << row.name;
  }
}

TEST(Pooling, gradients_are_the_same_bits_however_many_threads_there_are) {
  Pooling::Problem problem = problem_of(2, {1, 23, 41}, 3, 1, 1, 1);
  problem.planes = 11;
  const PoolingBackwardCase c(problem);
  testing::each_fast_row(pooling_backward_rows(), problem, [&](const Row<PoolingBackward>& row) {
    const std::vector<lab::Output> once = testing::run(c, row, 1);
    for (const int threads : {2, 3}) EXPECT_EQ(testing::run(c, row, threads)[0].values, once[0].values);
  });
}

TEST(Pooling, refuses_what_is_none) {
  for (const Row<PoolingBackward>& row : testing::all_rows(pooling_backward_rows())) {
    Pooling::Problem problem = problem_of(2, {1, 6, 7}, 3, 2, 0, 0);
    problem.function = Function::average;
    EXPECT_NE(lab::refusal_of(row, problem).find("transposed convolution"), std::string::npos);
  }
  for (const Row<Pooling>& row : testing::all_rows(pooling_rows())) {
    Pooling::Problem problem = problem_of(2, {1, 6, 7}, 3, 2, 0, 0);
    problem.dtype = DType::i64;
    EXPECT_EQ(lab::refusal_of(row, problem), "i64; it takes f32, f16 or bf16");
    problem.dtype = DType::f32;
    problem.window.dilation[2] = 0;
    EXPECT_EQ(lab::refusal_of(row, problem),
              "a window needs a kernel, a stride and a dilation of at least 1");
  }
}

}  // namespace
}  // namespace orrery::kernels
