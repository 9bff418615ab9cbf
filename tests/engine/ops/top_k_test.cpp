// The first elements along an axis and their indices, against plain loops: what they are, what they cost and
// what is refused. Three tokens.
#include <array>
#include <cstring>
#include <limits>

#include "engine/ops/evaluate.h"
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Firsts : testing::Test {
  Bench bench{3, 1, 2};

  ValueId tensor(DType dtype, Shape shape, const Floats& data) {
    return bench.tensor("t" + std::to_string(count++), dtype, std::move(shape), data);
  }
  /// The types of the outputs; the message of its refusal.
  std::string made(const std::string& op, ValueId src, Attributes attributes) {
    const auto node = bench.add(op, {src}, std::move(attributes));
    if (!node.ok()) return node.error().to_string();
    std::string types;
    for (const ValueId output : bench.graph().node(*node).outputs)
      types += (types.empty() ? "" : ", ") + graph::to_string(bench.graph().value(output).type);
    return types;
  }
  int count = 0;
};

/// (outer, count, inner) by plain loops: what each element is behind in its row.
struct Loops {
  std::array<size_t, 3> sizes;
  const Floats& src;
  bool largest;

  float at(size_t o, size_t j, size_t i) const { return src[(o * sizes[1] + j) * sizes[2] + i]; }
  /// The elements before it in order.
  size_t place(size_t o, size_t j, size_t i) const {
    size_t before = 0;
    for (size_t other = 0; other < sizes[1]; ++other) {
      const float a = at(o, other, i), b = at(o, j, i);
      before += a == b ? other < j : (a > b) == largest;
    }
    return before;
  }
  std::vector<double> indices(size_t k) const {
    std::vector<double> result(sizes[0] * k * sizes[2]);
    for (size_t o = 0; o < sizes[0]; ++o)
      for (size_t j = 0; j < sizes[1]; ++j)
        for (size_t i = 0; i < sizes[2]; ++i)
          if (const size_t to = place(o, j, i); to < k)
            result[(o * k + to) * sizes[2] + i] = static_cast<double>(j);
    return result;
  }
  std::vector<double> values(size_t k) const {
    std::vector<double> result = indices(k);
    for (size_t to = 0; to < result.size(); ++to)
      result[to] = at(to / (k * sizes[2]), static_cast<size_t>(result[to]), to % sizes[2]);
    return result;
  }
};

TEST_F(Firsts, StandInOrderOnAnyAxis) {
  Floats src = noise(4 * 3 * 5, 1);
  for (float& x : src) x = std::trunc(x * 4);  // so that many are equal
  for (const DType dtype : {DType::f32, DType::bf16, DType::i32, DType::i64}) {
    const ValueId x = tensor(dtype, {4, kTokens, 5}, src);
    for (const int64_t axis : {0, 1, 2, -1, -2}) {
      const auto along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      const std::array<size_t, 3> shape = {4, 3, 5};
      Loops loops{{1, shape[along], 1}, src, true};
      for (size_t d = 0; d < 3; ++d)
        if (d != along) loops.sizes[d < along ? 0 : 2] *= shape[d];
      for (const bool largest : {true, false}) {
        loops.largest = largest;
        for (const int64_t k : {1, 3}) {
          const Attributes asked = {{"k", k}, {"axis", axis}, {"largest", largest}};
          const auto first = bench.run("top_k", {x}, asked);
          expect_near(first[0], loops.values(static_cast<size_t>(k)), 0);
          expect_near(first[1], loops.indices(static_cast<size_t>(k)), 0);
          if (largest) continue;
          EXPECT_EQ(bench.run("bottom_k", {x}, {{"k", k}, {"axis", axis}}), first);
        }
        expect_near(bench.run("argsort", {x}, {{"axis", axis}, {"descending", largest}})[0],
                    loops.indices(shape[along]), 0);
      }
    }
  }
}

TEST_F(Firsts, WhatIsNoNumberIsTheGreatest) {
  const ValueId x = tensor(DType::f32, {7}, {0, kNaN, -kInfinity, -0.0F, kInfinity, kNaN, 2});
  EXPECT_THAT(bench.run("top_k", {x}, {{"k", int64_t{5}}})[1], ElementsAre(1, 5, 4, 6, 0));
  EXPECT_THAT(bench.run("bottom_k", {x}, {{"k", int64_t{5}}})[1], ElementsAre(2, 0, 3, 6, 4));
  EXPECT_THAT(bench.run("bottom_k", {x}, {{"k", int64_t{2}}})[0], ElementsAre(-kInfinity, 0));
  EXPECT_THAT(bench.run("argsort", {x})[0], ElementsAre(2, 0, 3, 6, 4, 1, 5));
  const ValueId alike = tensor(DType::u8, {6}, {7, 7, 7, 7, 7, 7});
  for (const char* op : {"top_k", "bottom_k"})
    EXPECT_THAT(bench.run(op, {alike}, {{"k", int64_t{4}}})[1], ElementsAre(0, 1, 2, 3)) << op;
}

TEST_F(Firsts, AreInOrderWhetherThatIsAskedOrNot) {
  const ValueId x = tensor(DType::f32, {2, 9}, noise(18, 5));
  const Attributes any = {{"k", int64_t{4}}, {"sorted", false}}, sorted = {{"k", int64_t{4}}};
  EXPECT_EQ(bench.run("top_k", {x}, any), bench.run("top_k", {x}, sorted));
  EXPECT_EQ(bench.run("bottom_k", {x}, any), bench.run("bottom_k", {x}, sorted));
}

