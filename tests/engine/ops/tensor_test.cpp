// Ops on tensors of any type and rank against plain loops, and what they refuse. Three tokens.
#include <functional>
#include <numeric>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Shape3 = std::array<size_t, 3>;

std::vector<int64_t> ints(std::initializer_list<int64_t> values) { return values; }

struct Tensors : TensorTest {
  /// Random whole numbers of any type's range, as many as the step makes of the shape.
  ValueId random(DType dtype, const Shape& shape, Floats* data = nullptr) {
    Floats values = noise(static_cast<size_t>(*element_count(shape, bindings)), static_cast<uint32_t>(count));
    for (float& x : values) x = dtype == DType::boolean ? float(x > 0) : std::trunc(x * 100);
    if (dtype == DType::u8)
      for (float& x : values) x = std::abs(x);
    if (data) *data = values;
    return tensor(dtype, shape, values);
  }

  const Bindings bindings{{kTokens, 3}, {kSequences, 1}, {kOutputs, 2}};
};

// ---- promotion and broadcasting ----

TEST_F(Tensors, TheWiderTypeOfTheHigherCategoryHoldsBoth) {
  const auto together = [&](DType a, DType b) { return made("mul", {random(a, {2}), random(b, {2})}); };
  EXPECT_EQ(together(DType::f32, DType::f16), "f32[2]");
  EXPECT_EQ(together(DType::bf16, DType::f32), "f32[2]");
  EXPECT_EQ(together(DType::i8, DType::i64), "i64[2]");
  EXPECT_EQ(together(DType::u8, DType::i16), "i16[2]");
  EXPECT_EQ(together(DType::boolean, DType::u8), "u8[2]");
  EXPECT_EQ(together(DType::i16, DType::f32), "f32[2]");
  EXPECT_EQ(together(DType::u8, DType::bf16), "bf16[2]");
  EXPECT_EQ(together(DType::boolean, DType::f16), "f16[2]");
  for (const auto& [a, b] : {std::pair{DType::u8, DType::i8},
                             {DType::i32, DType::f32},
                             {DType::f16, DType::bf16},
                             {DType::i64, DType::f32},
                             {DType::i16, DType::f16},
                             {DType::i16, DType::bf16}}) {
    EXPECT_THAT(together(a, b), HasSubstr("holds every value of the other: cast one"));
    EXPECT_THAT(together(b, a), HasSubstr(std::string(name_of(a)) + "[2]"));
  }
  EXPECT_THAT(together(DType::boolean, DType::boolean), HasSubstr("bools are no numbers"));
}

TEST_F(Tensors, DimsAreBroadcastFromTheLast) {
  const auto wide = [&](const Shape& a, const Shape& b) {
    return made("add", {random(DType::f32, a), random(DType::f32, b)});
  };
  EXPECT_EQ(wide({kTokens, 4, 1}, {5}), "f32[tokens, 4, 5]");
  EXPECT_EQ(wide({1, kTokens}, {kTokens, 1}), "f32[tokens, tokens]");
  EXPECT_EQ(wide({}, {2, 3}), "f32[2, 3]");
  EXPECT_EQ(wide({6, 1, 2}, {1, 7, 1}), "f32[6, 7, 2]");
  EXPECT_THAT(wide({kTokens, 4}, {kTokens, 5}),
              HasSubstr("b is f32[tokens, 5], but a is f32[tokens, 4]; 5 and 4 cannot be broadcast"));
  EXPECT_THAT(wide({kTokens}, {kOutputs}), HasSubstr("outputs and tokens cannot be broadcast"));
  EXPECT_THAT(wide({kTokens}, {3}), HasSubstr("3 and tokens cannot be broadcast"));
}

// ---- functions ----

