// The four norms differ in kind and in the residual that is added first; inputs are src, residual (if),
// weight, bias (layer).
#pragma once

#include "engine/ops/tensor_support.h"
#include "kernels/norm.h"

namespace orrery::ops {

OpSchema norm_op(std::string name, std::string doc, kernels::Norm::Kind kind, bool residual);

}  // namespace orrery::ops
