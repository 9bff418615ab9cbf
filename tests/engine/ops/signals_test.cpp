// Hann's window and real signals of spectra: numbers worked out by hand, what they cost and what is refused.
// Three tokens.
#include <cmath>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;

struct Signals : TensorTest {};

TEST_F(Signals, HannsWindow) {
  expect_near(bench.run("hann_window", {}, {{"window_length", int64_t{4}}})[0], Numbers{0, 0.5, 1, 0.5});
  expect_near(bench.run("hann_window", {}, {{"window_length", int64_t{5}}, {"periodic", false}})[0],
              Numbers{0, 0.5, 1, 0.5, 0});
  EXPECT_EQ(made("hann_window", {}, {{"window_length", int64_t{400}}, {"dtype", std::string("bf16")}}),
            "bf16[400]");
  EXPECT_THAT(made("hann_window", {}, {{"window_length", int64_t{0}}}), HasSubstr("window_length"));
  EXPECT_THAT(made("hann_window", {}, {{"window_length", int64_t{4}}, {"dtype", std::string("i32")}}),
              HasSubstr("dtype is \"i32\"; it must be f32, f16 or bf16"));
  expect_cost(2 * 400, 4 * 400, "hann_window", {}, {{"window_length", int64_t{400}}});
}

TEST_F(Signals, OfSpectra) {
  // 1 + 2 cos(2 pi t / 4) and its like, of three rows
  const ValueId x =
      tensor(DType::f32, {kTokens, 3, 2}, {4, 0, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 4, 0});
  expect_near(bench.run("irfft", {x})[0], Numbers{3, 1, -1, 1, 0, -2, 0, 2, 1, -1, 1, -1});
  expect_near(bench.run("irfft", {x}, {{"normalization", std::string("forward")}})[0],
              Numbers{12, 4, -4, 4, 0, -8, 0, 8, 4, -4, 4, -4});
  expect_near(bench.run("irfft", {x}, {{"normalization", std::string("ortho")}})[0],
              Numbers{6, 2, -2, 2, 0, -4, 0, 4, 2, -2, 2, -2});
  EXPECT_EQ(made("irfft", {x}, {{"n", int64_t{7}}}), "f32[tokens, 7]");
  const double third = std::cos(2 * M_PI / 3);
  const Floats odd = bench.run("irfft", {x}, {{"n", int64_t{3}}})[0];
  EXPECT_NEAR(odd[0], 4, 1e-5);
  EXPECT_NEAR(odd[1], 4.0 / 3 + 8.0 / 3 * third, 1e-5);
}

TEST_F(Signals, TheGradientsOfSpectra) {
  // An element of a signal of 4, and the second one; bins are 1, 2 cos and 1, and - 2 sin of the middle one.
  const ValueId grad = tensor(DType::f32, {kTokens, 4}, {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0});
  expect_near(bench.run("irfft_backward", {grad}, {{"bins", int64_t{3}}})[0],
              Numbers{1, 0, 2, 0, 1, 0, 1, 0, 0, -2, -1, 0, 0, 0, 0, 0, 0, 0});
  expect_near(bench.run("irfft_backward", {grad},
                        {{"bins", int64_t{1}}, {"normalization", std::string("forward")}})[0],
              Numbers{4, 0, 4, 0, 0, 0});
  EXPECT_EQ(made("irfft_backward", {grad}, {{"bins", int64_t{5}}}), "f32[tokens, 5, 2]");
  EXPECT_THAT(made("irfft_backward", {grad}, {{"bins", int64_t{0}}}), HasSubstr("bins"));
  EXPECT_THAT(
      made("irfft_backward", {tensor(DType::f32, {4, kTokens}, noise(12, 1))}, {{"bins", int64_t{3}}}),
      HasSubstr("irfft_backward takes [.., n], signals of a fixed number of elements"));
  expect_cost(2.5 * 12 * 2, 4 * (18 + 12), "irfft_backward", {grad}, {{"bins", int64_t{3}}});
}

TEST_F(Signals, WhatIsNoSpectrumIsRefused) {
  const ValueId x = tensor(DType::f32, {kTokens, 3, 2}, noise(18, 1));
  EXPECT_THAT(made("irfft", {tensor(DType::f32, {4, 3}, noise(12, 1))}),
              HasSubstr("src is f32[4, 3]; irfft takes [.., bins, 2]"));
  EXPECT_THAT(made("irfft", {tensor(DType::f32, {kTokens, 2}, noise(6, 1))}),
              HasSubstr("a fixed number of bins"));
  EXPECT_THAT(made("irfft", {tensor(DType::f32, {4, 1, 2}, noise(8, 1))}), HasSubstr("has no samples"));
  EXPECT_THAT(made("irfft", {x}, {{"n", int64_t{-2}}}), HasSubstr("n is -2, but src is f32[tokens, 3, 2]"));
  EXPECT_THAT(made("irfft", {x}, {{"normalization", std::string("none")}}), HasSubstr("normalization"));
  expect_cost(2.5 * 12 * 2, 4 * (18 + 12), "irfft", {x});
}

}  // namespace
}  // namespace orrery::ops::test