TEST_F(Tensors, ArithmeticOfAnyTypes) {
  Floats a, b;
  const ValueId x = random(DType::i32, {kTokens, 1, 5}, &a), y = random(DType::i8, {4, 1}, &b);
  const auto expected = [&](auto f) {
    std::vector<double> dst;
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 4; ++j)
        for (size_t k = 0; k < 5; ++k) dst.push_back(f(double(a[i * 5 + k]), double(b[j])));
    return dst;
  };
  expect_near(bench.run("add", {x, y})[0], expected([](double p, double q) { return p + q; }));
  expect_near(bench.run("sub", {x, y})[0], expected([](double p, double q) { return p - q; }));
  expect_near(bench.run("mul", {x, y})[0], expected([](double p, double q) { return p * q; }));
  const auto quotients = expected([](double p, double q) { return p / q; });
  EXPECT_EQ(made("div", {x, y}), "f32[tokens, 4, 5]") << "of whole numbers";
  expect_near(bench.run("div", {x, y})[0], quotients);
  expect_near(bench.run("less", {x, y})[0], expected([](double p, double q) { return p < q; }), 0);
  expect_near(bench.run("greater_equal", {x, y})[0], expected([](double p, double q) { return p >= q; }), 0);
  expect_near(bench.run("equal", {x, x})[0], std::vector<double>(15, 1.0), 0);
  expect_near(bench.run("not_equal", {x, x})[0], std::vector<double>(15, 0.0), 0);
  EXPECT_EQ(made("greater", {x, y}), "bool[tokens, 4, 5]");
  EXPECT_EQ(made("less_equal", {x, y}), "bool[tokens, 4, 5]");
}

TEST_F(Tensors, RowsOfFloatsKeepTheirKernels) {
  const ValueId x = bench.rows("x", kTokens, noise(12, 1)), row = bench.vector("row", noise(4, 2));
  const auto kernel = [&](std::vector<ValueId> inputs) {
    const auto lowered = bench.lower(*bench.add("add", std::move(inputs)));
    return lowered.ok() ? lowered->kernel : lowered.error().to_string();
  };
  EXPECT_THAT(kernel({x, x}), testing::Not("cpu.runs"));
  EXPECT_THAT(kernel({x, row}), testing::Not("cpu.runs"));
  EXPECT_EQ(kernel({row, x}), "cpu.runs");
  EXPECT_EQ(kernel({x, random(DType::f16, {4})}), "cpu.runs") << "computed in f16: the row kernels read f32";
}

TEST_F(Tensors, WhereTakesOneOrTheOther) {
  Floats mask;
  const ValueId condition = random(DType::boolean, {kTokens, 1}, &mask),
                row = tensor(DType::f32, {2}, {5, 6}), none = tensor(DType::f32, {}, {-1});
  std::vector<double> expected;
  for (const float m : mask)
    for (const double x : {5.0, 6.0}) expected.push_back(m != 0 ? x : -1);
  expect_near(bench.run("where", {condition, row, none})[0], expected, 0);
  EXPECT_EQ(made("where", {condition, row, none}), "f32[tokens, 2]");
  EXPECT_THAT(made("where", {row, row, none}), HasSubstr("condition is f32[2]; it must be of bool"));
}

/// a (.., i, k) and b (.., k, j) as plain loops.
TEST_F(Tensors, ProductsOfBatches) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      Bench bench{3, 1, 2};
      const Floats a = noise(2 * 3 * 5, 1), b = noise(4 * 5 * 7, 2);  // a (2, 1, 3, 5), b (4, 5, 7)
      std::vector<double> expected;
      for (size_t z = 0; z < 2; ++z)
        for (size_t y = 0; y < 4; ++y)
          for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 7; ++j) {
              double sum = 0;
              for (size_t k = 0; k < 5; ++k)
                sum += double(a[z * 15 + (transpose_a ? k * 3 + i : i * 5 + k)]) *
                       b[y * 35 + (transpose_b ? j * 5 + k : k * 7 + j)];
              expected.push_back(sum);
            }
      const ValueId x =
          bench.tensor("a", DType::f32, transpose_a ? Shape{2, 1, 5, kTokens} : Shape{2, 1, kTokens, 5}, a);
      const ValueId y = bench.tensor("b", DType::f32, transpose_b ? Shape{4, 7, 5} : Shape{4, 5, 7}, b);
      const auto node =
          bench.add("matmul", {x, y}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
      ASSERT_TRUE(node.ok()) << node.error().to_string();
      EXPECT_EQ(graph::to_string(bench.graph().value(bench.graph().node(*node).outputs[0]).type),
                "f32[2, 4, tokens, 7]");
      expect_near(bench.run(*node)[0], expected);
      EXPECT_DOUBLE_EQ(bench.cost(*node).flops, 2.0 * 168 * 5);
      EXPECT_DOUBLE_EQ(bench.cost(*node).bytes, 4.0 * (30 + 140 + 168));
    }
}

