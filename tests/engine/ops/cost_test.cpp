// Costs against numbers worked out by hand: 3 tokens, 64 columns, 4 bytes an element.
#include "engine/ops/kv_cost.h"
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

struct Costs : testing::Test {
  Bench bench{3, 1, 1};
  ValueId x = bench.rows("x", kTokens, noise(3 * 64, 1));
  ValueId vector = bench.weight("v", DType::f32, {64}, noise(64, 4));

  void expect(double flops, double bytes, const std::string& op, std::vector<ValueId> inputs,
              Attributes attributes = {}, Bindings more = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    const graph::Cost cost = bench.cost(*node, std::move(more));
    EXPECT_DOUBLE_EQ(cost.flops, flops) << op;
    EXPECT_DOUBLE_EQ(cost.bytes, bytes) << op;
  }
};

TEST_F(Costs, Linear) {
  const ValueId dense = bench.weight("d", DType::f32, {16, 64}, noise(16 * 64, 2));
  const ValueId quantised = bench.weight("q", DType::q4_1, {16, 64}, noise(16 * 64, 2));
  const ValueId bias = bench.weight("b", DType::f16, {16}, noise(16, 2));
  // 3 x 16 results of 64 products and sums; src 768, dst 192 bytes
  expect(2 * 3 * 16 * 64, 768 + 192 + 4096, "linear", {x, dense});
  expect(2 * 3 * 16 * 64, 768 + 192 + 16 * 2 * 20, "linear", {x, quantised});  // two blocks of 20 bytes a row
  expect(2 * 3 * 16 * 64 + 3 * 16, 768 + 192 + 4096 + 32, "linear", {x, dense, bias});
  expect(2 * 3 * 16 * 64 + 3 * 16, 768 + 192 + 4096, "linear", {x, dense},
         {{"epilogue", std::string("relu")}});
  expect(2 * 3 * 32 * 64, 768 + 2 * 192 + 4096 + 640, "fused_linear", {x, dense, quantised},
         {{"segments", int64_t{2}}});
  expect(2 * 3 * 32 * 64 + 5 * 48, 768 + 192 + 4096 + 640, "fused_linear", {x, dense, quantised},
         {{"segments", int64_t{2}}, {"epilogue", std::string("silu_mul")}});
}

TEST_F(Costs, ASumThatIsReadIsWritten) {
  const auto node = bench.add("add_rms_norm", {x, x, vector}, {{"eps", 1e-5}});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  bench.edit().set_outputs({bench.graph().node(*node).outputs[0]});
  EXPECT_DOUBLE_EQ(bench.cost(*node).bytes, 768 * 4 + 256);
}

TEST_F(Costs, NormsAndPointwise) {
  expect(4 * 192, 768 * 2 + 256, "rms_norm", {x, vector}, {{"eps", 1e-5}});
  expect(5 * 192, 768 * 3 + 256, "add_rms_norm", {x, x, vector}, {{"eps", 1e-5}});  // no one reads the sum
  expect(7 * 192, 768 * 2 + 512, "layer_norm", {x, vector, vector}, {{"eps", 1e-5}});
  expect(6 * 192, 768 * 2 + 256, "layer_norm", {x, vector}, {{"eps", 1e-5}});
  expect(4 * 192, 768 * 2, "silu", {x});
  expect(192, 768 * 3, "add", {x, x});
  expect(192, 768 * 2 + 256, "add", {x, vector});
}

TEST_F(Costs, RowsReadOnlyWhatIsChosen) {
  const ValueId table = bench.weight("t", DType::q8_0, {100, 64}, noise(6400, 2));
  const ValueId ids = bench.input("token_ids"), rows = bench.input("output_rows"),
                starts = bench.input("sequence_starts");
  expect(0, 3 * (4 + 68) + 768, "embedding", {ids, table});
  expect(192, 3 * (4 + 68) + 768, "embedding", {ids, table}, {{"scale", 2.0}});
  expect(0, 68 + 256, "table_row", {table}, {{"row", int64_t{0}}});
  expect(0, 4 + 2 * 256, "select_rows", {x, rows});
  expect(192 + 64, 8 + 768 + 256, "pool", {x, starts}, {{"kind", std::string("mean")}});
  expect(0, 8 + 2 * 256, "pool", {x, starts}, {{"kind", std::string("first")}});
}

TEST_F(Costs, Attention) {
  const Attributes heads = {{"heads", int64_t{4}}, {"kv_heads", int64_t{2}}, {"scale", 1.0}};
  const ValueId state = bench.state(2, 16);
  // queries see 1, 2, 3 keys: 2 on average; a key and a value of 2 x 16 x 2 bytes each
  expect(4 * 192 * 2 + 5 * 3 * 4 * 2, 768 * 2 + 2 * 3 * 64, "attention", {x, state}, heads);
  // 100 tokens are there after the step: 98, 99, 100 keys
  expect(4 * 192 * 99 + 5 * 3 * 4 * 99, 768 * 2 + 2 * 100 * 64, "attention", {x, state}, heads,
         {{"context", 100}});
  // the same in a cache of f32
  expect(4 * 192 * 99 + 5 * 3 * 4 * 99, 768 * 2 + 2 * 100 * 128, "attention", {x, state}, heads,
         {{"context", 100}, {"kv_bytes", 4 * kKvElements}});
  const ValueId key = bench.rows("k", kTokens, noise(96, 2)), starts = bench.input("sequence_starts");
  expect(4 * 192 * 3 + 5 * 3 * 4 * 3, 768 * 2 + 2 * 384 + 8, "packed_attention", {x, key, key, starts},
         heads);
  // of Fastmax a weight takes two fused products and a sum, or two sums; normalised one more, and the lengths
  // of 192 elements of queries and of 3 or 100 keys of 32
  Attributes fastmax = heads;
  fastmax["kind"] = std::string("fastmax");
  expect(4 * 192 * 99 + 6 * 3 * 4 * 99 + 3 * 192 + 2 * 100 * 32, 768 * 2 + 2 * 100 * 64, "attention",
         {x, state}, fastmax, {{"context", 100}});
  expect(4 * 192 * 3 + 6 * 3 * 4 * 3 + 3 * 192 + 2 * 3 * 32, 768 * 2 + 2 * 384 + 8, "packed_attention",
         {x, key, key, starts}, fastmax);
  fastmax["normalise"] = false;
  expect(4 * 192 * 2 + 5 * 3 * 4 * 2, 768 * 2 + 2 * 3 * 64, "attention", {x, state}, fastmax);
  fastmax["p"] = int64_t{1};
  expect(4 * 192 * 2 + 2 * 3 * 4 * 2, 768 * 2 + 2 * 3 * 64, "attention", {x, state}, fastmax);
  expect(0, 2 * 384 + 2 * 3 * 64, "kv_append", {state, key, key});
  expect(3 * 4 * 8 * 3, 768 * 2 + 12, "rope", {x, bench.input("positions")},
         {{"style", std::string("half")},
          {"heads", int64_t{4}},
          {"head_dim", int64_t{16}},
          {"rope_dims", int64_t{8}},
          {"base", 1e4}});
}

}  // namespace
}  // namespace orrery::ops::test
