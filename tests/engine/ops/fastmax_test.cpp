// Fastmax and its gradients as ops: shapes, what is refused, costs worked out by hand, results against plain
// loops. Three tokens.
#include <cmath>
#include <limits>
#include <string>

#include "engine/ops/evaluate.h"
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;

struct FastmaxOp : TensorTest {
  ValueId heads(int64_t count, const Dim& tokens, uint32_t seed, DType dtype = DType::f32) {
    return tensor(dtype, {2, count, tokens, 4}, noise(static_cast<size_t>(2 * count * 3 * 4), seed));
  }
  ValueId query = heads(4, kTokens, 1), key = heads(2, kTokens, 2), value = heads(2, kTokens, 3);
};

TEST_F(FastmaxOp, IsOfTheShapeOfItsQuery) {
  EXPECT_EQ(made("fastmax", {query, key, value, ValueId{}, ValueId{}}), "f32[2, 4, tokens, 4]");
}

TEST_F(FastmaxOp, RefusesWhatDoesNotFit) {
  const ValueId none;
  const ValueId flat = tensor(DType::f32, {3, 4}, noise(12, 4));
  EXPECT_THAT(made("fastmax", {flat, key, value, none, none}), HasSubstr("[batch, heads, tokens, head_dim]"));
  EXPECT_THAT(made("fastmax", {query, heads(3, kTokens, 5), heads(3, kTokens, 6), none, none}),
              HasSubstr("query has 4 heads, but key has 3"));
  EXPECT_THAT(made("fastmax", {query, heads(2, kTokens, 5, DType::bf16), value, none, none}),
              HasSubstr("key"));
  EXPECT_THAT(made("fastmax", {query, key, value, flat, none}), HasSubstr("2*tokens-1"));
  EXPECT_THAT(made("fastmax", {query, key, value, none, key}), HasSubstr("noise"));
  const auto with = [&](Attributes attributes) {
    return made("fastmax", {query, key, value, none, none}, std::move(attributes));
  };
  EXPECT_THAT(with({{"p", int64_t{3}}}), HasSubstr("p is 3"));
  EXPECT_THAT(with({{"temperature", 0.0}}), HasSubstr("temperature"));
  EXPECT_THAT(with({{"limit", -1.0}}), HasSubstr("limit"));
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const std::string name : {"a0", "a1", "a2", "limit", "temperature", "dropout"})
    EXPECT_THAT(with({{name, kInfinite}, {"positive", false}}),
                HasSubstr(name + " is inf; it must be a finite number"));
  EXPECT_THAT(with({{"dropout", 1.0}, {"dropout_form", "features"}}), HasSubstr("less than 1"));
  EXPECT_THAT(with({{"dropout_form", "rows"}}), HasSubstr("dropout_form"));
}

/// Weights below zero are asked about, and taken where they are wanted.
TEST_F(FastmaxOp, RefusesWeightsBelowZero) {
  const auto with = [&](Attributes attributes) {
    return made("fastmax", {query, key, value, ValueId{}, ValueId{}}, std::move(attributes));
  };
  EXPECT_THAT(with({{"a2", 0.25}}), HasSubstr("a1^2 < 4 a0 a2"));
  EXPECT_EQ(with({{"a2", 0.25}, {"positive", false}}), "f32[2, 4, tokens, 4]");
  EXPECT_EQ(with({{"p", int64_t{1}}}), "f32[2, 4, tokens, 4]");
  EXPECT_THAT(with({{"p", int64_t{1}}, {"limit", 1.5}}), HasSubstr("limit^2 / temperature <= a0 / a1"));
  EXPECT_THAT(with({{"p", int64_t{1}}, {"normalise", false}}), HasSubstr("not normalised"));
}

/// Per pair of a query and a key two products of 4: direct costs 2 x 8 x 3 x 3 x 4 of them; the factorised
/// form has 15 features of 5 columns for each of 24 queries and 12 keys.
TEST_F(FastmaxOp, CostsTheCheaperForm) {
  const double pairs = 2 * 4 * 3 * 3, bytes = 4 * (2 * 96 + 2 * 48);
  expect_cost(2 * 2 * pairs * 4, bytes, "fastmax", {query, key, value, ValueId{}, ValueId{}});
  expect_cost(2 * 2 * pairs * 4 / 2, bytes, "fastmax", {query, key, value, ValueId{}, ValueId{}},
              {{"causal", true}});
  expect_cost(2 * (24 + 12) * 15 * 5, bytes, "fastmax", {query, key, value, ValueId{}, ValueId{}},
              {{"dropout", 0.1}, {"dropout_form", "features"}});
}

/// The formula, and by differences of it the gradient of the query.
TEST_F(FastmaxOp, ComputesTheFormula) {
  const Floats q = noise(96, 1), k = noise(48, 2), v = noise(48, 3);
  const auto at = [](size_t batch, size_t heads, size_t head, size_t token) {
    return ((batch * heads + head) * 3 + token) * 4;
  };
  const auto out_of = [&](const Floats& from) {
    std::vector<double> out(96);
    for (size_t b = 0; b < 2; ++b)
      for (size_t h = 0; h < 4; ++h)
        for (size_t i = 0; i < 3; ++i) {
          double total = 0;
          for (size_t j = 0; j <= i; ++j) {
            double s = 0;
            for (size_t d = 0; d < 4; ++d)
              s += double{from[at(b, 4, h, i) + d]} * k[at(b, 2, h / 2, j) + d] / 2;
            const double w = 1 + s + s * s / 2;
            total += w;
            for (size_t d = 0; d < 4; ++d) out[at(b, 4, h, i) + d] += w * v[at(b, 2, h / 2, j) + d];
          }
          for (size_t d = 0; d < 4; ++d) out[at(b, 4, h, i) + d] /= total;
        }
    return out;
  };
  const Attributes attributes{{"causal", true}, {"normalise", false}, {"temperature", 2.0}};
  const auto forward = bench.add("fastmax", {query, key, value, ValueId{}, ValueId{}}, attributes);
  ASSERT_TRUE(forward.ok());
  const std::vector<double> expected = out_of(q);
  const Floats out = bench.run(*forward)[0];
  ASSERT_EQ(out.size(), expected.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-5) << i;

  const Floats weights = noise(96, 9);
  const auto backward = bench.add(
      "fastmax_backward",
      {tensor(DType::f32, {2, 4, kTokens, 4}, weights), query, key, value, ValueId{}, ValueId{}}, attributes);
  ASSERT_TRUE(backward.ok());
  const Floats gradient = bench.run(*backward)[0];
  for (size_t i = 0; i < 96; i += 7) {
    Floats moved = q;
    moved[i] += 1e-2F;
    double difference = 0;
    const std::vector<double> above = out_of(moved);
    moved[i] = q[i] - 1e-2F;
    const std::vector<double> below = out_of(moved);
    for (size_t o = 0; o < 96; ++o) difference += weights[o] * (above[o] - below[o]) / 2e-2;
    EXPECT_NEAR(gradient[i], difference, 1e-3) << i;
  }
}

}  // namespace
}  // namespace orrery::ops::test
