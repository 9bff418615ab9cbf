// Backward kernels of cuda.flash_mma for f16: a file of its own, so that they compile beside the others.
#include "kernels/cuda/flash_attention/mma_backward.cuh"

namespace orrery::kernels::cuda::flash {

template void start_backward<DType::f16>(const FlashAttentionBackward::Args&, const Launch&);

}  // namespace orrery::kernels::cuda::flash
