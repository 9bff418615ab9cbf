#include "kernels/matmul_ladder.h"

#include <array>

#include "kernels/lab/matmul_ladder_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::MatmulLadderCase;

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f8_e4m3};
/// Around the sides of tiles and the steps of k.
constexpr int64_t kSizes[] = {1, 7, 31, 33, 64, 65, 127, 128, 129, 257};
constexpr int kCount = static_cast<int>(std::size(kSizes));
/// Of n and k: rows that are copied 16 bytes at a time, which some steps ask for.
constexpr int64_t kChunkSizes[] = {8, 24, 64, 72, 136, 144, 256, 264, 272};

void expect_steps_agree(const MatmulLadder::Problem& problem,
                        std::span<const testing::Guard> guards = testing::guards()) {
  SCOPED_TRACE(std::string(name_of(problem.dtype)) + " " + std::to_string(problem.m) + " x " +
               std::to_string(problem.n) + " x " + std::to_string(problem.k));
  testing::expect_rows_agree(MatmulLadderCase(problem), matmul_ladder_rows(), guards);
}

// Of the thousand shapes a hundred in which each pair of sizes meets once.
TEST(MatmulLadder, steps_agree_with_the_reference) {
  for (const DType dtype : kTypes)
    for (int i = 0; i < kCount; ++i)
      for (int j = 0; j < kCount; ++j) {
        const testing::Guard guard[] = {testing::guards()[(i + j) % testing::guards().size()]};
        expect_steps_agree({dtype, kSizes[i], kSizes[j], kSizes[(i + 3 * j) % kCount]}, guard);
      }
}

TEST(MatmulLadder, steps_agree_where_rows_are_made_of_chunks) {
  constexpr int kChunkCount = static_cast<int>(std::size(kChunkSizes));
  for (const DType dtype : kTypes)
    for (int i = 0; i < kChunkCount; ++i)
      for (int j = 0; j < kChunkCount; ++j) {
        const testing::Guard guard[] = {testing::guards()[(i + j) % testing::guards().size()]};
        expect_steps_agree({dtype, kSizes[(i + 3 * j) % kCount], kChunkSizes[i], kChunkSizes[j]}, guard);
      }
}

// Several blocks of rows and of columns, several parts of k.
TEST(MatmulLadder, steps_agree_over_more_than_a_block) {
  for (const DType dtype : kTypes) {
    expect_steps_agree({dtype, 171, 1033, 515});
    expect_steps_agree({dtype, 256, 256, 1024});
    expect_steps_agree({dtype, 261, 776, 328});
    expect_steps_agree({dtype, 261, 780, 336});
    expect_steps_agree({dtype, 2, 2049, 3});
    expect_steps_agree({dtype, 2049, 2, 30});
    expect_steps_agree({dtype, 3, 5, 4100});
  }
}

TEST(MatmulLadder, large_products_are_checked_in_part) {
  for (const DType dtype : kTypes) {
    MatmulLadderCase c({dtype, 300, 70, 40});
    c.most_products = 70 * 40 * 9;
    const auto expected = c.expected({});
    EXPECT_EQ(expected[0].output.rows.size(), 9U);
    EXPECT_EQ(expected[0].output.rows.front(), 0);
    EXPECT_EQ(expected[0].output.rows.back(), 299);
    testing::expect_rows_agree(c, matmul_ladder_rows());
  }
}

/// Rows that are there to be measured against: what a library adds in which order is its own affair.
bool is_library(const Row<MatmulLadder>& row) { return !row.library.empty(); }

/// c of the first m rows of a.
std::vector<float> product(const Row<MatmulLadder>& row, MatmulLadder::Problem problem, int64_t m,
                           int threads) {
  ThreadTeam team(threads);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  const auto a = lab::random_elements(problem.dtype, static_cast<size_t>(problem.m * problem.k), 1);
  const auto b = lab::random_elements(problem.dtype, static_cast<size_t>(problem.k * problem.n), 2);
  problem.m = m;
  float* c = place.put(std::vector<float>(static_cast<size_t>(m * problem.n)));
  const MatmulLadder::Args args{problem, place.put(a, problem.dtype), place.put(b, problem.dtype), c};
  row.run(args, place.launch(lab::put_workspace(row, problem, place)));
  place.wait();
  return place.get(c, static_cast<size_t>(m * problem.n));
}

TEST(MatmulLadder, bits_do_not_depend_on_threads) {
  for (const DType dtype : kTypes) {
    const MatmulLadder::Problem problem{dtype, 300, 136, 704};
    testing::each_fast_row(matmul_ladder_rows(), problem, [&](const Row<MatmulLadder>& row) {
      if (is_library(row)) return;
      const std::vector<float> one = product(row, problem, problem.m, 1);
      for (const int threads : {2, 3, 5})
        EXPECT_EQ(product(row, problem, problem.m, threads), one) << threads;
    });
  }
}

