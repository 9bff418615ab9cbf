// The families of ops on tensors: functions of one value, of two, reductions, and shapes. Three tokens.
#include <cmath>
#include <functional>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;

std::vector<int64_t> ints(std::initializer_list<int64_t> values) { return values; }

struct Families : TensorTest {};

TEST_F(Families, FunctionsOfOneValue) {
  const Floats data = {-0.9F, -0.25F, 0.0F, 0.125F, 0.5F, 0.75F};
  const ValueId x = tensor(DType::f32, {kTokens, 2}, data);
  const auto expect = [&](const std::string& op, double (*f)(double)) {
    Numbers expected;
    for (const float value : data) expected.push_back(f(value));
    EXPECT_EQ(made(op, {x}), "f32[tokens, 2]");
    expect_near(bench.run(op, {x})[0], expected);
  };
  expect("abs", [](double v) { return std::abs(v); });
  expect("negate", [](double v) { return -v; });
  expect("exp", [](double v) { return std::exp(v); });
  expect("log1p", [](double v) { return std::log1p(v); });
  expect("sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); });
  expect("sin", [](double v) { return std::sin(v); });
  expect("cos", [](double v) { return std::cos(v); });
  expect("acos", [](double v) { return std::acos(v); });
  expect("atanh", [](double v) { return std::atanh(v); });
  expect("erf", [](double v) { return std::erf(v); });
  expect("floor", [](double v) { return std::floor(v); });
  expect("round", [](double v) { return std::nearbyint(v); });
  expect("trunc", [](double v) { return std::trunc(v); });
  const ValueId positive = tensor(DType::f16, {3}, {0.25F, 1.0F, 4.0F});
  expect_near(bench.run("sqrt", {positive})[0], Numbers{0.5, 1, 2});
  expect_near(bench.run("rsqrt", {positive})[0], Numbers{2, 1, 0.5});
  expect_near(bench.run("log", {positive})[0], Numbers{std::log(0.25), 0, std::log(4.0)}, 1e-3);
  EXPECT_EQ(made("exp", {positive}), "f16[3]");
}

TEST_F(Families, TestsAndBits) {
  const ValueId x = tensor(DType::f32, {4}, {NAN, INFINITY, -INFINITY, 1.0F});
  EXPECT_EQ(made("is_nan", {x}), "bool[4]");
  expect_near(bench.run("is_nan", {x})[0], Numbers{1, 0, 0, 0}, 0);
  expect_near(bench.run("is_inf", {x})[0], Numbers{0, 1, 1, 0}, 0);
  const ValueId a = tensor(DType::u8, {4}, {12, 10, 255, 0}), b = tensor(DType::u8, {4}, {10, 10, 1, 7}),
                p = tensor(DType::boolean, {4}, {0, 0, 1, 1}), q = tensor(DType::boolean, {4}, {0, 1, 0, 1});
  expect_near(bench.run("bitwise_and", {a, b})[0], Numbers{8, 10, 1, 0}, 0);
  expect_near(bench.run("bitwise_or", {a, b})[0], Numbers{14, 10, 255, 7}, 0);
  expect_near(bench.run("bitwise_xor", {a, b})[0], Numbers{6, 0, 254, 7}, 0);
  expect_near(bench.run("bitwise_not", {a})[0], Numbers{243, 245, 0, 255}, 0);
  expect_near(bench.run("logical_and", {p, q})[0], Numbers{0, 0, 0, 1}, 0);
  expect_near(bench.run("logical_or", {p, q})[0], Numbers{0, 1, 1, 1}, 0);
  expect_near(bench.run("logical_xor", {p, q})[0], Numbers{0, 1, 1, 0}, 0);
  expect_near(bench.run("logical_not", {p})[0], Numbers{1, 1, 0, 0}, 0);
}

TEST_F(Families, FunctionsOfTwoNumbers) {
  const ValueId a = tensor(DType::f32, {5}, {7, -7, 7, -7, 5.5F}),
                b = tensor(DType::f32, {5}, {2, 2, -2, -2, 5.5F});
  expect_near(bench.run("floor_div", {a, b})[0], Numbers{3, -4, -4, 3, 1}, 0);
  expect_near(bench.run("mod", {a, b})[0], Numbers{1, 1, -1, -1, 0}, 0);
  expect_near(bench.run("maximum", {a, b})[0], Numbers{7, 2, 7, -2, 5.5}, 0);
  expect_near(bench.run("minimum", {a, b})[0], Numbers{2, -7, -2, -7, 5.5}, 0);
  expect_near(bench.run("pow", {a, b})[0], Numbers{49, 49, 1.0 / 49, 1.0 / 49, std::pow(5.5, 5.5)}, 1e-4);
  const ValueId n = tensor(DType::f32, {5}, {NAN, 1, NAN, 1, NAN});
  for (const char* op : {"maximum", "minimum"}) EXPECT_TRUE(std::isnan(bench.run(op, {n, b})[0][0])) << op;
}

TEST_F(Families, ReductionsOverOneAxisSomeOrAll) {
  Floats data(3 * 4 * 5);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>((i * 37) % 23) - 11.0F;
  const ValueId x = tensor(DType::f32, {kTokens, 4, 5}, data);
  const auto at = [&](size_t i, size_t j, size_t k) { return double{data[(i * 4 + j) * 5 + k]}; };
  Numbers sums(15), largest(3, -1e30), places(15, 0);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j)
      for (size_t k = 0; k < 5; ++k) {
        sums[i * 5 + k] += at(i, j, k);
        largest[i] = std::max(largest[i], at(i, j, k));
        if (at(i, j, k) > at(i, static_cast<size_t>(places[i * 5 + k]), k))
          places[i * 5 + k] = static_cast<double>(j);
      }
  EXPECT_EQ(made("sum", {x}, {{"axis", ints({1})}}), "f32[tokens, 1, 5]");
  EXPECT_EQ(made("sum", {x}, {{"axis", ints({1})}, {"keepdims", false}}), "f32[tokens, 5]");
  EXPECT_EQ(made("max", {x}, {{"axis", ints({-1, 1})}}), "f32[tokens, 1, 1]");
  EXPECT_EQ(made("argmax", {x}), "i64[1, 1, 1]");
  EXPECT_EQ(made("prod", {x}, {{"keepdims", false}}), "f32[]");
  expect_near(bench.run("sum", {x}, {{"axis", ints({1})}})[0], sums);
  for (double& sum : sums) sum /= 4;
  expect_near(bench.run("mean", {x}, {{"axis", ints({-2})}})[0], sums);
  expect_near(bench.run("max", {x}, {{"axis", ints({2, 1})}})[0], largest, 0);
  expect_near(bench.run("argmax", {x}, {{"axis", ints({1})}})[0], places, 0);
  const ValueId whole = tensor(DType::i32, {2, 3}, {1, 2, 3, -4, 5, 6});
  expect_near(bench.run("prod", {whole}, {{"axis", ints({1})}})[0], Numbers{6, -120}, 0);
  expect_near(bench.run("min", {whole})[0], Numbers{-4}, 0);
  expect_near(bench.run("argmin", {whole})[0], Numbers{3}, 0);
}