TEST_F(Tensors, AProductByAStepOfTheLadder) {
  const Floats a = noise(6 * 16, 1), b = noise(16 * 32, 2);
  std::vector<double> expected;
  for (size_t i = 0; i < 6; ++i)
    for (size_t j = 0; j < 32; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += double(a[i * 16 + k]) * b[k * 32 + j];
      expected.push_back(sum);
    }
  const ValueId x = tensor(DType::f32, {6, 16}, a), y = tensor(DType::f32, {16, 32}, b);
  for (const std::string step : {"", "naive", "blocked", "packed", "reference"}) {
    const auto node = bench.add("matmul_ladder", {x, y}, {{"step", step}});
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    expect_near(bench.run(*node)[0], expected);
  }
  EXPECT_EQ(made("matmul_ladder", {x, y}), "f32[6, 32]");
  EXPECT_THAT(made("matmul_ladder", {x, x}), HasSubstr("16 columns of a need as many rows of b"));
  EXPECT_THAT(made("matmul_ladder", {random(DType::f32, {kTokens, 16}), y}), HasSubstr("with fixed sizes"));
  EXPECT_THAT(made("matmul_ladder", {random(DType::bf16, {6, 16}), y}), HasSubstr("must be of one type"));
}

TEST_F(Tensors, ProductsAreRefusedWithBothShapes) {
  const ValueId a = random(DType::f32, {2, kTokens, 5}), b = random(DType::f32, {4, 7}),
                v = random(DType::f32, {5});
  EXPECT_THAT(made("matmul", {a, b}),
              HasSubstr("b is f32[4, 7], but a is f32[2, tokens, 5]; 5 columns of a need "
                        "as many rows of b, not 4"));
  EXPECT_THAT(made("matmul", {a, v}), HasSubstr("b is f32[5]; it must be a matrix"));
  EXPECT_THAT(made("matmul", {a, random(DType::f32, {3, 5, 7})}), HasSubstr("3 and 2 cannot be broadcast"));
  EXPECT_THAT(made("matmul", {a, random(DType::i8, {5, 7})}), HasSubstr("b is i8[5, 7]; it must be of f32"));
  EXPECT_THAT(made("matmul", {random(DType::f16, {2, 5}), random(DType::bf16, {5, 2})}),
              HasSubstr("cast one"));
  EXPECT_EQ(made("matmul", {random(DType::f16, {2, 5}), random(DType::f32, {5, 2})}), "f32[2, 2]");
}

TEST_F(Tensors, SoftmaxOverAnyAxis) {
  const Floats src = noise(2 * 3 * 4, 3);
  const ValueId x = tensor(DType::f32, {2, kTokens, 4}, src);
  for (const int64_t axis : {0, 1, 2, -1, -2}) {
    const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    const Shape3 sizes = {2, 3, 4}, strides = {12, 4, 1};
    std::vector<double> expected(src.size());
    for (size_t i = 0; i < src.size(); ++i) {
      const size_t first = i - i / strides[along] % sizes[along] * strides[along];
      double sum = 0;
      for (size_t k = 0; k < sizes[along]; ++k) sum += std::exp(double(src[first + k * strides[along]]));
      expected[i] = std::exp(double(src[i])) / sum;
    }
    expect_near(bench.run("softmax", {x}, {{"axis", axis}})[0], expected);
  }
  EXPECT_THAT(made("softmax", {x}, {{"axis", int64_t{3}}}),
              HasSubstr("axis is 3, but src is f32[2, tokens, 4]"));
  EXPECT_THAT(made("softmax", {random(DType::i32, {4})}), HasSubstr("cast it"));
  EXPECT_EQ(made("softmax", {random(DType::bf16, {4, kTokens})}), "bf16[4, tokens]");
}