TEST(MatmulLadder, a_sum_is_the_same_whatever_is_beside_it) {
  for (const DType dtype : kTypes) {
    const MatmulLadder::Problem problem{dtype, 133, 72, 704};
    testing::each_fast_row(matmul_ladder_rows(), problem, [&](const Row<MatmulLadder>& row) {
      if (is_library(row)) return;
      std::vector<float> whole = product(row, problem, problem.m, 2);
      whole.resize(static_cast<size_t>(7 * problem.n));
      EXPECT_EQ(product(row, problem, 7, 2), whole);
    });
  }
}

// Few tiles with a large k, and slightly more tiles than a card's multiprocessors take at a time: these rows
// split k.
TEST(MatmulLadder, parts_of_a_sum_from_several_blocks_are_added_in_one_order) {
  if (testing::device_under_test() == nullptr) GTEST_SKIP() << "no CPU row splits k";
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{300, 520, 4104}, {257, 17000, 2112}, {1100, 1024, 3000}}) {
    const MatmulLadder::Problem problem{DType::bf16, m, n, k};
    MatmulLadderCase c(problem);
    c.most_products = n * k * 9;
    testing::expect_rows_agree(c, matmul_ladder_rows());
  }
  const MatmulLadder::Problem problem{DType::bf16, 300, 520, 4104};
  testing::each_fast_row(matmul_ladder_rows(), problem, [&](const Row<MatmulLadder>& row) {
    if (is_library(row)) return;
    const std::vector<float> once = product(row, problem, problem.m, 1);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(product(row, problem, problem.m, 1), once);
  });
}

// Sums that lie far from zero lose what tensor cores cut off, always to the same side, unless they are
// brought into float32 in between.
TEST(MatmulLadder, long_sums_of_8_bit_floats_are_added_up_in_float32) {
  if (testing::device_under_test() == nullptr) GTEST_SKIP() << "no CPU row multiplies on tensor cores";
  constexpr int64_t kDepth = int64_t{1} << 14;
  constexpr uint8_t kOneAndAnEighth = 0x39;
  const MatmulLadder::Problem problem{DType::f8_e4m3, 64, 128, kDepth};
  for (const Row<MatmulLadder>& row : testing::all_rows(matmul_ladder_rows())) {
    if (row.name != "cuda.fp8" || !lab::refusal_of(row, problem).empty()) continue;
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const std::vector<std::byte> elements(static_cast<size_t>(128 * kDepth), std::byte{kOneAndAnEighth});
    float* c = place.put(std::vector<float>(64 * 128));
    const MatmulLadder::Args args{problem, place.put(elements, problem.dtype),
                                  place.put(elements, problem.dtype), c};
    row.run(args, place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    constexpr float kExpected = 1.265625F * kDepth;
    for (const float x : place.get(c, 64 * 128)) ASSERT_NEAR(x, kExpected, 1e-4F * kExpected);
  }
}

TEST(MatmulLadder, says_what_it_does_not_take) {
  for (const Row<MatmulLadder>& row : testing::all_rows(matmul_ladder_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {DType::f16, 1, 1, 1}), "f16; it takes f32, bf16 or F8_E4M3") << row.name;
    EXPECT_EQ(lab::refusal_of(row, {DType::f32, 1, 0, 1}), "a size of 0; it takes 1 to 262144") << row.name;
    const std::string large = lab::refusal_of(row, {DType::f32, 4096, 4096, 4096});
    EXPECT_EQ(large.find("would take minutes") != std::string::npos,
              row.name == "cpu.naive" || row.name == "cpu.blocked")
        << row.name << ": " << large;
    if (row.arithmetic == Arithmetic::bf16) {
      EXPECT_NE(lab::refusal_of(row, {DType::f32, 1, 1, 1}), "") << row.name;
    }
    for (const DType dtype : kTypes) {  // sizes that some refuse, where it is for the sizes
      const std::string odd = lab::refusal_of(row, {dtype, 1, 7, 8});
      if (!odd.empty() && lab::refusal_of(row, {dtype, 1, 8, 8}).empty()) {
        EXPECT_EQ(odd.find("rows of 7 " + std::string(name_of(dtype)) + "; "), 0U) << row.name << ": " << odd;
        EXPECT_NE(odd.find("(16 bytes)"), std::string::npos) << row.name << ": " << odd;
      }
    }
  }
}

}  // namespace
}  // namespace orrery::kernels