TEST_F(Families, CumulativeSums) {
  const ValueId x = tensor(DType::i32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_near(bench.run("cumsum", {x})[0], Numbers{1, 3, 6, 4, 9, 15}, 0);
  expect_near(bench.run("cumsum", {x}, {{"axis", int64_t{0}}, {"exclusive", true}})[0],
              Numbers{0, 0, 0, 1, 2, 3}, 0);
  expect_near(bench.run("cumsum", {x}, {{"reverse", true}})[0], Numbers{6, 5, 3, 15, 11, 6}, 0);
}

TEST_F(Families, Recurrences) {
  const ValueId factor = tensor(DType::f32, {2, 3}, {9, 2, 0.5F, 2, 0, 3}),
                x = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_near(bench.run("recurrence", {factor, x})[0], Numbers{1, 4, 5, 4, 5, 21}, 0);
  expect_near(bench.run("recurrence", {factor, x}, {{"reverse", true}})[0], Numbers{73, 8, 3, 14, 5, 6}, 0);
  expect_near(bench.run("recurrence", {factor, x}, {{"axis", int64_t{0}}})[0], Numbers{1, 2, 3, 6, 5, 15}, 0);
  EXPECT_THAT(made("recurrence", {factor, tensor(DType::f32, {3, 2}, Floats(6))}),
              HasSubstr("src is f32[3, 2]"));
  EXPECT_THAT(made("recurrence", {tensor(DType::i32, {2}, Floats(2)), tensor(DType::i32, {2}, Floats(2))}),
              HasSubstr("it must be of f32, f16 or bf16"));
  expect_cost(12, 4 * 18, "recurrence", {factor, x});
}

TEST_F(Families, ShapesThatAreSeenAnotherWay) {
  const Floats data = {1, 2, 3, 4, 5, 6};
  const ValueId x = tensor(DType::f32, {kTokens, 1, 2}, data);
  const Numbers same(data.begin(), data.end());
  EXPECT_EQ(made("squeeze", {x}, {{"axis", int64_t{-2}}}), "f32[tokens, 2]");
  EXPECT_EQ(made("unsqueeze", {x}, {{"axis", int64_t{-1}}}), "f32[tokens, 1, 2, 1]");
  EXPECT_EQ(made("unsqueeze", {x}, {{"axis", int64_t{0}}}), "f32[1, tokens, 1, 2]");
  EXPECT_EQ(made("flatten", {x}), "f32[2*tokens]");
  EXPECT_EQ(made("flatten", {x}, {{"start_dim", int64_t{1}}}), "f32[tokens, 2]");
  expect_near(bench.run("squeeze", {x}, {{"axis", int64_t{1}}})[0], same, 0);
  expect_near(bench.run("unsqueeze", {x}, {{"axis", int64_t{1}}})[0], same, 0);
  expect_near(bench.run("flatten", {x})[0], same, 0);
}

TEST_F(Families, ElementsSeveralTimes) {
  const ValueId x = tensor(DType::i16, {2, 2}, {1, 2, 3, 4}), row = tensor(DType::i16, {1, 2}, {8, 9});
  EXPECT_EQ(made("tile", {x}, {{"repeats", ints({1, 2})}}), "i16[2, 4]");
  expect_near(bench.run("tile", {x}, {{"repeats", ints({2, 2})}})[0],
              Numbers{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}, 0);
  expect_near(bench.run("repeat_interleave", {x}, {{"repeats", int64_t{2}}})[0],
              Numbers{1, 1, 2, 2, 3, 3, 4, 4}, 0);
  expect_near(bench.run("repeat_interleave", {x}, {{"repeats", int64_t{2}}, {"axis", int64_t{0}}})[0],
              Numbers{1, 2, 1, 2, 3, 4, 3, 4}, 0);
  EXPECT_EQ(made("broadcast_to", {row}, {{"shape", ints({2, 3, -1})}}), "i16[2, 3, 2]");
  expect_near(bench.run("broadcast_to", {row}, {{"shape", ints({3, 2})}})[0], Numbers{8, 9, 8, 9, 8, 9}, 0);
  EXPECT_EQ(made("stack", {x, x, x}, {{"axis", int64_t{-1}}}), "i16[2, 2, 3]");
  const ValueId y = tensor(DType::i16, {2, 2}, {5, 6, 7, 8});
  expect_near(bench.run("stack", {x, y})[0], Numbers{1, 2, 3, 4, 5, 6, 7, 8}, 0);
  expect_near(bench.run("stack", {x, y}, {{"axis", int64_t{1}}})[0], Numbers{1, 2, 5, 6, 3, 4, 7, 8}, 0);
  expect_near(bench.run("stack", {x, y}, {{"axis", int64_t{-1}}})[0], Numbers{1, 5, 2, 6, 3, 7, 4, 8}, 0);
}

TEST_F(Families, ElementsFoundByNumbers) {
  const ValueId x = tensor(DType::f32, {kTokens, 2}, {1, 2, 3, 4, 5, 6}),
                rows = tensor(DType::i64, {2, 2}, {2, -3, 0, 7}),
                pairs = tensor(DType::i32, {2, 2}, {0, 1, -1, 0});
  EXPECT_EQ(made("gather", {x, rows}), "f32[2, 2, 2]");
  expect_near(bench.run("gather", {x, rows})[0], Numbers{5, 6, 1, 2, 1, 2, 0, 0}, 0);
  EXPECT_EQ(made("gather", {x, rows}, {{"axis", int64_t{-1}}}), "f32[tokens, 2, 2]");
  expect_near(bench.run("gather", {x, pairs}, {{"axis", int64_t{1}}})[0],
              Numbers{1, 2, 2, 1, 3, 4, 4, 3, 5, 6, 6, 5}, 0);
  EXPECT_EQ(made("gather_nd", {x, pairs}), "f32[2]");
  expect_near(bench.run("gather_nd", {x, pairs})[0], Numbers{2, 5}, 0);
  expect_near(bench.run("gather_nd", {x, tensor(DType::i64, {2, 1}, {1, 1})})[0], Numbers{3, 4, 3, 4}, 0);
}

TEST_F(Families, NumbersPutWhereOthersSay) {
  const ValueId x = tensor(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6}),
                updates = tensor(DType::f32, {2, 2}, {10, 20, 30, 40}),
                rows = tensor(DType::i64, {2, 2}, {0, 2, 0, -2}), places = tensor(DType::i64, {2, 1}, {1, 1});
  const Attributes along{{"axis", int64_t{0}}};
  expect_near(bench.run("scatter", {x, updates, rows}, along)[0], Numbers{30, 2, 3, 40, 5, 20}, 0);
  expect_near(bench.run("scatter_add", {x, updates, rows}, along)[0], Numbers{41, 2, 3, 44, 5, 26}, 0);
  expect_near(bench.run("scatter_mul", {x, updates, rows}, along)[0], Numbers{300, 2, 3, 160, 5, 120}, 0);
  expect_near(bench.run("scatter_max", {x, updates, rows}, along)[0], Numbers{30, 2, 3, 40, 5, 20}, 0);
  expect_near(bench.run("scatter_min", {x, updates, rows}, along)[0], Numbers{1, 2, 3, 4, 5, 6}, 0);
  const ValueId two = tensor(DType::f32, {3, 1}, {7, 8, 9}), columns = tensor(DType::i32, {3, 1}, {1, 5, 0});
  expect_near(bench.run("scatter", {x, two, columns})[0], Numbers{1, 7, 3, 4, 9, 6}, 0);
  expect_near(bench.run("scatter_nd", {x, updates, places})[0], Numbers{1, 2, 30, 40, 5, 6}, 0);
  expect_near(bench.run("scatter_nd_add", {x, updates, places})[0], Numbers{1, 2, 43, 64, 5, 6}, 0);
  const ValueId cells = tensor(DType::i64, {2, 2}, {2, 1, 0, 0}), numbers = tensor(DType::f32, {2}, {-1, -2});
  expect_near(bench.run("scatter_nd", {x, numbers, cells})[0], Numbers{-2, 2, 3, 4, 5, -1}, 0);
  EXPECT_THAT(made("scatter", {x, updates, places}), HasSubstr("updates and indices must have one shape"));
  EXPECT_THAT(made("scatter_nd", {x, numbers, places}), HasSubstr("it must be f32[2, 2]"));
  EXPECT_THAT(made("gather", {x, updates}), HasSubstr("it must be of i32 or i64"));
  EXPECT_THAT(made("gather_nd", {x, tensor(DType::i64, {1, 3}, Floats(3))}), HasSubstr("1 to 2 of them"));
  expect_cost(0, 2 * 4 * 4 + 8 * 2, "gather", {x, tensor(DType::i64, {2}, {0, 1})});
  expect_cost(4, 2 * 24 + 2 * 16 + 32, "scatter_add", {x, updates, rows}, along);
}

