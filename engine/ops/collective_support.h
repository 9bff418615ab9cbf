// What the ops that join the parts of several devices share. Transfers have brought the parts to the device
// of the node, whose own kernels join them.
#pragma once

#include "engine/ops/infer_support.h"

namespace orrery::ops {

/// The parts of a node: two or more, all with the same rows.
Result<std::vector<Matrix>> collective_parts(const NodeView& view);
/// Reads every part once and writes the result.
double collective_bytes(const NodeView& view, const Bindings& bindings);

}  // namespace orrery::ops
