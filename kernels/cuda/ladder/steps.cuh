// The steps of the ladder on a card (matmul_ladder.h), and what their files share.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>

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
Row<MatmulLadder> fp8_row();
Row<MatmulLadder> fp8_short_row();
Row<MatmulLadder> cublas_row();  // no step, the rival
Row<MatmulLadder> cublas_short_row();

/// The operands as they are stored. T: float, __nv_bfloat16 or __nv_fp8_e4m3.
template <class T>
struct Operands {
  const T* a;
  const T* b;
  float* c;
  int m, n, k;
};

template <class T>
Operands<T> operands_of(const MatmulLadder::Args& args) {
  const auto [dtype, m, n, k] = args.problem;
  return {static_cast<const T*>(args.a), static_cast<const T*>(args.b), args.c,
          static_cast<int>(m),           static_cast<int>(n),           static_cast<int>(k)};
}

/// start(operands) with those of the problem's type, of the two whose b lies along n.
template <class Start>
void with_operands(const MatmulLadder::Args& args, Start&& start) {
  if (args.problem.dtype == DType::f32)
    start(operands_of<float>(args));
  else
    start(operands_of<__nv_bfloat16>(args));
}

/// Blocks that cover so many elements; kMostSize keeps them within what every dim of a grid takes.
inline unsigned blocks_of(int size, int each) { return static_cast<unsigned>((size + each - 1) / each); }

/// What the tensor cores round to.
inline Rounding tensor_rounding(const MatmulLadder::Problem& problem, int) {
  if (problem.dtype == DType::f32) return {Rounded::tf32, Rounded::tf32};
  if (problem.dtype == DType::f8_e4m3) return {Rounded::f8, Rounded::f8};
  return {Rounded::bf16, Rounded::bf16};
}

__device__ inline float number(float x) { return x; }
__device__ inline float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float number(__nv_fp8_e4m3 x) { return static_cast<float>(x); }

/// An element of a row-major matrix of `rows` x `cols`; zero beyond its edges.
template <class T>
__device__ inline float element_of(const T* matrix, int rows, int cols, int row, int col) {
  return row < rows && col < cols ? number(matrix[static_cast<int64_t>(row) * cols + col]) : 0.0F;
}

}  // namespace orrery::kernels::cuda::ladder
