// A vector that a kernel reads as float32, whatever float type it has: a weight of the file is converted
// once, what is computed in 16 bits at each step, into the workspace.
#pragma once

#include "engine/ops/lower_support.h"
#include "kernels/copy.h"

namespace orrery::ops {

struct VectorOperand {
  Slot slot;
  void (*convert)(const kernels::Copy::Args&, const kernels::Launch&) = nullptr;  // null: it is float32
  DType dtype = DType::f32;
  int64_t count = 0;
  size_t place = 0;  // in the workspace

  /// Null where there is none.
  const float* read(const StepContext& step) const;
};

/// Adds to the workspace what the vector needs of it. The op of the node has the rows of Copy among its own.
Result<VectorOperand> vector_operand(LowerContext& context, const graph::Node& node, ValueId value,
                                     Lowered& lowered);

}  // namespace orrery::ops
