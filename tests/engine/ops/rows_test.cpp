// Ops that choose or make rows: embedding, table_row, select_rows, pool, sample.
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

constexpr size_t kCols = 32;

std::vector<double> row_of(const Floats& table, size_t row, double scale = 1.0) {
  std::vector<double> dst;
  for (size_t i = 0; i < kCols; ++i) dst.push_back(scale * table[row * kCols + i]);
  return dst;
}

void append(std::vector<double>& to, const std::vector<double>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST(Embedding, LooksUpRowsOfStoredTables) {
  for (const DType dtype : {DType::f32, DType::f16, DType::q8_0, DType::q4_1}) {
    Bench bench(3);
    bench.token_ids = {4, 0, 4};
    const ValueId table = bench.weight("t", dtype, {5, kCols}, noise(5 * kCols, 1));
    const Floats values = bench.weight_values(table);
    const auto out = bench.run("embedding", {bench.input("token_ids"), table}, {{"scale", 2.0}});
    std::vector<double> expected = row_of(values, 4, 2.0);
    append(expected, row_of(values, 0, 2.0));
    append(expected, row_of(values, 4, 2.0));
    expect_near(out.at(0), expected);
  }
}

TEST(Embedding, RowsMayComeBeforeThatOfIdZero) {
  Bench bench(2);
  bench.positions = {0, 2};
  const ValueId table = bench.weight("t", DType::f16, {5, kCols}, noise(5 * kCols, 1));
  std::vector<double> expected = row_of(bench.weight_values(table), 2);
  append(expected, row_of(bench.weight_values(table), 4));
  const ValueId ids = bench.input("positions");
  expect_near(bench.run("embedding", {ids, table}, {{"offset", int64_t{2}}}).at(0), expected);
  EXPECT_FALSE(bench.add("embedding", {ids, table}, {{"offset", int64_t{5}}}).ok());
}

TEST(TableRow, IsOneRowAsAVector) {
  Bench bench;
  const ValueId table = bench.weight("t", DType::f16, {3, kCols}, noise(3 * kCols, 1));
  expect_near(bench.run("table_row", {table}, {{"row", int64_t{2}}}).at(0),
              row_of(bench.weight_values(table), 2));
}

TEST(SelectRows, KeepsTheRowsAskedFor) {
  Bench bench(4, 1, 2);
  bench.output_rows = {3, 1};
  const Floats src = noise(4 * kCols, 1);
  std::vector<double> expected = row_of(src, 3);
  append(expected, row_of(src, 1));
  expect_near(bench.run("select_rows", {bench.rows("x", kTokens, src), bench.input("output_rows")}).at(0),
              expected);
}

TEST(Pool, OneRowASequence) {
  Bench bench(5, 2);
  bench.sequence_starts = {0, 2, 5};
  const Floats src = noise(5 * kCols, 1);
  const ValueId rows = bench.rows("x", kTokens, src), starts = bench.input("sequence_starts");
  std::vector<double> mean, first = row_of(src, 0), last = row_of(src, 1);
  for (size_t i = 0; i < kCols; ++i) mean.push_back((double(src[i]) + src[kCols + i]) / 2);
  for (size_t i = 0; i < kCols; ++i)
    mean.push_back((double(src[2 * kCols + i]) + src[3 * kCols + i] + src[4 * kCols + i]) / 3);
  append(first, row_of(src, 2));
  append(last, row_of(src, 4));
  expect_near(bench.run("pool", {rows, starts}, {{"kind", std::string("mean")}}).at(0), mean);
  expect_near(bench.run("pool", {rows, starts}, {{"kind", std::string("first")}}).at(0), first);
  expect_near(bench.run("pool", {rows, starts}, {{"kind", std::string("last")}}).at(0), last);
}

TEST(Sample, GreedyTakesTheLargestAndFillsTheChoices) {
  Bench bench(2, 1, 2);
  bench.requests.resize(2);
  bench.choices.resize(2);
  for (auto& request : bench.requests) request.params.temperature = 0;
  const Floats logits = {0, 1, 5, 2, -1, -3, -2, -4};
  const auto out = bench.run("sample", {bench.rows("x", kOutputs, logits)});
  EXPECT_THAT(out.at(0), testing::ElementsAre(2.0F, 0.0F));
  EXPECT_EQ(bench.choices[0].id, 2);
  EXPECT_NEAR(bench.choices[0].logprob, 5 - std::log(1 + std::exp(1.0) + std::exp(5.0) + std::exp(2.0)),
              1e-5);
}

}  // namespace
}  // namespace orrery::ops::test
