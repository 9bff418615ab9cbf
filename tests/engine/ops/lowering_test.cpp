// What is not the arithmetic of one op: bounds, refusals, slots.
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;

TEST(Lowering, ANodeWithoutARowSaysWhyOfEach) {
  Bench bench;
  bench.placed = static_cast<kernels::DeviceKind>(17);  // a device without rows
  const auto node = bench.add("silu", {bench.rows("x", kTokens, noise(12, 1))});
  ASSERT_TRUE(node.ok());
  const auto lowered = bench.lower(*node);
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code, ErrorCode::unsupported);
  EXPECT_EQ(lowered.error().where, "node0");
  EXPECT_THAT(lowered.error().what, HasSubstr("No CUDA kernel can run this silu: there is none for it"));
}

TEST(Lowering, AComputedMatrixIsNoWeight) {
  Bench bench;
  const ValueId x = bench.rows("x", kTokens, noise(3 * 4, 1));
  const ValueId computed = bench.rows("y", kTokens, noise(3 * 4, 1));
  ASSERT_TRUE(bench.edit().set_value_type(computed, {DType::f32, {2, 4}}).ok());
  const auto node = bench.add("linear", {x, computed});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  const auto lowered = bench.lower(*node);
  ASSERT_FALSE(lowered.ok());
  EXPECT_THAT(lowered.error().to_string(), HasSubstr("y:value is computed; linear reads a weight"));
}

TEST(Lowering, AnUnknownSizeIsRefused) {
  Bench bench;
  const ValueId x = bench.rows("x", kTokens, noise(12, 1));
  ASSERT_TRUE(bench.edit().set_value_type(x, {DType::f32, {Dim(Symbol("pixels")), 4}}).ok());
  const auto node = bench.add("relu", {x});
  ASSERT_TRUE(node.ok());
  const auto lowered = lower_node(bench, bench.graph().node(*node));
  EXPECT_THAT(lowered.error().to_string(), HasSubstr("does not know the size pixels"));
}

TEST(Lowering, AStepWithoutRowsRunsNothing) {
  Bench bench(3, 1, 0);
  const ValueId src = bench.vector("nothing", {1.0F});
  ASSERT_TRUE(bench.edit().set_value_type(src, {DType::f32, {kOutputs, 64}}).ok());
  const ValueId weight = bench.weight("w", DType::f32, {8, 64}, noise(8 * 64, 1));
  EXPECT_TRUE(bench.run("linear", {src, weight}).at(0).empty());
}

TEST(StepContext, FindsTheBytesOfEverySlot) {
  const int32_t numbers[6] = {};
  std::byte arena[16];
  StepContext step;
  step.token_ids = numbers;
  step.positions = numbers + 1;
  step.token_types = numbers + 2;
  step.sequence_starts = numbers + 3;
  step.kv_lengths = numbers + 4;
  step.output_rows = numbers + 5;
  step.arena = arena;
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(step.data<const int32_t>({Slot::Kind::input, i, nullptr}), numbers + i);
  EXPECT_EQ(step.address({Slot::Kind::arena, 8, nullptr}), arena + 8);
  EXPECT_EQ(step.address({Slot::Kind::fixed, 0, numbers}), numbers);
  EXPECT_EQ(step.address({}), nullptr);
}

}  // namespace
}  // namespace orrery::ops::test
