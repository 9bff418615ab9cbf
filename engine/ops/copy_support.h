// Ops that move elements, and perhaps convert them (kernels/copy.h).
#pragma once

#include <functional>

#include "engine/ops/tensor_support.h"
#include "kernels/copy.h"

namespace orrery::ops {

/// Lowers a node whose output is its first input seen another way. `point` is called at each step with the
/// sizes of both: it writes the strides of the source, one a dim of the output, in elements, and returns
/// where the first element lies.
using SourceView =
    std::function<int64_t(const int64_t* src_sizes, const int64_t* dst_sizes, int64_t* strides)>;
Result<Lowered> lower_copy(LowerContext& context, const graph::Node& node, SourceView point);
/// Lowers a node whose output has the elements of its input in the same order: nothing is done where they lie
/// in one place.
Result<Lowered> lower_view(LowerContext& context, const graph::Node& node);
/// Lowers a node whose output is its inputs one after another along an axis; negative: from the last. Inputs
/// that lack the axis have one element of it each.
Result<Lowered> lower_concat(LowerContext& context, const graph::Node& node, int64_t axis);

}  // namespace orrery::ops
