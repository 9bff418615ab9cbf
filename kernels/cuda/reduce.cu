// Reductions over one dim (reduce.h); src is (outer, count, inner).
//   rows     inner is 1: one block an outer index, a thread takes elements threadIdx.x + k blockDim.x
//   columns  else: a block of 32 x 8 threads owns 32 columns of an outer index; threads of one row of the
//            block read neighbouring elements, its 8 rows take every 8th step of the axis
// What the threads of a block have is joined by halves, always in the same order: the same problem gives the
// same bits. Sums are float64: an addition costs less than the element's way from memory on any card.
// Bytes moved: an element of src, and of dst for every count of them.
#include <algorithm>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_config.h"
#include "kernels/reduce.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kMostThreads = 256;
constexpr int kColumns = 32, kSteps = kMostThreads / kColumns;

/// Leaves what all of `count` threads, `stride` apart, have with the first of them.
template <class State>
__device__ inline void join_threads(State* states, int at, int count, int stride) {
  for (int half = count / 2; half > 0; half /= 2) {
    __syncthreads();
    if (at / stride < half) states[at].join(states[at + half * stride]);
  }
}

/// blockDim.x is a power of two.
template <Reduce::Function kFunction, class T>
__global__ void __launch_bounds__(kMostThreads) rows_kernel(const Reduce::Args args) {
  using State = Reduced<kFunction, T>;
  __shared__ State states[kMostThreads];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t first = blockIdx.x * args.count;
  const int thread = static_cast<int>(threadIdx.x);
  State own;
  for (int64_t j = thread; j < args.count; j += blockDim.x)
    own.take(load_element<T>(args.problem.src, args.src, first + j), j);
  states[thread] = own;
  join_threads(states, thread, static_cast<int>(blockDim.x), 1);
  if (thread == 0) store_element(args.problem.dst, states[0].result(args.count), args.dst, blockIdx.x);
}

template <Reduce::Function kFunction, class T>
__global__ void __launch_bounds__(kMostThreads) columns_kernel(const Reduce::Args args, int64_t parts) {
  using State = Reduced<kFunction, T>;
  __shared__ State states[kMostThreads];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t outer = blockIdx.x / parts;
  const int64_t column = blockIdx.x % parts * kColumns + threadIdx.x;
  const int thread = static_cast<int>(threadIdx.y * kColumns + threadIdx.x);
  State own;
  for (int64_t j = threadIdx.y; column < args.inner && j < args.count; j += kSteps)
    own.take(load_element<T>(args.problem.src, args.src, (outer * args.count + j) * args.inner + column), j);
  states[thread] = own;
  join_threads(states, thread, kSteps, kColumns);
  if (threadIdx.y == 0 && column < args.inner)
    store_element(args.problem.dst, states[thread].result(args.count), args.dst, outer * args.inner + column);
}

template <Reduce::Function kFunction, class T>
void start(const Reduce::Args& args, const Launch& launch) {
  if (args.inner == 1) {
    unsigned threads = 32;
    while (threads < kMostThreads && threads * 4 < args.count) threads *= 2;
    return launch_kernel(launch, rows_kernel<kFunction, T>, dim3(static_cast<unsigned>(args.outer)),
                         dim3(threads), 0, args);
  }
  const int64_t parts = (args.inner + kColumns - 1) / kColumns;
  launch_kernel(launch, columns_kernel<kFunction, T>, dim3(static_cast<unsigned>(args.outer * parts)),
                dim3(kColumns, kSteps), 0, args, parts);
}

void run(const Reduce::Args& args, const Launch& launch) {
  if (args.outer <= 0 || args.inner <= 0) return;
  with_reduce_function(args.problem.function, [&](auto constant) {
    constexpr Reduce::Function kFunction = decltype(constant)::value;
    if (is_float(args.problem.src))
      start<kFunction, float>(args, launch);
    else if constexpr (kFunction != Reduce::Function::mean)
      start<kFunction, int64_t>(args, launch);
  });
}

}  // namespace

std::span<const Row<Reduce>> reduce_rows() {
  static const Row<Reduce> rows[] = {
      {.name = "cuda.reduce",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Reduce, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
