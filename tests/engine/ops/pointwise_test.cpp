#include <functional>

#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

constexpr size_t kRows = 3, kCols = 21;

struct Case {
  const char* op;
  Attributes attributes;
  std::function<double(double)> function;
};

TEST(Pointwise, UnaryFunctions) {
  const double root_two = std::sqrt(2.0), pi = std::acos(-1.0);
  const Case cases[] = {
      {"silu", {}, [](double x) { return x / (1 + std::exp(-x)); }},
      {"relu", {}, [](double x) { return x > 0 ? x : 0; }},
      {"tanh", {}, [](double x) { return std::tanh(x); }},
      {"gelu", {}, [&](double x) { return x * 0.5 * (1 + std::erf(x / root_two)); }},
      {"gelu",
       {{"approximation", std::string("tanh")}},
       [&](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x))); }},
      {"scale", {{"factor", -1.75}}, [](double x) { return -1.75 * x; }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.op);
    Bench bench;
    Floats src = noise(kRows * kCols, 1);
    for (float& x : src) x *= 6;
    std::vector<double> expected;
    for (const float x : src) expected.push_back(one.function(x));
    expect_near(bench.run(one.op, {bench.rows("x", kTokens, src)}, one.attributes).at(0), expected);
  }
}

TEST(Pointwise, RowsAreNormalised) {
  Bench bench;
  const Floats src = noise(kRows * kCols, 2);
  std::vector<double> soft(src.size()), unit(src.size());
  for (size_t row = 0; row < kRows; ++row) {
    double sum = 0, squares = 0;
    for (size_t i = row * kCols; i < (row + 1) * kCols; ++i) {
      sum += std::exp(double(src[i]));
      squares += double(src[i]) * src[i];
    }
    for (size_t i = row * kCols; i < (row + 1) * kCols; ++i) {
      soft[i] = std::exp(double(src[i])) / sum;
      unit[i] = src[i] / std::sqrt(squares);
    }
  }
  const ValueId value = bench.rows("x", kTokens, src);
  expect_near(bench.run("softmax", {value}).at(0), soft);
  expect_near(bench.run("l2_normalise", {value}).at(0), unit);
}

std::vector<double> combine(const Floats& a, const Floats& b, bool product) {
  std::vector<double> dst;
  for (size_t i = 0; i < a.size(); ++i) {
    const double other = b[i % b.size()];
    dst.push_back(product ? a[i] * other : a[i] + other);
  }
  return dst;
}

TEST(Pointwise, SumsAndProductsOfEqualsAndOfARow) {
  Bench bench;
  const Floats a = noise(kRows * kCols, 3), b = noise(kRows * kCols, 4), row = noise(kCols, 5);
  const ValueId left = bench.rows("a", kTokens, a), right = bench.rows("b", kTokens, b);
  const ValueId computed = bench.vector("row", row);
  const ValueId weight = bench.weight("w", DType::f16, {kCols}, row);
  const ValueId matrix = bench.weight("m", DType::f32, {1, kCols}, row);
  for (const bool product : {false, true}) {
    const char* op = product ? "mul" : "add";
    expect_near(bench.run(op, {left, right}).at(0), combine(a, b, product));
    expect_near(bench.run(op, {left, computed}).at(0), combine(a, row, product));
    expect_near(bench.run(op, {left, weight}).at(0), combine(a, bench.weight_values(weight), product));
    expect_near(bench.run(op, {left, matrix}).at(0), combine(a, row, product));
  }
}

}  // namespace
}  // namespace orrery::ops::test
