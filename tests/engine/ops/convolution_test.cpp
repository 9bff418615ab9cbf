// Convolutions and their transposes against plain loops: what they compute, what they cost and what is
// refused. Three tokens.
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;
using Ints = std::vector<int64_t>;

struct Convolutions : TensorTest {};

/// dst of conv2d by plain loops, one number for both dims; `high` follows from the size of dst.
struct Loops {
  int64_t n, groups, channels, outputs;  // channels of src and of dst
  int64_t height, width, kernel, stride, low, dilation;

  Numbers convolved(const Floats& src, const Floats& weight, const Floats& bias, int64_t rows,
                    int64_t cols) const {
    Numbers dst;
    const int64_t in = channels / groups, out = outputs / groups;
    for (int64_t b = 0; b < n; ++b)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t y = 0; y < rows; ++y)
          for (int64_t x = 0; x < cols; ++x) {
            double sum = bias.empty() ? 0.0 : bias[static_cast<size_t>(o)];
            for (int64_t c = 0; c < in; ++c)
              for (int64_t i = 0; i < kernel; ++i)
                for (int64_t j = 0; j < kernel; ++j) {
                  const int64_t row = y * stride - low + i * dilation, col = x * stride - low + j * dilation;
                  if (row < 0 || row >= height || col < 0 || col >= width) continue;
                  const int64_t plane = b * channels + o / out * in + c;
                  sum += static_cast<double>(src[static_cast<size_t>((plane * height + row) * width + col)]) *
                         weight[static_cast<size_t>(((o * in + c) * kernel + i) * kernel + j)];
                }
            dst.push_back(sum);
          }
    return dst;
  }
  /// Each element of src is spread over dst.
  Numbers transposed(const Floats& src, const Floats& weight, int64_t rows, int64_t cols) const {
    Numbers dst(static_cast<size_t>(n * outputs * rows * cols));
    const int64_t in = channels / groups, out = outputs / groups;
    for (int64_t b = 0; b < n; ++b)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t y = 0; y < height; ++y)
          for (int64_t x = 0; x < width; ++x)
            for (int64_t o = 0; o < out; ++o)
              for (int64_t i = 0; i < kernel; ++i)
                for (int64_t j = 0; j < kernel; ++j) {
                  const int64_t row = y * stride - low + i * dilation, col = x * stride - low + j * dilation;
                  if (row < 0 || row >= rows || col < 0 || col >= cols) continue;
                  const int64_t plane = b * outputs + c / in * out + o;
                  dst[static_cast<size_t>((plane * rows + row) * cols + col)] +=
                      static_cast<double>(
                          src[static_cast<size_t>(((b * channels + c) * height + y) * width + x)]) *
                      weight[static_cast<size_t>(((c * out + o) * kernel + i) * kernel + j)];
                }
    return dst;
  }
};

TEST_F(Convolutions, AgreeWithPlainLoops) {
  const Floats src = noise(3 * 4 * 7 * 6, 1), weight = noise(6 * 2 * 9, 2), bias = noise(6, 3);
  const ValueId x = tensor(DType::f32, {kTokens, 4, 7, 6}, src), w = tensor(DType::f32, {6, 2, 3, 3}, weight),
                b = tensor(DType::f32, {6}, bias);
  const Loops plain{3, 2, 4, 6, 7, 6, 3, 1, 0, 1}, strided{3, 2, 4, 6, 7, 6, 3, 2, 3, 2};
  expect_near(bench.run("conv2d", {x, w}, {{"groups", int64_t{2}}})[0],
              plain.convolved(src, weight, {}, 5, 4));
  expect_near(bench.run("conv2d", {x, w, b},
                        {{"groups", int64_t{2}},
                         {"stride", Ints{2}},
                         {"padding", Ints{3, 1, 3, 2}},
                         {"dilation", int64_t{2}}})[0],
              strided.convolved(src, weight, bias, 4, 4));
  const ValueId wide = tensor(DType::f32, {4, 3, 3, 3}, noise(4 * 3 * 9, 4));
  const Loops spread{3, 2, 4, 6, 7, 6, 3, 2, 1, 1};
  expect_near(bench.run("conv2d_transpose", {x, wide},
                        {{"groups", int64_t{2}},
                         {"stride", int64_t{2}},
                         {"padding", int64_t{1}},
                         {"output_padding", Ints{1, 0}}})[0],
              spread.transposed(src, noise(4 * 3 * 9, 4), 14, 11));
}

TEST_F(Convolutions, OfOneAndThreeDimsAreThoseOfTwoThatHaveSizesOfOne) {
  const Floats src = noise(3 * 2 * 10, 1), weight = noise(4 * 2 * 3, 2);
  const Attributes strided = {{"stride", int64_t{2}}, {"padding", int64_t{1}}};
  const auto line = bench.run(
      "conv1d", {tensor(DType::f32, {kTokens, 2, 10}, src), tensor(DType::f32, {4, 2, 3}, weight)}, strided);
  const Attributes flat = {{"stride", Ints{1, 2}}, {"padding", Ints{0, 1}}};
  EXPECT_EQ(
      bench.run("conv2d",
                {tensor(DType::f32, {kTokens, 2, 1, 10}, src), tensor(DType::f32, {4, 2, 1, 3}, weight)},
                flat),
      line);
  const Attributes deep = {{"stride", Ints{1, 1, 2}}, {"padding", Ints{0, 0, 1}}};
  EXPECT_EQ(bench.run("conv3d",
                      {tensor(DType::f32, {kTokens, 2, 1, 1, 10}, src),
                       tensor(DType::f32, {4, 2, 1, 1, 3}, weight)},
                      deep),
            line);
  EXPECT_EQ(line[0].size(), 3U * 4 * 5);
  const auto back = bench.run(
      "conv1d_transpose",
      {tensor(DType::f32, {kTokens, 4, 5}, noise(60, 3)), tensor(DType::f32, {4, 2, 3}, weight)}, strided);
  EXPECT_EQ(back[0].size(), 3U * 2 * 9);
}

