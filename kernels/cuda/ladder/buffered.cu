// Step 7, cuda.buffered: nothing that is multiplied is waited for.
//   Changed  four parts of 16 steps of k lie in shared memory, and copies go there by themselves (cp.async),
//            three parts ahead. a is turned on its way, four bytes at a time. While a thread multiplies the
//            numbers of a step, it loads those of the next one into other registers. A warp owns 32 x 64
//            elements of c, so that its 32 threads read 96 different numbers for 2,048 products.
//   Faster   a part costs one barrier, and no thread holds what is on its way. A step is 64 FMAs and four
//            loads, whose answers come before they are needed. Neighbours among the threads read the same
//            four of a, and every second one of the others the same of b, which shared memory answers two by
//            two.
//   Limit    the FMA units: 128 a cycle of a multiprocessor, and each instruction that is no FMA takes the
//            place of one (loads 6 %, all else 5 %). Past this float32 needs the tensor cores, and fewer
//            bits.
// Lanes of a warp: bits 1 and 4 say which rows (4 of them, and 4 that lie 16 further), bits 0, 2 and 3 which
// columns (4, and 4 that lie 32 further). Rows and columns beyond the edges are copied from the last one
// there is, and their sums go nowhere; steps beyond the end of k are zeros.
#include "kernels/cuda/ladder/chunks.cuh"
#include "kernels/cuda/ladder/fours.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kSide = 128;  // rows and columns of a block
constexpr int kDepth = 16;  // steps of k
constexpr int kThreads = 256;
constexpr int kStages = 4;
constexpr int kWarpRows = 32, kWarpCols = 64;
constexpr int kPad = 8;  // so that four steps of eight rows are written to all banks

struct Part {
  alignas(16) float a[kDepth][kSide + kPad];  // [k][row]
  alignas(16) float b[kDepth][kSide];         // [k][column]
};
constexpr size_t kShared = kStages * sizeof(Part);

/// 4 bytes; zero where there is nothing.
__device__ inline void copy_4(uint32_t to, const float* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(there ? 4 : 0)
               : "memory");
}

/// What a thread copies of each part: of a four steps, four apart, of two rows, 64 apart; of b four columns
/// of two steps, eight apart.
template <bool kWide>
class Copies {
 public:
  __device__ explicit Copies(const Operands<float>& o)
      : o_(o), step_(static_cast<int>(threadIdx.x) % 4), b_step_(static_cast<int>(threadIdx.x) / 32) {
    row_ = static_cast<int>(threadIdx.x) / 4;
    col_ = static_cast<int>(threadIdx.x) % 32 * 4;
    const int first_row = static_cast<int>(blockIdx.y) * kSide;
    const int first_col = static_cast<int>(blockIdx.x) * kSide;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      a_[i] = o.a + static_cast<int64_t>(min(first_row + row_ + 64 * i, o.m - 1)) * o.k + step_;
    const int last = kWide ? o.n - 4 : o.n - 1;
    b_ = o.b + static_cast<int64_t>(b_step_) * o.n + min(first_col + col_, last);
    left_ = kWide ? 4 : o.n - first_col - col_;
  }

  /// The next part.
  __device__ void bring(Part& part) {
    if (first_ + kDepth <= o_.k)
      copy<true>(part);
    else if (first_ < o_.k)
      copy<false>(part);
    end_of_copies();
    first_ += kDepth;
    a_[0] += kDepth, a_[1] += kDepth;
    b_ += static_cast<int64_t>(kDepth) * o_.n;
  }

 private:
  /// kWhole: k does not end within.
  template <bool kWhole>
  __device__ void copy(Part& part) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int s = 0; s < kDepth; s += 4) {
        const bool there = kWhole || first_ + step_ + s < o_.k;
        copy_4(shared_address(&part.a[step_ + s][row_ + 64 * i]), there ? a_[i] + s : o_.a, there);
      }
#pragma unroll
    for (int s = 0; s < kDepth; s += 8) {
      const bool there = kWhole || first_ + b_step_ + s < o_.k;
      const float* from = there ? b_ + static_cast<int64_t>(s) * o_.n : o_.b;
      float* to = &part.b[b_step_ + s][col_];
      if constexpr (kWide) {
        copy_16(shared_address(to), from, there);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) copy_4(shared_address(to + j), j < left_ ? from + j : from, there);
      }
    }
  }

  const Operands<float>& o_;
  const float* a_[2];
  const float* b_;
  int first_ = 0, step_, b_step_, row_, col_, left_;
};

