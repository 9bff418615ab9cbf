// Kernels of cuda.flash_mma for bf16: a file of its own, so that they compile beside the others.
#include "kernels/cuda/flash_attention/mma_forward.cuh"

namespace orrery::kernels::cuda::flash {

template void start_forward<DType::bf16>(const FlashAttention::Args&, const Launch&);

}  // namespace orrery::kernels::cuda::flash
