// Step 8, cuda.tensor: the tensor cores multiply.
//   Changed  a warp multiplies together: 16 x 8 elements of c over 8 steps of k of TF32, or 16 of bf16, in
//            one instruction (mma.sync), whose operands are spread over the registers of its 32 threads. A
//            warp owns 64 x 32 sums. float32 is rounded to TF32 on its way into shared memory; bf16 stays as
//            it is.
//   Faster   one instruction makes 1,024 products of TF32 or 2,048 of bf16, where an FMA of a warp makes 32.
//   Limit    everything around them: a part passes through registers on its way into shared memory, nothing
//            is multiplied until it has arrived, and a pair of bf16 of b, one from each of two rows, is put
//            together from two loads.
#include "kernels/cuda/ladder/fours.cuh"
#include "kernels/cuda/ladder/tensor.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

__device__ inline float as_multiplied(float x) { return __uint_as_float(to_tf32(x)); }
__device__ inline __nv_bfloat16 as_multiplied(__nv_bfloat16 x) { return x; }

template <class T>
__device__ Four<T> as_multiplied(Four<T> four) {
#pragma unroll
  for (int i = 0; i < 4; ++i) four.at[i] = as_multiplied(four.at[i]);
  return four;
}

template <class T>
__device__ void fill(TensorPart<T>& part, const Operands<T>& o, bool a_in_fours, bool b_in_fours,
                     int first_row, int first_col, int first) {
  constexpr int kDepth = TensorPart<T>::kDepth;
#pragma unroll
  for (int i = 0; i < kTensorSide * kDepth / 4; i += kTensorThreads) {
    const int at = (i + static_cast<int>(threadIdx.x)) * 4;
    const int row = at / kDepth, depth = at % kDepth;           // four of a row of a
    const int step = at / kTensorSide, col = at % kTensorSide;  // four of a row of b
    *reinterpret_cast<Four<T>*>(&part.a[row][depth]) =
        as_multiplied(load_four(o.a, a_in_fours, o.m, o.k, first_row + row, first + depth));
    *reinterpret_cast<Four<T>*>(&part.b[step][col]) =
        as_multiplied(load_four(o.b, b_in_fours, o.k, o.n, first + step, first_col + col));
  }
}

template <class T>
__device__ inline uint32_t word_at(const T* from) {
  return *reinterpret_cast<const uint32_t*>(from);
}

/// The i-th 32 bits of b along k, of one column.
__device__ inline uint32_t word_of_b(const TensorPart<float>& part, int i, int col) {
  return word_at(&part.b[i][col]);
}
__device__ inline uint32_t word_of_b(const TensorPart<__nv_bfloat16>& part, int i, int col) {
  return __bfloat16_as_ushort(part.b[2 * i][col]) |
         static_cast<uint32_t>(__bfloat16_as_ushort(part.b[2 * i + 1][col])) << 16;
}

template <class T>
__device__ Fragments load(const TensorPart<T>& part, const Warp& warp, int step) {
  constexpr int kWord = 4 / static_cast<int>(sizeof(T));  // elements
  Fragments to;
#pragma unroll
  for (int r = 0; r < kDown; ++r)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      to.a[r][i] = word_at(&part.a[warp.row + 16 * r + warp.g + i % 2 * 8]
                                  [step * TensorPart<T>::kStep + (warp.q + i / 2 * 4) * kWord]);
#pragma unroll
  for (int c = 0; c < kAcross; ++c)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      to.b[c][i] = word_of_b(part, step * 8 + warp.q + i * 4, warp.col + 8 * c + warp.g);
  return to;
}

template <class T>
__global__ void __launch_bounds__(kTensorThreads, 2) tensor_kernel(const Operands<T> o) {
  constexpr int kDepth = TensorPart<T>::kDepth;
  __shared__ TensorPart<T> part;
  pdl_wait();
  const int first_row = static_cast<int>(blockIdx.y) * kTensorSide;
  const int first_col = static_cast<int>(blockIdx.x) * kTensorSide;
  const bool a_in_fours = lies_in_fours(o.a, o.k), b_in_fours = lies_in_fours(o.b, o.n);
  const Warp warp;
  Sums sums;
  for (int first = 0; first < o.k; first += kDepth) {
    fill(part, o, a_in_fours, b_in_fours, first_row, first_col, first);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < kDepth / TensorPart<T>::kStep; ++step)
      multiply<T>(sums, load(part, warp, step));
    __syncthreads();
  }
  store_sums(sums, o, warp, first_row, first_col);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, tensor_kernel<T>, dim3(blocks_of(o.n, kTensorSide), blocks_of(o.m, kTensorSide)),
                  dim3(kTensorThreads), 0, o);
  });
}

}  // namespace

Row<MatmulLadder> tensor_row() {
  return {.name = "cuda.tensor",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/tensor.cu",
          .block = {kTensorSide, kTensorSide}};
}

}  // namespace orrery::kernels::cuda::ladder
