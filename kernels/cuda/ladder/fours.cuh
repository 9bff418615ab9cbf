// Four neighbours of a row at once: one load where the matrix allows it.
#pragma once

#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {

/// Four elements as they are stored: 16 bytes of float32, 8 of bf16.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

/// Whether each four of every row lie so that one load brings them.
template <class T>
__device__ inline bool lies_in_fours(const T* matrix, int cols) {
  return cols % 4 == 0 && reinterpret_cast<uintptr_t>(matrix) % sizeof(Four<T>) == 0;
}

/// Elements `col` to `col` + 3 of a row, col a multiple of 4; zeros beyond the edges.
template <class T>
__device__ inline Four<T> load_four(const T* matrix, bool in_fours, int rows, int cols, int row, int col) {
  Four<T> four = {};
  if (row >= rows || col >= cols) return four;
  const T* from = matrix + static_cast<int64_t>(row) * cols + col;
  if (in_fours) return *reinterpret_cast<const Four<T>*>(from);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (col + i < cols) four.at[i] = from[i];
  return four;
}

}  // namespace orrery::kernels::cuda::ladder
