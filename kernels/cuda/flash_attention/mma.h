// The launches of cuda.flash_mma (mma_forward.cuh, mma_backward.cuh), which are compiled for each type in
// files of their own.
#pragma once

#include "kernels/flash_attention.h"

namespace orrery::kernels::cuda::flash {

template <DType kType>
void start_forward(const FlashAttention::Args& args, const Launch& launch);
extern template void start_forward<DType::f16>(const FlashAttention::Args&, const Launch&);
extern template void start_forward<DType::bf16>(const FlashAttention::Args&, const Launch&);

template <DType kType>
void start_backward(const FlashAttentionBackward::Args& args, const Launch& launch);
extern template void start_backward<DType::f16>(const FlashAttentionBackward::Args&, const Launch&);
extern template void start_backward<DType::bf16>(const FlashAttentionBackward::Args&, const Launch&);

}  // namespace orrery::kernels::cuda::flash
