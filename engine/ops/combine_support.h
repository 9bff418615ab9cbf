// Elementwise functions of values of any types and shapes that are broadcast against each other
// (kernels/combine.h).
#pragma once

#include "engine/ops/tensor_support.h"
#include "kernels/combine.h"

namespace orrery::ops {

/// Inputs a and b; of where condition, a and b.
struct CombineOp {
  kernels::Combine::Function function = kernels::Combine::Function::add;

  bool chooses() const { return function == kernels::Combine::Function::where; }
  size_t a() const { return chooses() ? 1 : 0; }
  size_t b() const { return a() + 1; }
  /// What the function is computed in, and what it gives.
  DType common(DType promoted) const;
  DType written(DType promoted) const;

  Types infer(const NodeView& view) const;
  Cost cost(const NodeView& view, const Bindings& bindings) const;
  Result<Lowered> lower(LowerContext& context, const graph::Node& node) const;
};

/// The whole op, of its two inputs, on Combine alone, with its gradient.
OpSchema combine_op(std::string name, kernels::Combine::Function function, std::string doc);

}  // namespace orrery::ops