// ---- moving elements ----

TEST_F(Tensors, TransposesByAPermutation) {
  Floats src;
  const ValueId x = random(DType::i16, {kTokens, 2, 4}, &src);
  std::vector<double> expected;
  for (size_t c = 0; c < 4; ++c)
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = 0; b < 2; ++b) expected.push_back(src[a * 8 + b * 4 + c]);
  expect_near(bench.run("transpose", {x}, {{"permutation", ints({2, 0, 1})}})[0], expected, 0);
  EXPECT_EQ(made("transpose", {x}, {{"permutation", ints({2, 0, 1})}}), "i16[4, tokens, 2]");
  EXPECT_EQ(made("transpose", {x}), "i16[tokens, 4, 2]");
  for (const auto& wrong : {ints({0, 1}), ints({0, 1, 1}), ints({0, 1, 3}), ints({-1, 0, 1})})
    EXPECT_THAT(made("transpose", {x}, {{"permutation", wrong}}),
                HasSubstr("but src is i16[tokens, 2, 4]; it must name each of its dims once"));
}

TEST_F(Tensors, ReshapesAreTheSameElements) {
  Floats src;
  const ValueId x = random(DType::u8, {kTokens, 8}, &src);
  const auto as = [&](std::vector<int64_t> shape) {
    return made("reshape", {x}, {{"shape", std::move(shape)}});
  };
  EXPECT_EQ(as({0, 2, 4}), "u8[tokens, 2, 4]");
  EXPECT_EQ(as({0, 2, -1}), "u8[tokens, 2, 4]");
  EXPECT_EQ(as({-1, 4}), "u8[2*tokens, 4]");
  EXPECT_EQ(as({-1}), "u8[8*tokens]");
  EXPECT_EQ(as({1, -1, 8}), "u8[1, tokens, 8]");
  EXPECT_THAT(as({-1, 3}), HasSubstr("src is u8[tokens, 8], which cannot be seen as [-1, 3]"));
  EXPECT_THAT(as({3, 8}), HasSubstr("other numbers of elements"));
  EXPECT_THAT(as({-1, -1}), HasSubstr("one size may be -1"));
  EXPECT_THAT(as({8, -1, 0}), HasSubstr("0 takes the same dim of src"));
  const ValueId map = random(DType::f32, {2, kTokens, kTokens});
  EXPECT_EQ(made("reshape", {map}, {{"shape", ints({1, -1, 0})}}), "f32[1, 2*tokens, tokens]");
  EXPECT_THAT(made("reshape", {map}, {{"shape", ints({2, -1})}}), HasSubstr("cannot be seen"));
  EXPECT_EQ(made("reshape", {random(DType::f32, {1, 1})}, {{"shape", ints({})}}), "f32[]");
  // Sources are copied where the bench gives another place.
  expect_near(bench.run("reshape", {x}, {{"shape", ints({0, 2, 4})}})[0],
              std::vector<double>(src.begin(), src.end()), 0);
  expect_cost(0, 0, "reshape", {x}, {{"shape", ints({-1})}});
}

