// Ops whose output has the type of their first input and that the Elementwise kernels run.
#pragma once

#include "engine/ops/combine_support.h"
#include "engine/ops/map_support.h"
#include "kernels/elementwise.h"

namespace orrery::ops {

using Function = kernels::Elementwise::Function;

Types infer_unary(const NodeView& view);
/// `each`: operations per element; an exponential, a tangent or an error function counts as one.
Cost cost_unary(const NodeView& view, const Bindings& bindings, double each);
Result<Lowered> lower_unary(LowerContext& context, const graph::Node& node, Function function,
                            double factor = 1.0);

/// Of floats of any shape: the function of Elementwise where f32 rows of a fixed size are there and it has
/// one, else that of Map.
Types infer_activation(const NodeView& view);
Result<Lowered> lower_activation(LowerContext& context, const graph::Node& node,
                                 std::optional<Function> function, kernels::Map::Function otherwise);
/// Elementwise where f32 rows are combined with such rows or with one row for all, else Combine.
OpSchema binary_op(std::string name, Function function, kernels::Combine::Function otherwise,
                   std::string doc);

}  // namespace orrery::ops
