// The rows of attention over tensors on a card (flash_attention.h), fastest first.
#pragma once

#include "kernels/flash_attention.h"

namespace orrery::kernels::cuda::flash {

Row<FlashAttention> hopper_row();
Row<FlashAttention> mma_row();
Row<FlashAttention> general_row();
Row<FlashAttentionBackward> hopper_backward_row();
Row<FlashAttentionBackward> mma_backward_row();
Row<FlashAttentionBackward> general_backward_row();

}  // namespace orrery::kernels::cuda::flash
