// Tensors (batch, heads, tokens, head_dim) of 16 bits an element, as the card's engine for tiles reads them.
#pragma once

#include <cuda.h>

#include "kernels/flash_attention.h"

namespace orrery::kernels::cuda::flash {

/// For boxes of 64 elements (128 bytes, swizzled) of rows of one head; zeros beyond the tensor.
struct TensorMaps {
  CUtensorMap query, key, value;
};

/// `joined`: of how many heads that follow each other a box has queries, those of a token next to each other,
/// by the coordinates element, head, token, batch; 0: of one head, by element, token, head, batch. Without
/// keys theirs are empty, and nobody may read by them. Throws DeviceError where rows lie as no map can say.
TensorMaps make_maps(const FlashAttention::Args& args, int joined, int queries, int keys);

/// The same for gradients.
struct GradMaps {
  CUtensorMap query, grad_out, key, value;
};
GradMaps make_grad_maps(const FlashAttentionBackward::Args& args, int queries, int keys);

}  // namespace orrery::kernels::cuda::flash
