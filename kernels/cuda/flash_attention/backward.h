// What both backward rows of attention over tensors begin and end with (flash_attention.h).
#pragma once

#include "kernels/flash_attention.h"

namespace orrery::kernels::cuda::flash {

/// The workspace: g of all queries.
size_t grad_sums_bytes(const FlashAttentionBackward::Problem& problem, const Machine&, int);

/// Writes g_i = grad_out_i . out_i into the workspace, and zeros where grad_bias is asked for: tiles that no
/// query sees are not computed.
void begin_backward(const FlashAttentionBackward::Args& args, const Launch& launch);

}  // namespace orrery::kernels::cuda::flash