TEST_F(Families, WhatHasNoMeaningIsRefused) {
  const ValueId whole = tensor(DType::i32, {2}, {1, 2}), real = tensor(DType::f32, {2, kTokens}, Floats(6)),
                yes = tensor(DType::boolean, {2}, {0, 1});
  EXPECT_THAT(made("exp", {whole}), HasSubstr("src is i32[2]; exp takes floats: cast it"));
  EXPECT_THAT(made("abs", {yes}), HasSubstr("src is bool[2]; abs takes numbers: cast it"));
  EXPECT_THAT(made("bitwise_not", {real}), HasSubstr("bitwise_not takes whole numbers"));
  EXPECT_THAT(made("logical_not", {whole}), HasSubstr("logical_not takes bools"));
  EXPECT_THAT(made("logical_and", {whole, whole}), HasSubstr("it takes bools: compare them, or cast them"));
  EXPECT_THAT(made("bitwise_or", {real, real}), HasSubstr("floats have no bits to combine"));
  EXPECT_THAT(made("maximum", {yes, yes}), HasSubstr("bools are no numbers: cast them"));
  EXPECT_THAT(made("mean", {whole}), HasSubstr("src is i32[2]"));
  EXPECT_THAT(made("sum", {yes}), HasSubstr("bools are no numbers: cast it"));
  EXPECT_THAT(made("sum", {real}, {{"axis", ints({2})}}), HasSubstr("axis is 2, but src is f32[2, tokens]"));
  const ValueId cube = tensor(DType::f32, {2, 1, 2}, Floats(4));
  EXPECT_THAT(made("sum", {cube}, {{"axis", ints({0, 2})}}),
              HasSubstr("axes 0, 2 of src, which is f32[2, 1, 2], are "
                        "no neighbours"));
  EXPECT_THAT(made("squeeze", {cube}, {{"axis", int64_t{0}}}),
              HasSubstr("has 2 elements; only one of 1 may go"));
  EXPECT_THAT(made("broadcast_to", {cube}, {{"shape", ints({2, 1, 3})}}),
              HasSubstr("only dims of 1 are repeated"));
  EXPECT_THAT(made("tile", {cube}, {{"repeats", ints({2})}}),
              HasSubstr("it must have a number for each dim"));
  EXPECT_THAT(made("repeat_interleave", {cube}, {{"repeats", int64_t{0}}}), HasSubstr("1 is the least"));
  EXPECT_THAT(made("stack", {whole, yes}),
              HasSubstr("part 1 is bool[2], but part 0 is i32[2]; they must be alike"));
}

TEST_F(Families, CostsAreCountedByHand) {
  const ValueId x = tensor(DType::f32, {kTokens, 4}, Floats(12)), y = tensor(DType::f16, {2, 2}, Floats(4));
  expect_cost(3 * 12, 2 * 4 * 12, "sigmoid", {x});
  expect_cost(12, 4 * 12 + 12, "is_nan", {x});
  expect_cost(12, 4 * 12 + 4 * 3, "sum", {x}, {{"axis", ints({1})}});
  expect_cost(12, 4 * 12 + 8, "argmax", {x});
  expect_cost(4, 2 * 2 * 4, "cumsum", {y});
  expect_cost(0, 0, "flatten", {y});
  expect_cost(0, 2 * 2 * 8, "tile", {y}, {{"repeats", ints({2, 1})}});
  expect_cost(0, 2 * 2 * 8, "stack", {y, y});
}

}  // namespace
}  // namespace orrery::ops::test
