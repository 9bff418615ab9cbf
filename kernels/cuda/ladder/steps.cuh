// The steps of the ladder on a card (matmul_ladder.h), and what their files share.
#pragma once

#include <cuda_bf16.h>

#include <type_traits>

#include "kernels/cuda/launch.h"
#include "kernels/matmul_ladder.h"

namespace orrery::kernels::cuda::ladder {

Row<MatmulLadder> naive_row();
Row<MatmulLadder> coalesced_row();
Row<MatmulLadder> shared_row();
Row<MatmulLadder> column_row();
Row<MatmulLadder> square_row();
Row<MatmulLadder> vectorised_row();
Row<MatmulLadder> buffered_row();
Row<MatmulLadder> tensor_row();
Row<MatmulLadder> pipelined_row();
Row<MatmulLadder> warpgroup_row();
Row<MatmulLadder> tma_row();
Row<MatmulLadder> specialised_row();
Row<MatmulLadder> persistent_row();
Row<MatmulLadder> cluster_row();
Row<MatmulLadder> stream_k_row();
Row<MatmulLadder> tf32_row();
Row<MatmulLadder> cublas_row();  // no step, the rival

/// The operands as they are stored. T: float or __nv_bfloat16.
template <class T>
struct Operands {
  const T* a;
  const T* b;
  float* c;
  int m, n, k;
};

/// start(operands) with those of the problem's type.
template <class Start>
void with_operands(const MatmulLadder::Args& args, Start&& start) {
  const auto [dtype, m, n, k] = args.problem;
  const auto of = [&]<class T>(const T* a, const T* b) {
    start(Operands<T>{a, b, args.c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k)});
  };
  if (dtype == DType::f32)
    of(static_cast<const float*>(args.a), static_cast<const float*>(args.b));
  else
    of(static_cast<const __nv_bfloat16*>(args.a), static_cast<const __nv_bfloat16*>(args.b));
}

/// Blocks that cover so many elements; kMostSize keeps them within what every dim of a grid takes.
inline unsigned blocks_of(int size, int each) { return static_cast<unsigned>((size + each - 1) / each); }

__device__ inline float number(float x) { return x; }
__device__ inline float number(__nv_bfloat16 x) { return __bfloat162float(x); }

/// An element of a row-major matrix of `rows` x `cols`; zero beyond its edges.
template <class T>
__device__ inline float element_of(const T* matrix, int rows, int cols, int row, int col) {
  return row < rows && col < cols ? number(matrix[static_cast<int64_t>(row) * cols + col]) : 0.0F;
}

}  // namespace orrery::kernels::cuda::ladder
