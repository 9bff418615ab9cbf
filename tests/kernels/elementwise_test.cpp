#include "kernels/elementwise.h"

#include <limits>

#include "kernels/lab/elementwise_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using Function = Elementwise::Function;
using lab::ElementwiseCase;
using testing::random_floats;

constexpr Function kAll[] = {Function::silu,          Function::gelu_erf,    Function::gelu_tanh,
                             Function::relu,          Function::tanh,        Function::add,
                             Function::mul,           Function::silu_mul,    Function::scale,
                             Function::gelu_tanh_mul, Function::l2_normalise};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ElementwiseCase unary(Function function, int64_t tokens, const std::vector<float>& a,
                      double tolerance = 1e-6) {
  return {{function, static_cast<int64_t>(a.size()) / tokens, false}, a, a, 1.0F, tolerance};
}

std::vector<float> run(const Row<Elementwise>& row, const ElementwiseCase& c) {
  return testing::run(c, row)[0].values;
}

TEST(Elementwise, rows_agree_with_the_reference) {
  for (const Function function : kAll) {
    for (const int64_t cols : testing::kOddSizes) {
      for (const int64_t tokens : {int64_t{1}, int64_t{5}, int64_t{37}}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(function)) + ": " + std::to_string(tokens) + " x " +
                     std::to_string(cols));
        testing::expect_rows_agree(ElementwiseCase({function, cols, false}, tokens), elementwise_rows());
      }
    }
  }
}

TEST(Elementwise, broadcast_uses_one_row_for_all) {
  for (const Function function : {Function::add, Function::mul}) {
    const int64_t tokens = 61;
    const int64_t cols = 301;
    const std::vector<float> a = random_floats(tokens * cols, 7);
    const std::vector<float> b = random_floats(cols, 8);
    const ElementwiseCase c({function, cols, true}, a, b, 1.0F, 0.0);
    const std::vector<float> expected = run(testing::reference_of(elementwise_rows()), c);
    EXPECT_EQ(expected[7 * cols + 3],
              function == Function::add ? a[7 * cols + 3] + b[3] : a[7 * cols + 3] * b[3]);
    testing::expect_rows_agree(c, elementwise_rows());
  }
  for (const Row<Elementwise>& row : testing::all_rows(elementwise_rows()))
    EXPECT_NE(lab::refusal_of(row, {Function::silu, 8, true}), "");
}

/// Relative error of each element where the result is a normal float, over a fine sweep.
void expect_pointwise(Function function, float low, float high, double tolerance) {
  constexpr int64_t kCount = 400'001;
  std::vector<float> a(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    a[static_cast<size_t>(i)] = low + (high - low) * static_cast<float>(i) / static_cast<float>(kCount - 1);
  }
  const ElementwiseCase c = unary(function, 1, a);
  const std::vector<float> expected = run(testing::reference_of(elementwise_rows()), c);
  testing::each_fast_row(elementwise_rows(), c.problem, [&](const Row<Elementwise>& row) {
    const std::vector<float> actual = run(row, c);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::abs(expected[i]) < 1e-30F) continue;
      const double error = std::abs((static_cast<double>(actual[i]) - expected[i]) / expected[i]);
      if (error > worst) where = a[i];
      worst = std::max(worst, error);
    }
    EXPECT_LT(worst, tolerance) << static_cast<int>(function) << " at " << where;
  });
}

TEST(Elementwise, functions_are_accurate_to_the_last_bits_on_their_whole_range) {
  expect_pointwise(Function::silu, -80.0F, 100.0F, 4e-7);
  expect_pointwise(Function::gelu_erf, -11.0F, 20.0F, 1e-6);
  expect_pointwise(Function::gelu_tanh, -8.0F, 20.0F, 1e-5);  // e^-2u carries the roundings of 2u, up to 50
  expect_pointwise(Function::tanh, -12.0F, 12.0F, 4e-7);
  expect_pointwise(Function::tanh, -0.01F, 0.01F, 4e-7);
}

TEST(Elementwise, extremes_stay_defined) {
  const std::vector<float> a = {kInfinity, 1e30F, 200.0F, 0.0F, -200.0F, -1e30F, std::nanf("")};
  const std::vector<float> ends = {kInfinity, 1e30F, 200.0F, 0.0F, 0.0F, 0.0F};
  for (const Function function : {Function::silu, Function::gelu_erf, Function::gelu_tanh, Function::relu}) {
    const ElementwiseCase c = unary(function, 1, a);
    testing::each_fast_row(elementwise_rows(), c.problem, [&](const Row<Elementwise>& row) {
      const std::vector<float> dst = run(row, c);
      for (size_t i = 1; i < ends.size(); ++i) {
        EXPECT_FLOAT_EQ(dst[i], ends[i]) << static_cast<int>(function) << " of " << a[i];
      }
      EXPECT_TRUE(std::isnan(dst[6])) << static_cast<int>(function);
    });
  }
}

}  // namespace
}  // namespace orrery::kernels
