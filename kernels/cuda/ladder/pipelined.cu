// Step 9, cuda.pipelined: the next parts are on their way while one is multiplied.
//   Changed  four parts lie in shared memory. Copies of 16 bytes go there by themselves (cp.async), three
//            parts ahead, so that a part needs one barrier and passes through no register; ldmatrix brings 8
//            x 8 pairs of bf16 to where mma.sync wants them, turned for b.
//   Faster   memory's answers are waited for once, at the start. A warp's operands of bf16 take 6
//            instructions for 16 products, where the step before took 32 loads; b of TF32 has no such
//            instruction, and is rounded after it is loaded.
//   Limit    the warps: each loads its operands into registers itself, 192 bytes for a product's 2,048
//            multiplications, and waits for its own products. Cards of 9.0 have products that read shared
//            memory themselves, for four warps together, and an engine that copies whole tiles (wgmma, TMA).
// Where rows do not begin at multiples of 16 bytes, threads copy element by element instead.
#include "kernels/cuda/device/tensor_core.cuh"
#include "kernels/cuda/ladder/chunks.cuh"
#include "kernels/cuda/ladder/tensor.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kStages = 4;

template <bool kWide, class T>
__device__ void copy_part(TensorPart<T>& part, const Operands<T>& o, int first_row, int first_col,
                          int first) {
  constexpr int kDepth = TensorPart<T>::kDepth;
#pragma unroll
  for (int i = 0; i < kTensorSide * kDepth / kChunk<T>; i += kTensorThreads) {
    const int at = (i + static_cast<int>(threadIdx.x)) * kChunk<T>;
    const int row = at / kDepth, depth = at % kDepth;           // a chunk of a row of a
    const int step = at / kTensorSide, col = at % kTensorSide;  // a chunk of a row of b
    copy_chunk<kWide>(&part.a[row][depth], o.a, o.m, o.k, first_row + row, first + depth);
    copy_chunk<kWide>(&part.b[step][col], o.b, o.k, o.n, first + step, first_col + col);
  }
}

__device__ inline void put(uint32_t (&to)[4], const uint4& from) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z, to[3] = from.w;
}

/// Products of one step of k.
template <class T>
__device__ Fragments load(const TensorPart<T>& part, const Warp& warp, int step) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int depth = step * TensorPart<T>::kStep;
  Fragments to;
#pragma unroll
  for (int r = 0; r < kDown; ++r)  // matrices: rows 0 to 7, 8 to 15, then both of the second half of k
    put(to.a[r],
        load_matrices(shared_address(&part.a[warp.row + 16 * r + lane % 16][depth + lane / 16 * kChunk<T>])));
  if constexpr (std::is_same_v<T, float>) {
#pragma unroll
    for (int r = 0; r < kDown; ++r)
#pragma unroll
      for (int i = 0; i < 4; ++i) to.a[r][i] = to_tf32(__uint_as_float(to.a[r][i]));
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        to.b[c][i] = to_tf32(part.b[depth + warp.q + 4 * i][warp.col + 8 * c + warp.g]);
  } else {
#pragma unroll
    for (int c = 0; c < kAcross; c += 2) {  // matrices: k 0 to 7, 8 to 15, then both of the next 8 columns
      const uint4 both =
          load_transposed(shared_address(&part.b[depth + lane % 16][warp.col + 8 * c + lane / 16 * 8]));
      to.b[c][0] = both.x, to.b[c][1] = both.y;
      to.b[c + 1][0] = both.z, to.b[c + 1][1] = both.w;
    }
  }
  return to;
}

template <class T, bool kWide>
__global__ void __launch_bounds__(kTensorThreads, 2) pipelined_kernel(const Operands<T> o) {
  constexpr int kDepth = TensorPart<T>::kDepth;
  extern __shared__ uint4 memory[];
  auto* parts = reinterpret_cast<TensorPart<T>*>(memory);
  pdl_wait();
  const int first_row = static_cast<int>(blockIdx.y) * kTensorSide;
  const int first_col = static_cast<int>(blockIdx.x) * kTensorSide;
  const int count = (o.k + kDepth - 1) / kDepth;
  const auto bring = [&](int i) {  // a group of copies for each part, an empty one after the last
    if (i < count) copy_part<kWide>(parts[i % kStages], o, first_row, first_col, i * kDepth);
    end_of_copies();
  };
  for (int i = 0; i < kStages - 1; ++i) bring(i);
  const Warp warp;
  Sums sums;
  for (int i = 0; i < count; ++i) {
    wait_for_copies<kStages - 2>();  // the thread's own of part i
    __syncthreads();                 // everyone's; and all are done with part i - 1, which is overwritten now
    bring(i + kStages - 1);
    const TensorPart<T>& part = parts[i % kStages];
#pragma unroll
    for (int step = 0; step < kDepth / TensorPart<T>::kStep; ++step)
      multiply<T>(sums, load(part, warp, step));
  }
  store_sums(sums, o, warp, first_row, first_col);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    const bool wide = lies_in_chunks(o);
    launch_kernel(launch, wide ? pipelined_kernel<T, true> : pipelined_kernel<T, false>,
                  dim3(blocks_of(o.n, kTensorSide), blocks_of(o.m, kTensorSide)), dim3(kTensorThreads),
                  kStages * sizeof(TensorPart<T>), o);
  });
}

/// Of either type.
constexpr size_t kShared = kStages * sizeof(TensorPart<float>);
static_assert(kShared == kStages * sizeof(TensorPart<__nv_bfloat16>));

std::string supports(const MatmulLadder::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal_along_n(problem); !reason.empty()) return reason;
  return without_shared(kShared, machine.card);
}

}  // namespace

Row<MatmulLadder> pipelined_row() {
  return {.name = "cuda.pipelined",
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/pipelined.cu",
          .block = {kTensorSide, kTensorSide}};
}

}  // namespace orrery::kernels::cuda::ladder