TEST_F(Tensors, SlicesByFixedBounds) {
  Floats src;
  const ValueId x = random(DType::i64, {kTokens, 10}, &src);
  const auto slice = [&](int64_t start, int64_t stop, int64_t step) {
    return Attributes{
        {"axes", ints({1})}, {"starts", ints({start})}, {"stops", ints({stop})}, {"steps", ints({step})}};
  };
  const auto expected = [&](size_t start, size_t stop, size_t step) {
    std::vector<double> dst;
    for (size_t t = 0; t < 3; ++t)
      for (size_t i = start; i < stop; i += step) dst.push_back(src[t * 10 + i]);
    return dst;
  };
  expect_near(bench.run("slice", {x}, slice(2, 9, 3))[0], expected(2, 9, 3), 0);
  expect_near(bench.run("slice", {x}, slice(-3, INT64_MAX, 1))[0], expected(7, 10, 1), 0);
  expect_near(bench.run("slice", {x}, slice(0, -1, 2))[0], expected(0, 9, 2), 0);
  EXPECT_EQ(made("slice", {x}, slice(2, 9, 3)), "i64[tokens, 3]");
  Floats deep;
  const ValueId y = random(DType::i8, {kTokens, 4, 5}, &deep);
  std::vector<double> inner;
  for (size_t t = 0; t < 3; ++t)
    for (const size_t i : {1U, 3U})
      for (const size_t j : {2U, 3U}) inner.push_back(deep[t * 20 + i * 5 + j]);
  expect_near(bench.run("slice", {y},
                        {{"axes", ints({-1, 1})},
                         {"starts", ints({2, 1})},
                         {"stops", ints({4, 4})},
                         {"steps", ints({1, 2})}})[0],
              inner, 0);
  EXPECT_THAT(made("slice", {x}, slice(4, 4, 1)),
              HasSubstr("[4:4:1] takes nothing of axis 1 of src i64[tokens, 10]"));
  EXPECT_THAT(made("slice", {x}, slice(0, 4, 0)), HasSubstr("takes nothing"));
  Attributes first = slice(0, 2, 1);
  first["axes"] = ints({0});
  EXPECT_THAT(made("slice", {x}, first), HasSubstr("has tokens elements, which differs from step to step"));
  first["axes"] = ints({2});
  EXPECT_THAT(made("slice", {x}, first), HasSubstr("axis 2 is not there"));
  expect_cost(0, 2 * 9 * 8, "slice", {x}, slice(2, 9, 3));
}

TEST_F(Tensors, PartsFollowOneAnother) {
  Floats a, b, c;
  const ValueId x = random(DType::f16, {kTokens, 2, 2}, &a), y = random(DType::f16, {kTokens, 3, 2}, &b),
                z = random(DType::f16, {kOutputs, 2, 2}, &c);
  std::vector<double> expected;
  for (size_t t = 0; t < 3; ++t) {
    expected.insert(expected.end(), a.begin() + long(t * 4), a.begin() + long(t * 4 + 4));
    expected.insert(expected.end(), b.begin() + long(t * 6), b.begin() + long(t * 6 + 6));
  }
  expect_near(bench.run("concat", {x, y}, {{"axis", int64_t{1}}})[0], expected, 0);
  std::vector<double> stacked(a.begin(), a.end());
  stacked.insert(stacked.end(), c.begin(), c.end());
  stacked.insert(stacked.end(), a.begin(), a.end());
  expect_near(bench.run("concat", {x, z, x})[0], stacked, 0);
  EXPECT_EQ(made("concat", {x, z, x}), "f16[outputs+2*tokens, 2, 2]");
  EXPECT_THAT(made("concat", {x, y}),
              HasSubstr("part 1 is f16[tokens, 3, 2], but part 0 is f16[tokens, 2, 2]; only "
                        "axis 0 may differ"));
  EXPECT_THAT(made("concat", {x, random(DType::f32, {kTokens, 2, 2})}), HasSubstr("part 1 is f32"));
  EXPECT_THAT(made("concat", {x}, {{"axis", int64_t{-4}}}), HasSubstr("axis is -4"));
}

