// Copies of 16 bytes of a row into shared memory that run beside the threads.
#pragma once

#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {

template <class T>
constexpr int kChunk = 16 / static_cast<int>(sizeof(T));  // elements

__device__ inline uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

/// A chunk of a row-major matrix, zeros beyond its edges. kWide: it begins at a multiple of 16 bytes, and no
/// row ends within; else the thread copies it itself, element by element.
template <bool kWide, class T>
__device__ inline void copy_chunk(T* to, const T* matrix, int rows, int cols, int row, int col) {
  const T* from = matrix + static_cast<int64_t>(row) * cols + col;
  if constexpr (kWide) {
    const bool there = row < rows && col < cols;
    copy_16(shared_address(to), there ? from : matrix, there);
  } else {
#pragma unroll
    for (int i = 0; i < kChunk<T>; ++i) to[i] = row < rows && col + i < cols ? from[i] : T(0.0F);
  }
}

/// Whether both matrices are made of chunks.
template <class T>
bool lies_in_chunks(const Operands<T>& o) {
  return o.k % kChunk<T> == 0 && o.n % kChunk<T> == 0 && is_aligned(o.a) && is_aligned(o.b);
}

}  // namespace orrery::kernels::cuda::ladder
