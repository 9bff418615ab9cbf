#include "kernels/irfft.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/lab/irfft_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::IrfftBackwardCase;
using lab::IrfftCase;

// Powers of two, products of small factors, primes, and products with a large prime.
TEST(Irfft, rows_agree_with_the_reference) {
  for (const int64_t count :
       {1, 2, 3, 4, 5, 6, 7, 8, 16, 30, 61, 64, 67, 97, 122, 134, 255, 256, 400, 1007, 1024, 1025})
    for (const int64_t bins : {int64_t{1}, count / 2, count / 2 + 1, count / 2 + 3}) {
      if (bins < 1) continue;
      SCOPED_TRACE(std::to_string(bins) + " bins, " + std::to_string(count) + " elements");
      testing::expect_rows_agree(IrfftCase({.bins = bins, .count = count}, 3, 1.0 / 7), irfft_rows(),
                                 testing::kOneGuard);
      testing::expect_rows_agree(IrfftBackwardCase({.bins = bins, .count = count}, 3, 1.0 / 7),
                                 irfft_backward_rows(), testing::kOneGuard);
    }
  for (const DType dtype : {DType::f16, DType::bf16})
    for (const int64_t count : {48, 67}) {
      testing::expect_rows_agree(IrfftCase({.dtype = dtype, .bins = 30, .count = count}, 9, 0.01),
                                 irfft_rows());
      testing::expect_rows_agree(IrfftBackwardCase({.dtype = dtype, .bins = 30, .count = count}, 9, 0.01),
                                 irfft_backward_rows());
    }
}

std::vector<float> signal_of(const Row<Irfft>& row, const std::vector<float>& spectrum, int64_t count) {
  const Irfft::Problem problem{.bins = static_cast<int64_t>(spectrum.size()) / 2, .count = count};
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  const auto* src = place.put(spectrum);
  auto* dst = place.put(std::vector<float>(static_cast<size_t>(count)));
  row.run({problem, 1, 1.0 / static_cast<double>(count), src, dst},
          place.launch(lab::put_workspace(row, problem, place)));
  place.wait();
  return place.get(dst, static_cast<size_t>(count));
}

TEST(Irfft, one_bin_is_a_wave) {
  for (const Row<Irfft>& row : testing::all_rows(irfft_rows()))
    for (const int64_t count : {12, 67, 128}) {
      std::vector<float> spectrum(static_cast<size_t>(count / 2 + 1) * 2);
      spectrum[6] = static_cast<float>(count);  // three turns, cosine and half as much sine
      spectrum[7] = static_cast<float>(count) / 2;
      const std::vector<float> signal = signal_of(row, spectrum, count);
      for (size_t t = 0; t < signal.size(); ++t) {
        const double angle = 2 * std::numbers::pi * 3 * static_cast<double>(t) / static_cast<double>(count);
        EXPECT_NEAR(signal[t], 2 * std::cos(angle) - std::sin(angle), 2e-6) << row.name << " " << count;
      }
    }
}

TEST(Irfft, what_has_no_conjugate_counts_once_and_as_real) {
  for (const Row<Irfft>& row : testing::all_rows(irfft_rows())) {
    const std::vector<float> even = signal_of(row, {4, 99, 0, 0, 8, 99}, 4),
                             odd = signal_of(row, {3, 99, 0, 0}, 3);
    for (size_t t = 0; t < 4; ++t) EXPECT_NEAR(even[t], t % 2 == 0 ? 3 : -1, 1e-6) << row.name;
    for (const float value : odd) EXPECT_NEAR(value, 1, 1e-6) << row.name;
    const std::vector<float> none =
        signal_of(row, {1, 0, std::numeric_limits<float>::quiet_NaN(), 0, 1, 0}, 5);
    for (const float value : none) EXPECT_TRUE(std::isnan(value)) << row.name;
  }
}

/// grad_src of one row; irfft scaled by 1.
std::vector<float> gradients_of(const Row<IrfftBackward>& row, const std::vector<float>& grad_dst,
                                int64_t bins) {
  const Irfft::Problem problem{.bins = bins, .count = static_cast<int64_t>(grad_dst.size())};
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  const auto* given = place.put(grad_dst);
  auto* grad_src = place.put(std::vector<float>(static_cast<size_t>(bins) * 2, 7.0F));
  row.run({problem, 1, 1.0, given, grad_src}, place.launch(lab::put_workspace(row, problem, place)));
  place.wait();
  return place.get(grad_src, static_cast<size_t>(bins) * 2);
}

// What comes back to element t of n = 4, where a is a right angle times k t; of three bins and one that is
// not read.
TEST(Irfft, gradients_of_one_element_are_its_waves) {
  for (const Row<IrfftBackward>& row : testing::all_rows(irfft_backward_rows())) {
    const std::vector<float> first = gradients_of(row, {1, 0, 0, 0}, 4),
                             second = gradients_of(row, {0, 1, 0, 0}, 4);
    const float expected_first[] = {1, 0, 2, 0, 1, 0, 0, 0}, expected_second[] = {1, 0, 0, -2, -1, 0, 0, 0};
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(first[i], expected_first[i], 1e-6) << row.name << " " << i;
      EXPECT_NEAR(second[i], expected_second[i], 1e-6) << row.name << " " << i;
    }
  }
}

TEST(Irfft, gradients_are_the_same_bits_however_many_threads_there_are) {
  const Irfft::Problem problem{.bins = 100, .count = 134};
  const IrfftBackwardCase c(problem, 40, 0.1);
  testing::each_fast_row(irfft_backward_rows(), problem, [&](const Row<IrfftBackward>& row) {
    const std::vector<lab::Output> once = testing::run(c, row, 1);
    for (const int threads : {2, 3}) EXPECT_EQ(testing::run(c, row, threads)[0].values, once[0].values);
  });
}

TEST(Irfft, refuses_what_is_none) {
  for (const Row<Irfft>& row : testing::all_rows(irfft_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {.dtype = DType::i16}), "i16; it takes f32, f16 or bf16");
    EXPECT_EQ(lab::refusal_of(row, {.bins = 0}), "no bins or no elements");
  }
}

}  // namespace
}  // namespace orrery::kernels
