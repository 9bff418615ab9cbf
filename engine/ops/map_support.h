// Functions of one value of any type and shape (kernels/map.h).
#pragma once

#include "engine/ops/tensor_support.h"
#include "kernels/map.h"

namespace orrery::ops {

Result<Lowered> lower_map(LowerContext& context, const graph::Node& node, kernels::Map::Function function);

}  // namespace orrery::ops
