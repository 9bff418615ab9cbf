// Ops that join what several devices computed, and take a value apart for them.
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;

TEST(Collectives, AllReduceAddsThePartsInTheirOrder) {
  Bench bench{2, 1, 1};
  std::vector<ValueId> parts{bench.rows("a", kTokens, {1, 2, 3, 4}),
                             bench.rows("b", kTokens, {1e8F, 0, 0, 1}),
                             bench.rows("c", kTokens, {-1e8F, 0, 1, 0})};
  EXPECT_EQ(bench.run("all_reduce", parts).at(0), (Floats{(1 + 1e8F) - 1e8F, 2, 4, 5}));
}

TEST(Collectives, AllGatherPutsPartsOfAnyWidthSideBySide) {
  Bench bench{2, 1, 1};
  const std::vector<ValueId> parts{bench.rows("a", kTokens, {1, 2, 3, 4}), bench.rows("b", kTokens, {5, 6})};
  EXPECT_EQ(bench.run("all_gather", parts).at(0), (Floats{1, 2, 5, 3, 4, 6}));
}

TEST(Collectives, SplitTakesColumnsOrRows) {
  Bench bench{2, 1, 1};
  const ValueId x = bench.rows("x", kTokens, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(bench.run("split", {x}, {{"begin", int64_t{1}}, {"count", int64_t{2}}}).at(0),
            (Floats{2, 3, 5, 6}));
  const ValueId table = bench.weight("t", DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Attributes rows{{"axis", int64_t{0}}, {"begin", int64_t{1}}, {"count", int64_t{2}}};
  EXPECT_EQ(bench.run("split", {table}, rows).at(0), (Floats{3, 4, 5, 6}));
}

TEST(Collectives, APartOfAWeightKeepsItsTypeAndWholeBlocks) {
  Bench bench;
  const ValueId weight = bench.weight("w", DType::q4_1, {4, 96}, noise(4 * 96, 1));
  const auto part = bench.add("split", {weight}, {{"begin", int64_t{32}}, {"count", int64_t{64}}});
  ASSERT_TRUE(part.ok()) << part.error().to_string();
  EXPECT_EQ(bench.type(bench.graph().node(*part).outputs[0]), (graph::ValueType{DType::q4_1, {4, 64}}));
  const auto cut = bench.add("split", {weight}, {{"begin", int64_t{16}}, {"count", int64_t{64}}});
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().to_string(), HasSubstr("64 columns from 16 on cut the blocks of Q4_1[4, 96]"));
  const auto lowered = bench.lower(*part);
  ASSERT_FALSE(lowered.ok());
  EXPECT_THAT(lowered.error().to_string(), HasSubstr("split the weight itself"));
}

TEST(Collectives, CostWhatTheyReadAndWrite) {
  Bench bench{3, 1, 1};
  const ValueId a = bench.rows("a", kTokens, noise(3 * 8, 1)), b = bench.rows("b", kTokens, noise(3 * 8, 2));
  const auto cost = [&](const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    EXPECT_TRUE(node.ok());
    return bench.cost(*node);
  };
  EXPECT_EQ(cost("all_reduce", {a, b}).flops, 24);
  EXPECT_EQ(cost("all_reduce", {a, b}).bytes, 3 * 96);
  EXPECT_EQ(cost("all_gather", {a, b}).bytes, 4 * 96);
  EXPECT_EQ(cost("split", {a}, {{"begin", int64_t{0}}, {"count", int64_t{2}}}).bytes, 2 * 24);
}

}  // namespace
}  // namespace orrery::ops::test
