// Attention over tensors on a card. cuda/flash_attention has a file for each kernel.
#include "kernels/flash_attention.h"

#include "kernels/cuda/flash_attention/rows.h"

namespace orrery::kernels::cuda {

std::span<const Row<FlashAttention>> flash_attention_rows() {
  static const Row<FlashAttention> rows[] = {flash::hopper_row(), flash::mma_row(), flash::general_row()};
  return rows;
}

std::span<const Row<FlashAttentionBackward>> flash_attention_backward_rows() {
  static const Row<FlashAttentionBackward> rows[] = {flash::hopper_backward_row(), flash::mma_backward_row(),
                                                     flash::general_backward_row()};
  return rows;
}

}  // namespace orrery::kernels::cuda