/// The numbers of a step that a thread multiplies.
struct Numbers {
  float down[8], across[8];

  __device__ void load(const Part& part, int step, int row, int col) {
    load_four(down, &part.a[step][row]);
    load_four(down + 4, &part.a[step][row + kWarpRows / 2]);
    load_four(across, &part.b[step][col]);
    load_four(across + 4, &part.b[step][col + kWarpCols / 2]);
  }

 private:
  __device__ static void load_four(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
};

template <bool kWide>
__global__ void __launch_bounds__(kThreads, 2) buffered_kernel(const Operands<float> o) {
  extern __shared__ uint4 memory[];
  auto* parts = reinterpret_cast<Part*>(memory);
  pdl_wait();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / 2 * kWarpRows + ((lane >> 1 & 1) | (lane >> 3 & 2)) * 4;
  const int col = warp % 2 * kWarpCols + ((lane & 1) | (lane >> 1 & 6)) * 4;
  Copies<kWide> copies(o);
  for (int i = 0; i < kStages - 1; ++i) copies.bring(parts[i]);
  wait_for_copies<kStages - 2>();
  __syncthreads();
  Numbers numbers[2];
  numbers[0].load(parts[0], 0, row, col);
  float sums[8][8] = {};
  const int count = (o.k + kDepth - 1) / kDepth;
  int stage = 0;
  for (int i = 0; i < count; ++i) {
    const Part& part = parts[stage];
    Part& before = parts[(stage + kStages - 1) % kStages];  // which all are done with
    stage = (stage + 1) % kStages;
#pragma unroll
    for (int step = 0; step < kDepth; ++step) {
      if (step == 0) copies.bring(before);
      if (step == kDepth - 1) {
        wait_for_copies<kStages - 2>();  // the thread's own of the next part
        __syncthreads();                 // everyone's; and all have loaded what they need of this one
        numbers[0].load(parts[stage], 0, row, col);
      } else {
        numbers[(step + 1) % 2].load(part, step + 1, row, col);
      }
      const Numbers& now = numbers[step % 2];
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 8; ++c) sums[r][c] = fmaf(now.down[r], now.across[c], sums[r][c]);
    }
  }
  const bool c_in_fours = lies_in_fours(o.c, o.n);
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at_row = static_cast<int>(blockIdx.y) * kSide + row + r / 4 * (kWarpRows / 2) + r % 4;
      const int at_col = static_cast<int>(blockIdx.x) * kSide + col + half * (kWarpCols / 2);
      if (at_row >= o.m || at_col >= o.n) continue;
      float* to = o.c + static_cast<int64_t>(at_row) * o.n + at_col;
      const float* from = &sums[r][half * 4];
      if (c_in_fours) {
        *reinterpret_cast<float4*>(to) = {from[0], from[1], from[2], from[3]};
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (at_col + j < o.n) to[j] = from[j];
      }
    }
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto [dtype, m, n, k] = args.problem;
  const Operands<float> o{static_cast<const float*>(args.a),
                          static_cast<const float*>(args.b),
                          args.c,
                          static_cast<int>(m),
                          static_cast<int>(n),
                          static_cast<int>(k)};
  const bool wide = o.n % 4 == 0 && is_aligned(o.b);
  launch_kernel(launch, wide ? buffered_kernel<true> : buffered_kernel<false>,
                dim3(blocks_of(o.n, kSide), blocks_of(o.m, kSide)), dim3(kThreads), kShared, o);
}

std::string supports(const MatmulLadder::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal_along_n(problem); !reason.empty()) return reason;
  if (problem.dtype != DType::f32)
    return "matrices of " + std::string(name_of(problem.dtype)) + "; it copies float32, unconverted";
  return without_shared(kShared, machine.card);
}

}  // namespace

Row<MatmulLadder> buffered_row() {
  return {.name = "cuda.buffered",
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run,
          .source = "cuda/ladder/buffered.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