TEST_F(Convolutions, TypesFollowFromBothOperands) {
  const ValueId x = tensor(DType::bf16, {kTokens, 3, 8, 9}, noise(3 * 3 * 72, 1));
  EXPECT_EQ(made("conv2d", {x, tensor(DType::bf16, {5, 3, 3, 2}, noise(90, 2))}), "bf16[tokens, 5, 6, 8]");
  EXPECT_EQ(made("conv2d", {x, tensor(DType::f32, {5, 3, 3, 2}, noise(90, 2))}, {{"padding", Ints{1, 0}}}),
            "f32[tokens, 5, 8, 8]");
  EXPECT_EQ(made("conv2d_transpose", {x, tensor(DType::bf16, {3, 5, 4, 4}, noise(240, 2))},
                 {{"stride", int64_t{2}}, {"padding", int64_t{1}}}),
            "bf16[tokens, 5, 16, 18]");
}

TEST_F(Convolutions, WhatDoesNotFitIsRefused) {
  const ValueId x = tensor(DType::f32, {kTokens, 4, 5, 6}, noise(360, 1));
  const auto weight = [&](Shape shape) { return tensor(DType::f32, std::move(shape), noise(4096, 2)); };
  EXPECT_THAT(made("conv2d", {x, weight({2, 3, 3, 3})}),
              HasSubstr("weight is f32[2, 3, 3, 3], but src is f32[tokens, 4, 5, 6]; 4 channels of src in 1 "
                        "groups need weight [multiple of 1, 4, kernel]"));
  EXPECT_THAT(made("conv2d", {x, weight({6, 2, 3, 3})}, {{"groups", int64_t{4}}}),
              HasSubstr("need weight [multiple of 4, 1, kernel]"));
  EXPECT_THAT(made("conv2d", {x, weight({2, 4, 6, 3})}),
              HasSubstr("weight is f32[2, 4, 6, 3], but src is f32[tokens, 4, 5, 6]; with padding, conv2d "
                        "spans 6 of dim 2 of src, which has 5 and 0 around it, so dst would be empty"));
  EXPECT_THAT(made("conv1d", {x, weight({2, 4, 3})}),
              HasSubstr("src is f32[tokens, 4, 5, 6]; conv1d takes [n, channels, width]"));
  EXPECT_THAT(made("conv2d", {x, weight({2, 4, 3})}), HasSubstr("weight is f32[2, 4, 3], but src is"));
  EXPECT_THAT(made("conv2d", {x, weight({2, 4, 3, 3}), tensor(DType::f32, {3}, noise(3, 1))}),
              HasSubstr("bias is f32[3], but weight is f32[2, 4, 3, 3]; dst has 2 channels"));
  EXPECT_THAT(made("conv2d", {x, weight({2, 4, 3, 3})}, {{"stride", int64_t{0}}}),
              HasSubstr("stride is 0, 0; it must be 1 or more"));
  EXPECT_THAT(made("conv2d", {x, weight({2, 4, 3, 3})}, {{"padding", Ints{1, 2, 3}}}),
              HasSubstr("padding has 3 numbers"));
  EXPECT_THAT(made("conv2d", {x, weight({2, 4, 3, 3})}, {{"dilation", Ints{1, 2, 3}}}),
              HasSubstr("dilation has 3 numbers"));
  EXPECT_THAT(made("conv2d_transpose", {x, weight({3, 4, 3, 3})}),
              HasSubstr("its first dim must be the 4 channels of src"));
  EXPECT_THAT(made("conv2d_transpose", {x, weight({4, 4, 3, 3})}, {{"output_padding", int64_t{1}}}),
              HasSubstr("output_padding is 1; it must be less than the stride 1 or the dilation 1"));
  EXPECT_THAT(made("conv2d_transpose", {x, weight({4, 4, 1, 1})}, {{"padding", int64_t{3}}}),
              HasSubstr("dst would be empty"));
  EXPECT_THAT(made("conv2d", {tensor(DType::f32, {2, 4, kTokens, 6}, noise(144, 1)), weight({2, 4, 3, 3})}),
              HasSubstr("dim 2 of src f32[2, 4, tokens, 6] differs from step to step"));
  EXPECT_THAT(made("conv2d", {tensor(DType::i32, {2, 4, 5, 6}, Floats(240)), weight({2, 4, 3, 3})}),
              HasSubstr("it must be of f32, f16 or bf16: cast it"));
}

TEST_F(Convolutions, CostAMultiplyAddAWeight) {
  const ValueId x = tensor(DType::bf16, {kTokens, 4, 5, 6}, noise(360, 1)),
                w = tensor(DType::bf16, {2, 4, 3, 3}, noise(72, 2)),
                b = tensor(DType::bf16, {2}, noise(2, 2));
  // 3 x 2 x 3 x 4 sums of 36 products and a bias; 2 bytes each of 360 + 72 + 2 + 72 elements
  expect_cost(72 * 72 + 72, 2 * (360 + 72 + 2 + 72), "conv2d", {x, w, b});
  const ValueId back = tensor(DType::bf16, {4, 2, 3, 3}, noise(72, 2));
  // each of 360 elements is spread by 18 weights over 3 x 2 x 7 x 8
  expect_cost(2 * 360 * 18, 2 * (360 + 72 + 336), "conv2d_transpose", {x, back});
}

}  // namespace
}  // namespace orrery::ops::test
