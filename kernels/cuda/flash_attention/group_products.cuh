// Products of one group of four warps with tiles of attention that lie in shared memory as [64 elements of
// head_dim][row][64], swizzled as TMA writes and wgmma reads them (device/warpgroup.cuh). A slice is the 64
// elements of all rows of a tile; its bytes are what two slices lie apart. Products run beside the threads
// until a wait.
#pragma once

#include "kernels/cuda/device/warpgroup.cuh"
#include "kernels/cuda/flash_attention/mma_tile.cuh"

namespace orrery::kernels::cuda::flash {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Begins products = 64 own rows . (the rows of the other tile), over kDim elements.
template <DType kType, int kDim, int kBlocks>
__device__ inline void begin_row_products(uint32_t own, int own_slice, uint32_t other, int other_slice,
                                          float (&products)[kBlocks][4]) {
  const uint64_t a = descriptor(made_here(own)), b = descriptor(made_here(other));
  before_products();
#pragma unroll
  for (int f = 0; f < kDim / 16; ++f)
    begin_product<kType, false>(products, further(a, f / 4 * own_slice + f % 4 * 32),
                                further(b, f / 4 * other_slice + f % 4 * 32), f > 0);
  end_of_products();
}

/// Begins totals += factor . (the rows of the tile).
template <DType kType, int kRows, int kBlocks>
__device__ inline void begin_row_sums(const Factor<kType, kRows>& factor, uint32_t tile, int slice,
                                      float (&totals)[kBlocks][4]) {
  const uint64_t b = descriptor(made_here(tile), slice);
  before_products();
#pragma unroll
  for (int k = 0; k < kRows / 16; ++k)
    begin_product<kType, true>(totals, factor.at[k], further(b, k * 2048), true);
  end_of_products();
}

#endif

}  // namespace orrery::kernels::cuda::flash
