// The four norms differ in kind and in the residual that is added first; inputs are src, residual (if),
// weight, bias (layer).
#pragma once

#include "engine/ops/lower_support.h"
#include "kernels/norm.h"

namespace orrery::ops {

Types infer_norm(const NodeView& view, kernels::Norm::Kind kind, bool residual);
Cost cost_norm(const NodeView& view, const Bindings& bindings, kernels::Norm::Kind kind, bool residual);
Result<Lowered> lower_norm(LowerContext& context, const graph::Node& node, kernels::Norm::Kind kind,
                           bool residual);

}  // namespace orrery::ops