TEST_F(Firsts, TypesFollowFromTheAxis) {
  const ValueId x = tensor(DType::f16, {kTokens, 2, 6}, noise(36, 2));
  EXPECT_EQ(made("top_k", x, {{"k", int64_t{6}}}), "f16[tokens, 2, 6], i64[tokens, 2, 6]");
  EXPECT_EQ(made("bottom_k", x, {{"k", int64_t{1}}, {"axis", int64_t{1}}}),
            "f16[tokens, 1, 6], i64[tokens, 1, 6]");
  EXPECT_EQ(made("top_k", x, {{"k", int64_t{9}}, {"axis", int64_t{0}}}), "f16[9, 2, 6], i64[9, 2, 6]")
      << "as many as a step may have";
  EXPECT_EQ(made("argsort", x, {{"axis", int64_t{-3}}}), "i64[tokens, 2, 6]");
  EXPECT_EQ(made("argsort", tensor(DType::boolean, {4}, {1, 0, 0, 1}), {}), "i64[4]");
}

TEST_F(Firsts, WhatIsNotThereIsNotTaken) {
  const ValueId x = tensor(DType::f32, {kTokens, 6}, noise(18, 3));
  for (const char* op : {"top_k", "bottom_k"}) {
    EXPECT_THAT(made(op, x, {{"k", int64_t{7}}}),
                HasSubstr("k is 7, but axis 1 of src f32[tokens, 6] has 6 elements"));
    EXPECT_THAT(made(op, x, {{"k", int64_t{0}}}), HasSubstr("k"));
    EXPECT_THAT(made(op, x, {{"k", int64_t{-1}}}), HasSubstr("k"));
    EXPECT_THAT(made(op, x, {}), HasSubstr("k")) << "it has no fallback";
    EXPECT_THAT(made(op, x, {{"k", int64_t{1}}, {"axis", int64_t{2}}}),
                HasSubstr("axis is 2, but src is f32[tokens, 6]"));
  }
  EXPECT_THAT(made("top_k", tensor(DType::f32, {}, {1}), {{"k", int64_t{1}}}),
              HasSubstr("axis is -1, but src is f32[]"));
  EXPECT_THAT(made("argsort", x, {{"axis", int64_t{-3}}}), HasSubstr("axis is -3"));
  EXPECT_THAT(made("argsort", bench.weight("w", DType::q8_0, {4, 32}, noise(128, 1)), {}),
              HasSubstr("it must be of f32, f16, bf16, integers or bool"));
}

// A step that has fewer is refused before it runs (StepBatch::check_sizes).
TEST_F(Firsts, ASizeOfTheStepIsLookedAtBeforeItRuns) {
  const ValueId x = tensor(DType::f32, {kTokens, 6}, noise(18, 3));
  const auto least = [&](const char* op, Attributes attributes) {
    const auto node = bench.add(op, {x}, std::move(attributes));
    EXPECT_TRUE(node.ok()) << node.error().to_string();
    const auto lowered = bench.lower(*node);
    EXPECT_TRUE(lowered.ok()) << lowered.error().to_string();
    return lowered->least;
  };
  const auto needed = least("top_k", {{"k", int64_t{20}}, {"axis", int64_t{0}}});
  ASSERT_TRUE(needed);
  EXPECT_EQ(needed->least, 20) << "more than the plan's tokens, which is no reason to have no plan";
  EXPECT_EQ(needed->size, (RowCount{0, 1, 0, 0}));
  EXPECT_THAT(needed->what, HasSubstr("axis 0 of "));
  EXPECT_FALSE(least("top_k", {{"k", int64_t{6}}}));
  EXPECT_FALSE(least("argsort", {{"axis", int64_t{0}}}));
}

TEST_F(Firsts, CostAComparisonAnElement) {
  const ValueId x = tensor(DType::bf16, {kTokens, 4, 5}, noise(60, 4));
  const auto expect_cost = [&](double flops, double bytes, const char* op, Attributes attributes) {
    const auto node = bench.add(op, {x}, std::move(attributes));
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    EXPECT_DOUBLE_EQ(bench.cost(*node).flops, flops) << op;
    EXPECT_DOUBLE_EQ(bench.cost(*node).bytes, bytes) << op;
  };
  // 60 elements of 2 bytes are read; of a value and its index 2 + 8 bytes are written
  expect_cost(60, 120 + 3 * 4 * 2 * 10, "top_k", {{"k", int64_t{2}}});
  expect_cost(60, 120 + 3 * 1 * 5 * 10, "bottom_k", {{"k", int64_t{1}}, {"axis", int64_t{1}}});
  expect_cost(60, 120 + 60 * 8, "argsort", {});
}

TEST_F(Firsts, OrdersOfConstantsAreKnownBefore) {
  graph::Graph graph(registry());
  const auto constant =
      graph.add_node({"constant",
                      "",
                      "c",
                      {{"shape", std::vector<int64_t>{4}}, {"data", std::vector{2.0, 0.5, 3.0, 0.5}}},
                      {},
                      {},
                      {}});
  const auto order = graph.add_node({"argsort", "", "order", {}, {graph.node(*constant).outputs[0]}, {}, {}});
  ASSERT_TRUE(order.ok()) << order.error().to_string();
  const auto bytes = evaluate(graph, graph.node(*order));
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 4 * sizeof(int64_t));
  std::array<int64_t, 4> indices;
  std::memcpy(indices.data(), bytes->data(), bytes->size());
  EXPECT_THAT(indices, ElementsAre(1, 3, 0, 2));
}

}  // namespace
}  // namespace orrery::ops::test
