// Activations of any float type and rank, and what becomes of an axis: softmax and its logarithm.
#include <cmath>
#include <functional>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;
using Activations = TensorTest;

TEST_F(Activations, OfEveryFloatTypeAndRank) {
  struct Case {
    const char *op, *approximation;
    double (*function)(double);
  };
  const Case cases[] = {
      {"silu", "", [](double x) { return x / (1 + std::exp(-x)); }},
      {"relu", "", [](double x) { return x > 0 ? x : 0; }},
      {"tanh", "", [](double x) { return std::tanh(x); }},
      {"gelu", "none", [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"gelu", "tanh",
       [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }},
      {"gelu", "quick", [](double x) { return x / (1 + std::exp(-1.702 * x)); }},
  };
  Floats data(12);
  for (size_t i = 0; i < data.size(); ++i) data[i] = 0.75F * static_cast<float>(i) - 4.0F;
  for (const Case& one : cases) {
    Attributes attributes;
    if (*one.approximation != 0) attributes["approximation"] = std::string(one.approximation);
    Numbers expected;
    for (const float x : data) expected.push_back(one.function(x));
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      for (const Shape& shape : {Shape{12}, Shape{kTokens, 4}, Shape{2, kTokens, 2}, Shape{4, kTokens}}) {
        SCOPED_TRACE(one.op + std::string(one.approximation) + " " + graph::to_string({dtype, shape}));
        const ValueId x = tensor(dtype, shape, data);
        EXPECT_EQ(made(one.op, {x}, attributes), graph::to_string({dtype, shape}));
        const double step = dtype == DType::f32 ? 1e-5 : dtype == DType::f16 ? 1e-3 : 8e-3;
        expect_near(bench.run(one.op, {x}, attributes)[0], expected, step);
      }
  }
  const ValueId one = tensor(DType::f32, {}, {2.0F});
  expect_near(bench.run("silu", {one})[0], Numbers{2 / (1 + std::exp(-2.0))});
  EXPECT_THAT(made("relu", {tensor(DType::i32, {2}, {1, 2})}), HasSubstr("it must be of f32, f16 or bf16"));
}

TEST_F(Activations, RowsOfF32GoToTheKernelsOfLayers) {
  const auto kernels = [&](DType dtype, const char* approximation) {
    const auto node = bench.add("gelu", {tensor(dtype, {kTokens, 4}, Floats(12, 1.0F))},
                                {{"approximation", std::string(approximation)}});
    const auto lowered = bench.lower(*node);
    EXPECT_TRUE(lowered.ok());
    return lowered->kernel;
  };
  EXPECT_THAT(kernels(DType::f32, "tanh"), testing::Not("cpu.runs"));
  EXPECT_EQ(kernels(DType::f16, "tanh"), "cpu.runs");
  EXPECT_EQ(kernels(DType::f32, "quick"), "cpu.runs");
}

TEST_F(Activations, RowsOfAnyRankGetUnitLength) {
  const ValueId x = tensor(DType::f32, {2, 1, 2}, {3, 4, -8, 6});
  expect_near(bench.run("l2_normalise", {x})[0], Numbers{0.6, 0.8, -0.8, 0.6});
}

TEST_F(Activations, LogarithmsOfProbabilities) {
  const Floats data = {1, 2, 3, -1, 0, 4};
  const auto log_of = [&](size_t i, std::initializer_list<size_t> axis) {
    double sum = 0;
    for (const size_t k : axis) sum += std::exp(double{data[k]});
    return data[i] - std::log(sum);
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const ValueId x = tensor(dtype, {2, 3}, data);
    const double step = dtype == DType::f32 ? 1e-6 : dtype == DType::f16 ? 1e-3 : 8e-3;
    Numbers rows, columns;
    for (size_t i = 0; i < 6; ++i) {
      rows.push_back(i < 3 ? log_of(i, {0, 1, 2}) : log_of(i, {3, 4, 5}));
      columns.push_back(log_of(i, {i % 3, i % 3 + 3}));
    }
    expect_near(bench.run("logsoftmax", {x})[0], rows, step);
    expect_near(bench.run("logsoftmax", {x}, {{"axis", int64_t{0}}})[0], columns, step);
  }
  expect_cost(5 * 6, 48, "logsoftmax", {tensor(DType::f32, {2, 3}, data)});
  EXPECT_THAT(made("logsoftmax", {tensor(DType::f32, {2}, {1, 2})}, {{"axis", int64_t{1}}}),
              HasSubstr("axis is 1"));
}

}  // namespace
}  // namespace orrery::ops::test