TEST_F(Tensors, CastsBetweenTypes) {
  const ValueId x = tensor(DType::f32, {2, 2}, {-1.5F, 0, 300, 2.5F});
  const auto as = [&](const char* dtype) {
    return bench.run("cast", {x}, {{"dtype", std::string(dtype)}})[0];
  };
  EXPECT_THAT(as("i8"), ElementsAre(-1, 0, 127, 2));
  EXPECT_THAT(as("bool"), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(as("bf16"), ElementsAre(-1.5F, 0, 300, 2.5F));
  EXPECT_THAT(as("u8"), ElementsAre(0, 0, 255, 2));
  EXPECT_EQ(made("cast", {x}, {{"dtype", std::string("i64")}}), "i64[2, 2]");
  EXPECT_THAT(made("cast", {x}, {{"dtype", std::string("Q4_K")}}), HasSubstr("Choose one of f32, f16"));
  expect_cost(0, 4 * 4 + 4 * 2, "cast", {x}, {{"dtype", std::string("f16")}});
}

TEST_F(Tensors, StoredBlocksAndSevenDimsAreRefused) {
  const ValueId table = bench.weight("w", DType::q8_0, {4, 32}, noise(128, 1));
  EXPECT_THAT(made("transpose", {table}),
              HasSubstr("src is Q8_0[4, 32]; it must be of f32, f16, bf16, integers or bool"));
  const ValueId deep = random(DType::f32, {1, 1, 1, 1, 1, 1, 2});
  EXPECT_THAT(made("cast", {deep}, {{"dtype", std::string("f16")}}), HasSubstr("it may have 6 dims"));
  EXPECT_EQ(
      made("cast", {bench.weight("h", DType::f16, {4, 8}, noise(32, 2))}, {{"dtype", std::string("f32")}}),
      "f32[4, 8]");
}

TEST_F(Tensors, LayersReadF32AndSaySo) {
  const ValueId x = bench.rows("x", kTokens, noise(12, 1)), narrow = random(DType::f16, {4});
  const auto linear = bench.add("linear", {x, bench.weight("w", DType::f32, {4, 4}, noise(16, 2)), narrow});
  ASSERT_TRUE(linear.ok()) << linear.error().to_string();
  const auto lowered = bench.lower(*linear);
  ASSERT_FALSE(lowered.ok());
  EXPECT_THAT(lowered.error().to_string(), HasSubstr("is f16[4], and is read as f32"));
  EXPECT_THAT(made("l2_normalise", {random(DType::bf16, {kTokens, 4})}),
              HasSubstr("it must be f32 with rows"));
}

TEST_F(Tensors, NoRowsAreFoundByNumbersThatWereComputed) {
  const ValueId x = bench.rows("x", kTokens, noise(12, 1)), far = tensor(DType::i32, {1}, {1e6F});
  const auto refusal = [&](const char* op, std::vector<ValueId> inputs, Attributes attributes) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    EXPECT_TRUE(node.ok()) << node.error().to_string();
    const auto lowered = bench.lower(*node);
    return lowered.ok() ? std::string() : lowered.error().to_string();
  };
  EXPECT_THAT(refusal("select_rows", {x, far}, {}), HasSubstr("takes only what input gives"));
  const ValueId starts = tensor(DType::i32, {Dim(kSequences) + 1}, {0, 1e6F});
  EXPECT_THAT(refusal("pool", {x, starts}, {{"kind", std::string("mean")}}),
              HasSubstr("is made by constant; pool finds rows by it"));
  EXPECT_THAT(refusal("packed_attention", {x, x, x, starts},
                      {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"scale", 1.0}}),
              HasSubstr("takes only what input gives"));
}

TEST_F(Tensors, DenseWeightsAreOperands) {
  const ValueId weight = bench.weight("w", DType::bf16, {5, 4}, noise(20, 1)),
                x = random(DType::f32, {kTokens, 5});
  const Floats w = bench.weight_values(weight);
  Floats src;
  const ValueId y = random(DType::f32, {kTokens, 5}, &src);
  std::vector<double> expected;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 5; ++k) sum += double(src[i * 5 + k]) * w[k * 4 + j];
      expected.push_back(sum);
    }
  expect_near(bench.run("matmul", {y, weight})[0], expected);
  EXPECT_EQ(made("matmul", {x, weight}), "f32[tokens, 4]");
}

// ---- constants and step inputs ----

