// Ops that find elements by numbers (kernels/take.h, kernels/scatter.h).
#pragma once

#include "engine/ops/tensor_support.h"

namespace orrery::ops {

/// Refuses indices of another type than i32 and i64.
Result<void> expect_indices(const NodeView& view, size_t input);

/// How many dims of `src` the numbers along the last dim of the indices find: its size.
Result<size_t> found_dims(const NodeView& view, size_t indices);

}  // namespace orrery::ops
