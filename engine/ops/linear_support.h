// linear and fused_linear are one kernel op: one to four weight segments that read one src.
#pragma once

#include <array>

#include "engine/ops/lower_support.h"

namespace orrery::ops {

std::optional<kernels::Epilogue> parse_epilogue(std::string_view name);
bool is_gated(kernels::Epilogue epilogue);  // silu_mul, gelu_tanh_mul: two segments, one output

/// Values of one segment; no bias: none.
struct SegmentValues {
  ValueId weight, bias, dst;
};
Result<Lowered> lower_linear(LowerContext& context, const graph::Node& node,
                             std::span<const SegmentValues> segments);

Rounding rounding_of_linear(LowerContext& context, const graph::Node& node,
                            std::span<const SegmentValues> segments);

/// Operations of an epilogue per output element.
double epilogue_flops(std::string_view epilogue);

}  // namespace orrery::ops
