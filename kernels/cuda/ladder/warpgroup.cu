// Step 10, cuda.warpgroup: products that read shared memory themselves, of bf16, on cards of capability 9.0.
//   Changed  four warps multiply together (wgmma): 64 x 128 elements of c over 16 steps of k, whose operands
//            are not in registers but told by a descriptor of where they lie in shared memory. A block of two
//            such groups owns 256 x 128 elements of c and walks over k by 64. Products run beside the threads
//            as the copies do: while those of a part run, a later part is asked for.
//   Faster   no load from shared memory is an instruction of a warp, and a and b are read there once for four
//            warps: the tensor cores reach the rate that they have on these cards. A larger block of c needs
//            a quarter less from outside.
//   Limit    threads still work out every address they copy from, and all wait for all in each part; the copy
//            engine for tiles (TMA) takes that off them, and lets one warp bring parts while others multiply.
//            TF32 has no such product for a b that lies by rows (tf32.cu).
// As wgmma reads them, rows of 128 bytes lie one after the other, chunk i (16 bytes) of row r at i ^ r % 8:
//   a: [row][64 steps of k], groups of 8 rows 1,024 bytes apart; 16 steps of k are 32 bytes
//   b: two halves of [k][64 columns], groups of 8 steps of k 1,024 bytes apart; 16 steps are 2,048 bytes
//   c of a lane: as mma.sync has it (tensor.cuh), a warp 16 rows, 8 columns after 8 columns
#include "kernels/cuda/device/warpgroup.cuh"
#include "kernels/cuda/ladder/chunks.cuh"
#include "kernels/cuda/ladder/tensor.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kRows = 256, kCols = 128, kDepth = 64;
constexpr int kThreads = 256;  // two groups of four warps, each with 2 x 64 rows
constexpr int kStages = 4;
constexpr int kRowElements = 64;  // 128 bytes

/// Begins at a multiple of 1,024 bytes.
struct Part {
  __nv_bfloat16 a[kRows][kRowElements];
  __nv_bfloat16 b[kCols / kRowElements][kDepth][kRowElements];
};
constexpr size_t kShared = kStages * sizeof(Part) + 1024;  // from wherever shared memory begins

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr int kAhead = kStages - 2;  // a part is overwritten when the products after its own have begun
constexpr int kHalfBytes = kDepth * 128;
constexpr int kAcrossGroup = kCols / 8;

template <bool kWide>
__device__ void copy_part(Part& part, const Operands<__nv_bfloat16>& o, int first_row, int first_col,
                          int first) {
  constexpr int kChunks = kRowElements / kChunk<__nv_bfloat16>;  // of a row
  const int thread = static_cast<int>(threadIdx.x), chunk = thread % kChunks;
  const auto place = [chunk](int row) { return (chunk ^ row % 8) * kChunk<__nv_bfloat16>; };
  const int col = chunk * kChunk<__nv_bfloat16>;
#pragma unroll
  for (int i = 0; i < kRows; i += kThreads / kChunks) {
    const int row = i + thread / kChunks;
    copy_chunk<kWide>(&part.a[row][place(row)], o.a, o.m, o.k, first_row + row, first + col);
  }
#pragma unroll
  for (int half = 0; half < kCols / kRowElements; ++half)
#pragma unroll
    for (int i = 0; i < kDepth; i += kThreads / kChunks) {
      const int step = i + thread / kChunks;
      copy_chunk<kWide>(&part.b[half][step][place(step)], o.b, o.k, o.n, first + step,
                        first_col + half * kRowElements + col);
    }
}

template <bool kWide>
__device__ void multiply_block(const Operands<__nv_bfloat16>& o) {
  extern __shared__ uint4 memory[];
  const uint32_t begin = shared_address(memory), past = begin % kGroupBytes;
  auto* parts =
      reinterpret_cast<Part*>(reinterpret_cast<char*>(memory) + (past == 0 ? 0 : kGroupBytes - past));
  pdl_wait();
  const int first_row = static_cast<int>(blockIdx.y) * kRows,
            first_col = static_cast<int>(blockIdx.x) * kCols;
  const int count = (o.k + kDepth - 1) / kDepth;
  const auto bring = [&](int i) {  // a group of copies for each part, an empty one after the last
    if (i < count) copy_part<kWide>(parts[i % kStages], o, first_row, first_col, i * kDepth);
    end_of_copies();
  };
  for (int i = 0; i < kAhead; ++i) bring(i);
  const int thread = static_cast<int>(threadIdx.x);
  const int group_row = thread / 128 * 128;
  float sums[2][kAcrossGroup][4] = {};
  for (int i = 0; i < count; ++i) {
    wait_for_copies<kAhead - 1>();  // the thread's own of part i
    show_to_products();
    __syncthreads();  // everyone's; and the products of part i - 2, which is overwritten below, are done
    const Part& part = parts[i % kStages];
    before_products();
#pragma unroll
    for (int step = 0; step < kDepth; step += 16) {
      const uint64_t b = descriptor(shared_address(&part.b[0][step][0]), kHalfBytes);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        begin_product<DType::bf16, true>(
            sums[half], descriptor(shared_address(&part.a[group_row + 64 * half][step])), b, true);
    }
    end_of_products();
    bring(i + kAhead);
    wait_for_products<1>();
  }
  wait_for_products<0>();
  settle(sums[0]);
  settle(sums[1]);
  const int lane = thread % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int c = 0; c < kAcrossGroup; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = first_row + group_row + 64 * half + thread / 32 % 4 * 16 + lane / 4 + i / 2 * 8;
        const int col = first_col + 8 * c + lane % 4 * 2 + i % 2;
        if (row < o.m && col < o.n) o.c[static_cast<int64_t>(row) * o.n + col] = sums[half][c][i];
      }
}

#else
template <bool kWide>
__device__ void multiply_block(const Operands<__nv_bfloat16>&) {}  // no card that runs this is given the row
#endif

template <bool kWide>
__global__ void __launch_bounds__(kThreads, 1) warpgroup_kernel(const Operands<__nv_bfloat16> o) {
  multiply_block<kWide>(o);
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto o = operands_of<__nv_bfloat16>(args);
  launch_kernel(launch, lies_in_chunks(o) ? warpgroup_kernel<true> : warpgroup_kernel<false>,
                dim3(blocks_of(o.n, kCols), blocks_of(o.m, kRows)), dim3(kThreads), kShared, o);
}

std::string supports(const MatmulLadder::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.dtype != DType::bf16)
    return "matrices of " + std::string(name_of(problem.dtype)) + "; it multiplies bf16";
  if (std::string reason = without_warpgroups(machine.card); !reason.empty()) return reason;
  return without_shared(kShared, machine.card);
}

}  // namespace

Row<MatmulLadder> warpgroup_row() {
  return {.name = "cuda.warpgroup",
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run,
          .arithmetic = Arithmetic::bf16,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/warpgroup.cu",
          .block = {kRows, kCols}};
}

}  // namespace orrery::kernels::cuda::ladder
