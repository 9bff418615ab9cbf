// Ops whose output has the type of their first input and that the Elementwise kernels run.
#pragma once

#include "engine/ops/lower_support.h"
#include "kernels/elementwise.h"

namespace orrery::ops {

using Function = kernels::Elementwise::Function;

Types infer_unary(const NodeView& view);
/// `each`: operations per element; an exponential, a tangent or an error function counts as one.
Cost cost_unary(const NodeView& view, const Bindings& bindings, double each);
Result<Lowered> lower_unary(LowerContext& context, const graph::Node& node, Function function,
                            double factor = 1.0);

/// b is like a, or one row for all of a's.
Types infer_binary(const NodeView& view);
Cost cost_binary(const NodeView& view, const Bindings& bindings);
Result<Lowered> lower_binary(LowerContext& context, const graph::Node& node, Function function);

}  // namespace orrery::ops
