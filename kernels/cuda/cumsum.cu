// Cumulative sums along one dim (cumsum.h); src is (outer, count, inner).
//   rows     inner is 1: one block an outer index walks the axis, kThreads * kEach elements at a time. A
//            thread adds up kEach neighbours, a warp the sums of its threads by shuffles; the sums of the
//            warps before it and of the steps before are added.
//   tiles    few columns: a block of 32 x 32 threads owns 32 columns of an outer index and walks the axis,
//            32 * kEach elements at a time, kEach of a column to a thread, in registers, so that an element
//            is read once. What the threads of a column have is added up by the lanes of one warp.
//   columns  else: a thread owns one (outer, inner) pair and walks the axis
// In the last two neighbouring threads read neighbouring elements. Sums are float64, or 64-bit integers,
// always in the same order. dst may be src: an element is written by the thread that read it. Bytes moved: an
// element of src and of dst each.
#include <type_traits>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cumsum.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;                       // elements of a thread and step
constexpr int64_t kManyColumns = 1 << 17;      // they keep a card busy, a thread each
constexpr int64_t kShortAxis = kWarp * kEach;  // of one step

template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, unsigned long long, double>;

template <class T>
__global__ void __launch_bounds__(kThreads) rows_kernel(const Cumsum::Args args) {
  using Sum = SumOf<T>;
  constexpr int kWarps = kThreads / kWarp;
  __shared__ Sum warp_sums[2][kWarps];  // by turns: the next step's are written while these are read
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t first = blockIdx.x * args.count;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  Sum before = 0;
  int turn = 0;
  for (int64_t step = 0; step < args.count; step += kThreads * kEach, turn ^= 1) {
    const int64_t own = step + static_cast<int64_t>(threadIdx.x) * kEach;
    const auto place = [&](int k) { return first + (args.reverse ? args.count - 1 - (own + k) : own + k); };
    Sum values[kEach], total = 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      values[k] =
          own + k < args.count ? static_cast<Sum>(load_element<T>(args.dtype, args.src, place(k))) : Sum{0};
      total += values[k];
    }
    Sum sum = total;
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const Sum other = __shfl_up_sync(kWholeWarp, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == kWarp - 1) warp_sums[turn][warp] = sum;
    __syncthreads();
    Sum all = 0, lower = 0;
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp) lower = all;
      all += warp_sums[turn][w];
    }
    const Sum below = __shfl_up_sync(kWholeWarp, sum, 1);
    Sum here = before + (lower + (lane == 0 ? Sum{0} : below));
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const Sum next = here + values[k];
      if (own + k < args.count)
        store_element(args.dtype, static_cast<T>(args.exclusive ? here : next), args.dst, place(k));
      here = next;
    }
    before += all;
  }
}

template <class T>
__global__ void __launch_bounds__(kWarp* kWarp) tiles_kernel(const Cumsum::Args args, int64_t parts) {
  using Sum = SumOf<T>;
  __shared__ Sum sums[kWarp][kWarp + 1];  // of (thread of the column, column): one more, so that lanes meet
                                          // no bank twice
  __shared__ Sum totals[kWarp];           // of all steps before, by column
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int64_t column = blockIdx.x % parts * kWarp + lane;
  const int64_t first = blockIdx.x / parts * args.count * args.inner + column;
  if (warp == 0) totals[lane] = 0;
  for (int64_t step = 0; step < args.count; step += kWarp * kEach) {
    const int64_t own = step + static_cast<int64_t>(warp) * kEach;
    const auto place = [&](int k) {
      return first + (args.reverse ? args.count - 1 - (own + k) : own + k) * args.inner;
    };
    T values[kEach];
    Sum total = 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      values[k] = column < args.inner && own + k < args.count
                      ? load_element<T>(args.dtype, args.src, place(k))
                      : T{0};
#pragma unroll
    for (int k = 0; k < kEach; ++k) total += static_cast<Sum>(values[k]);
    sums[warp][lane] = total;
    __syncthreads();
    // This warp adds up column `warp`, a lane for each of its threads.
    const Sum of_lane = sums[lane][warp];
    Sum sum = of_lane;
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const Sum other = __shfl_up_sync(kWholeWarp, sum, distance);
      if (lane >= distance) sum += other;
    }
    const Sum below = __shfl_up_sync(kWholeWarp, sum, 1), before = totals[warp];
    sums[lane][warp] = before + (lane == 0 ? Sum{0} : below);
    __syncwarp();  // all lanes have read the total
    if (lane == kWarp - 1) totals[warp] = before + sum;
    __syncthreads();
    Sum here = sums[warp][lane];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const Sum next = here + static_cast<Sum>(values[k]);
      if (column < args.inner && own + k < args.count)
        store_element(args.dtype, static_cast<T>(args.exclusive ? here : next), args.dst, place(k));
      here = next;
    }
    // The next step writes sums[warp][lane], which only this thread has read since the barrier.
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) columns_kernel(const Cumsum::Args args) {
  using Sum = SumOf<T>;
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < args.outer * args.inner;
       i += apart) {
    const int64_t first = i / args.inner * args.count * args.inner + i % args.inner;
    Sum sum = 0;
    for (int64_t step = 0; step < args.count; ++step) {
      const int64_t at = first + (args.reverse ? args.count - 1 - step : step) * args.inner;
      const Sum next = sum + static_cast<Sum>(load_element<T>(args.dtype, args.src, at));
      store_element(args.dtype, static_cast<T>(args.exclusive ? sum : next), args.dst, at);
      sum = next;
    }
  }
}

template <class T>
void start(const Cumsum::Args& args, const Launch& launch) {
  if (args.inner == 1)
    return launch_kernel(launch, rows_kernel<T>, dim3(static_cast<unsigned>(args.outer)), dim3(kThreads), 0,
                         args);
  if (args.outer * args.inner < kManyColumns && args.count >= kShortAxis) {
    const int64_t parts = (args.inner + kWarp - 1) / kWarp;
    return launch_kernel(launch, tiles_kernel<T>, dim3(static_cast<unsigned>(args.outer * parts)),
                         dim3(kWarp, kWarp), 0, args, parts);
  }
  const dim3 grid = pointwise_grid(args.outer * args.inner, kThreads);
  launch_kernel(launch, columns_kernel<T>, grid, dim3(kThreads), 0, args);
}

void run(const Cumsum::Args& args, const Launch& launch) {
  if (args.outer <= 0 || args.count <= 0 || args.inner <= 0) return;
  is_float(args.dtype) ? start<float>(args, launch) : start<int64_t>(args, launch);
}

}  // namespace

std::span<const Row<Cumsum>> cumsum_rows() {
  static const Row<Cumsum> rows[] = {
      {.name = "cuda.cumsum",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Cumsum, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