TEST_F(Tensors, ConstantsHoldTensorsOfAnyType) {
  const auto constant = [&](const char* dtype, std::vector<int64_t> shape, std::vector<double> data) {
    return made("constant", {},
                {{"dtype", std::string(dtype)}, {"shape", std::move(shape)}, {"data", std::move(data)}});
  };
  EXPECT_EQ(constant("i8", {2, 2}, {1, -128, 127, 0}), "i8[2, 2]");
  EXPECT_EQ(constant("bool", {2}, {1, 0}), "bool[2]");
  EXPECT_EQ(constant("f32", {}, {2.5}), "f32[]");
  EXPECT_EQ(made("constant", {}, {{"value", 2.0}, {"shape", ints({4, 4})}}), "f32[4, 4]");
  EXPECT_EQ(made("constant", {}, {{"data", ints({1, 2})}, {"shape", ints({2})}}), "f32[2]")
      << "whole numbers";
  EXPECT_THAT(constant("f32", {3}, {1, 2}),
              HasSubstr("data has 2 numbers, but the shape [3] has 3 elements"));
  EXPECT_THAT(constant("i8", {2}, {1, 128}), HasSubstr("data[1] is 128, which is no i8"));
  EXPECT_THAT(constant("u8", {1}, {-1}), HasSubstr("data[0] is -1, which is no u8"));
  EXPECT_THAT(constant("i32", {1}, {0.5}), HasSubstr("which is no i32"));
  EXPECT_THAT(constant("i64", {1}, {1e17}), HasSubstr("which is no i64")) << "no double holds its neighbours";
  EXPECT_THAT(constant("bool", {1}, {2}), HasSubstr("which is no bool"));
  EXPECT_THAT(constant("Q4_0", {32}, {}), HasSubstr("a constant is of f32, f16"));
  EXPECT_THAT(made("constant", {}, {{"dtype", std::string("i8")}, {"value", 0.5}}),
              HasSubstr("value is 0.5"));
}

TEST_F(Tensors, ConstantsOfOtherDataAreOthers) {
  const auto hash = [&](std::vector<double> data) {
    graph::Graph graph(registry());
    const auto count = static_cast<int64_t>(data.size());
    const auto node = graph.add_node(
        {"constant", "", "c", {{"shape", ints({count})}, {"data", std::move(data)}}, {}, {}, {}});
    return graph.feed_hash(graph.node(*node).outputs[0]);
  };
  EXPECT_EQ(hash({1, 2, 3}), hash({1, 2, 3}));
  EXPECT_NE(hash({1, 2, 3}), hash({1, 2, 4}));
  EXPECT_NE(hash(std::vector<double>(100, 1.0)), hash(std::vector<double>(99, 1.0)));
}

TEST_F(Tensors, ConstantsArePrintedShort) {
  std::vector<double> data(100);
  std::iota(data.begin(), data.end(), 0.5);
  const std::string text = graph::to_string(graph::Attribute(data));
  EXPECT_THAT(text, HasSubstr("[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, ... 100 numbers, #"));
  data[99] = 0;
  EXPECT_NE(graph::to_string(graph::Attribute(data)), text);
  EXPECT_EQ(graph::to_string(graph::Attribute(std::vector<double>{1, 2.25})), "[1, 2.25]");
}

TEST(StepInputs, AreOneTable) {
  StepContext step;
  step.tokens = 5;
  step.sequences = 2;
  step.outputs = 3;
  const int32_t ids[] = {1, 2, 3, 4, 5};
  step.token_ids = ids;
  ASSERT_EQ(find_step_input(graph::step_input::token_ids), std::optional<size_t>(0));
  EXPECT_EQ(step.address({Slot::Kind::input, 0, nullptr}), ids);
  for (const StepInput& input : step_inputs()) {
    const int32_t here[] = {7};
    input.point(step, here);
    EXPECT_EQ(input.read(step), here) << input.name;
    Bench bench;
    EXPECT_EQ(bench.graph().value(bench.input(input.name)).type, input.type) << input.name;
    EXPECT_EQ(input.bytes(step), static_cast<size_t>(graph::bytes_of(input.type, step.bindings())))
        << input.name;
  }
  EXPECT_EQ(step_inputs()[*find_step_input("sequence_starts")].bytes(step), 3U * sizeof(int32_t));
  EXPECT_EQ(find_step_input("pixels"), std::nullopt);
}

}  // namespace
}  // namespace orrery::ops::test
