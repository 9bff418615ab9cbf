#include "kernels/softmax.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/lab/softmax_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::Distribution;
using lab::SoftmaxCase;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

SoftmaxCase random_case(DType dtype, int64_t outer, int64_t count, int64_t inner,
                        Distribution inputs = Distribution::normal) {
  return {dtype, outer, count, inner,
          lab::random_elements(dtype, static_cast<size_t>(outer * count * inner), 5, inputs)};
}

SoftmaxCase rows_of_floats(int64_t rows, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {DType::f32, rows, static_cast<int64_t>(values.size()) / rows, 1, bytes};
}

TEST(Softmax, rows_agree_with_the_reference) {
  for (const DType dtype : kTypes)
    for (const int64_t count : testing::kOddSizes)
      for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{37, 1}, {1, 1}, {3, 7}, {2, 130}}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(outer) + " x " +
                     std::to_string(count) + " x " + std::to_string(inner));
        SoftmaxCase c = random_case(dtype, outer, count, inner);
        testing::expect_rows_agree(c, softmax_rows());
        c.problem.log = true;
        testing::expect_rows_agree(c, softmax_rows());
      }
}

TEST(Softmax, masked_inputs_and_in_place) {
  for (const DType dtype : kTypes)
    for (const int64_t inner : {1, 5}) {
      SoftmaxCase c = random_case(dtype, 9, 33, inner, Distribution::masked);
      testing::expect_rows_agree(c, softmax_rows());
      c.in_place = true;
      testing::expect_rows_agree(c, softmax_rows(), testing::kOneGuard);
      c.problem.log = true;
      testing::expect_rows_agree(c, softmax_rows(), testing::kOneGuard);
    }
}

TEST(Softmax, logarithms_of_what_is_far_below_the_largest) {
  SoftmaxCase c = rows_of_floats(2, {0, -200, 0, -kInfinity, -kInfinity, -kInfinity});
  c.problem.log = true;
  const float half = std::log(0.5F);
  for (const Row<Softmax>& row : testing::all_rows(softmax_rows())) {
    if (!lab::refusal_of(row, c.problem).empty()) continue;
    const std::vector<float> dst = testing::run(c, row)[0].values;
    const std::vector<float> expected = {half, half - 200, half, -kInfinity, -kInfinity, -kInfinity};
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(dst[i], expected[i]) << row.name;
  }
}

// softmax((x, 0)) = 1 / (1 + e^-x) shows exp through the rows: each weight against std::exp.
TEST(Softmax, exponentials_are_within_two_ten_millionths) {
  constexpr int64_t kRows = 200'000;
  std::vector<float> a(2 * kRows, 0.0F);
  for (int64_t i = 0; i < kRows; ++i) a[static_cast<size_t>(2 * i)] = -87.0F * static_cast<float>(i) / kRows;
  const SoftmaxCase c = rows_of_floats(kRows, a);
  testing::each_fast_row(softmax_rows(), c.problem, [&](const Row<Softmax>& row) {
    const std::vector<float> dst = testing::run(c, row)[0].values;
    double worst = 0;
    for (size_t i = 0; i < a.size(); i += 2) {
      const double expected =
          std::exp(static_cast<double>(a[i])) / (1.0 + std::exp(static_cast<double>(a[i])));
      worst = std::max(worst, std::abs(dst[i] - expected) / expected);
    }
    EXPECT_LT(worst, 3e-7);  // exp 2e-7 and the rounding of sum and quotient
  });
}

TEST(Softmax, rows_of_nothing_are_zero) {
  const SoftmaxCase c =
      rows_of_floats(4, {-kInfinity, 1.0F, -kInfinity, 1.0F, -kInfinity, -kInfinity, -kInfinity, -kInfinity,
                         0.0F, 0.0F, -1e9F, -kInfinity, 88.0F, -120.0F, -1e30F, 87.0F});
  const std::vector<float> expected = testing::run(c, testing::reference_of(softmax_rows()))[0].values;
  EXPECT_EQ(std::vector<float>(expected.begin(), expected.begin() + 8),
            (std::vector<float>{0, .5F, 0, .5F, 0, 0, 0, 0}));
  testing::expect_rows_agree(c, softmax_rows());
}

TEST(Softmax, refuses_what_is_no_float) {
  for (const Row<Softmax>& row : testing::all_rows(softmax_rows()))
    EXPECT_EQ(lab::refusal_of(row, {DType::i32, true}), "i32; it takes f32, f16 or bf16") << row.name;
}

}  // namespace
}  // namespace orrery::kernels
