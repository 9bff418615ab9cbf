#include "kernels/fold.h"

#include "kernels/lab/fold_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::FoldCase;

/// The same window in the last `dims` dims.
Fold::Problem problem_of(int dims, std::initializer_list<int64_t> size, int64_t kernel, int64_t stride,
                         int64_t padding, int64_t dilation) {
  Fold::Problem problem;
  problem.planes = 3;
  std::copy(size.begin(), size.end(), problem.size);
  for (int d = 0; d < kSpatial; ++d) {
    problem.places[d] = problem.size[d];
    if (d < kSpatial - dims) continue;
    problem.window.kernel[d] = kernel;
    problem.window.stride[d] = stride;
    problem.window.padding[d] = padding;
    problem.window.dilation[d] = dilation;
    problem.places[d] = (problem.size[d] + 2 * padding - problem.window.extent(d)) / stride + 1;
  }
  return problem;
}

TEST(Fold, rows_agree_with_the_reference) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const int64_t kernel : {1, 2, 3})
      for (const int64_t stride : {1, 2, 4})
        for (const int64_t padding : {0, 1, 7})
          for (const int64_t dilation : {1, 2}) {
            for (const int dims : {1, 2}) {
              Fold::Problem problem = problem_of(dims, {1, 6, 9}, kernel, stride, padding, dilation);
              problem.dtype = dtype;
              testing::expect_rows_agree(FoldCase(problem), fold_rows(), testing::kOneGuard);
            }
          }
  testing::expect_rows_agree(FoldCase(problem_of(1, {1, 2, 1021}, 5, 1, 2, 1)), fold_rows());
  testing::expect_rows_agree(FoldCase(problem_of(3, {4, 5, 6}, 2, 1, 1, 2)), fold_rows());
  testing::expect_rows_agree(FoldCase(problem_of(2, {1, 20, 30}, 3, 2, 1, 1), 5, lab::Distribution::broken),
                             fold_rows());
}

TEST(Fold, of_ones_counts_the_windows) {
  const Fold::Problem asked = problem_of(1, {1, 1, 5}, 3, 1, 0, 1);
  for (const Row<Fold>& row : testing::all_rows(fold_rows())) {
    Fold::Problem problem = asked;
    problem.planes = 1;
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const auto* ones = place.put(std::vector<float>(9, 1.0F));
    auto* dst = place.put(std::vector<float>(5));
    row.run({problem, ones, dst}, place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    EXPECT_EQ(place.get(dst, 5), (std::vector<float>{1, 2, 3, 2, 1})) << row.name;
  }
}

TEST(Fold, refuses_what_is_none) {
  for (const Row<Fold>& row : testing::all_rows(fold_rows())) {
    Fold::Problem problem = problem_of(2, {1, 6, 9}, 2, 1, 0, 1);
    problem.dtype = DType::i32;
    EXPECT_EQ(lab::refusal_of(row, problem), "i32; it takes f32, f16 or bf16");
    problem.dtype = DType::f32;
    problem.places[2] = 0;
    EXPECT_EQ(lab::refusal_of(row, problem), "a spatial size of 0");
  }
}

}  // namespace
}  // namespace orrery::kernels
