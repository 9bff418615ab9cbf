// What the tests of ops on tensors share: operands of any type, and what becomes of a node. Three tokens.
#pragma once

#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {

struct TensorTest : testing::Test {
  ValueId tensor(DType dtype, Shape shape, const Floats& data) {
    return bench.tensor("t" + std::to_string(count++), dtype, std::move(shape), data);
  }
  graph::ValueType type(ValueId value) const { return bench.graph().value(value).type; }
  /// The type of the first output; the message of its refusal.
  std::string made(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    if (!node.ok()) return node.error().to_string();
    return graph::to_string(type(bench.graph().node(*node).outputs[0]));
  }
  void expect_cost(double flops, double bytes, const std::string& op, std::vector<ValueId> inputs,
                   Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    EXPECT_DOUBLE_EQ(bench.cost(*node).flops, flops) << op;
    EXPECT_DOUBLE_EQ(bench.cost(*node).bytes, bytes) << op;
  }

  Bench bench{3, 1, 2};
  int count = 0;
};

}  // namespace orrery::ops::test
