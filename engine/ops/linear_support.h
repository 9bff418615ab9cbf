// linear and fused_linear are one kernel op: one to four weight segments that read one src.
#pragma once

#include <array>

#include "engine/ops/lower_support.h"

namespace orrery::ops {

/// The activations by name, none among them, as the epilogues of a linear are.
std::vector<std::string_view> activation_names();
/// An activation, or a gated one ("silu_mul": two segments, one output).
std::optional<kernels::Epilogue> parse_epilogue(std::string_view name);

/// Values of one segment; no bias: none.
struct SegmentValues {
  ValueId weight, bias, dst;
};
Result<Lowered> lower_linear(LowerContext& context, const graph::Node& node,
                             std::span<const SegmentValues> segments);

Rounding rounding_of_linear(LowerContext& context, const graph::Node& node,
                            std::span<const SegmentValues> segments);

/// Operations of an epilogue per output element, as the ops of the same names count them.
double epilogue_flops(std::string_view epilogue);

}  // namespace orrery::ops
