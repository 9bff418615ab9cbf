// The four norms differ in kind and in the residual that is added first; inputs are src, residual (if),
// weight, bias (layer).
#pragma once

#include "engine/ops/lower_support.h"
#include "kernels/norm.h"

namespace orrery::ops {

std::span<const InputSpec> norm_inputs(kernels::Norm::Kind kind, bool residual);
std::span<const std::string_view> norm_outputs(bool residual);
std::span<const AttributeSpec> norm_attributes();
Types infer_norm(const NodeView& view, kernels::Norm::Kind kind, bool residual);
Cost cost_norm(const NodeView& view, const Bindings& bindings, kernels::Norm::Kind kind, bool residual);
Result<Lowered> lower_norm(LowerContext& context, const graph::Node& node, kernels::Norm::Kind kind,
                           bool residual);

/// The functions of one of them, as schemas take them.
template <kernels::Norm::Kind kind, bool residual>
struct NormOp {
  static Types infer(const NodeView& view) { return infer_norm(view, kind, residual); }
  static Cost cost(const NodeView& view, const Bindings& bindings) {
    return cost_norm(view, bindings, kind, residual);
  }
  static Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
    return lower_norm(context, node, kind, residual);
  }
  static OpSchema schema(std::string_view name, std::string_view doc) {
    return {name,
            OpFamily::norm,
            doc,
            norm_inputs(kind, residual),
            norm_outputs(residual),
            norm_attributes(),
            infer,
            cost};
  }
};

}  // namespace orrery::ops
