// What is marked in a tensor, in its order (nonzero.h).
//   count  one block a part of the mask adds up how many of its elements are marked, into the workspace
//   write  one block a part adds up the counts of the parts before it, and walks its part kThreads elements
//          at a time; a warp tells by a vote how many of its lanes come before one. Of places the blocks
//          share the rows that are left.
// The same elements of the same blocks each time: no atomics, one result. dst may be src: an element is
// written by the thread that read it. Bytes moved: the mask twice, and what is written.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/nonzero.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

__global__ void __launch_bounds__(kThreads)
    count_kernel(const Nonzero::Args args, int64_t elements, long long* counts) {
  __shared__ long long shared[kWarp];
  pdl_wait();
  const int64_t end = nonzero_part(elements, blockIdx.x + 1);
  long long marked = 0;
  for (int64_t i = nonzero_part(elements, blockIdx.x) + threadIdx.x; i < end; i += kThreads)
    marked += is_marked(args.problem.mask, args.mask, i) ? 1 : 0;
  marked = block_reduce(marked, 0LL, Plus{}, shared);
  if (threadIdx.x == 0) counts[blockIdx.x] = marked;
}

/// Word: an unsigned number of the size of an element of dst.
template <class Word>
__device__ inline void write(const Nonzero::Args& args, int64_t i, bool marked, int64_t k) {
  if (args.problem.function == Nonzero::Function::places) {
    if (marked && k < args.capacity) write_place(args, i, k);
    return;
  }
  const Word kept = static_cast<const Word*>(args.src)[i];
  static_cast<Word*>(args.dst)[i] =
      marked && k < args.capacity ? static_cast<const Word*>(args.values)[k] : kept;
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    write_kernel(const Nonzero::Args args, int64_t elements, const long long* counts) {
  __shared__ long long shared[kWarp];
  __shared__ int in_warps[2][kWarps];  // by turns: the next step's are written while these are read
  pdl_wait();
  long long before = 0, total = 0;
  for (int part = threadIdx.x; part < kNonzeroParts; part += kThreads) {
    const long long marked = counts[part];
    total += marked;
    before += part < static_cast<int>(blockIdx.x) ? marked : 0;
  }
  before = block_reduce(before, 0LL, Plus{}, shared);
  total = block_reduce(total, 0LL, Plus{}, shared);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  const int64_t begin = nonzero_part(elements, blockIdx.x), end = nonzero_part(elements, blockIdx.x + 1);
  int turn = 0;
  for (int64_t first = begin; first < end; first += kThreads, turn ^= 1) {
    const int64_t i = first + threadIdx.x;
    const bool marked = i < end && is_marked(args.problem.mask, args.mask, i);
    const unsigned vote = __ballot_sync(kWholeWarp, marked);
    if (lane == 0) in_warps[turn][warp] = __popc(vote);
    __syncthreads();
    int lower = __popc(vote & ((1U << lane) - 1)), all = 0;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) lower += in_warps[turn][w];
      all += in_warps[turn][w];
    }
    if (i < end) write<Word>(args, i, marked, before + lower);
    before += all;
  }
  if (args.problem.function != Nonzero::Function::places) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *args.count = total;
  const int64_t rows_end = args.capacity * args.rank, step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = total * args.rank + blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x;
       i < rows_end; i += step)
    static_cast<int64_t*>(args.dst)[i] = -1;
}

size_t workspace(const Nonzero::Problem&, const Machine&, int) { return kNonzeroParts * sizeof(long long); }

void run(const Nonzero::Args& args, const Launch& launch) {
  const int64_t elements = mask_elements(args);
  auto* counts = reinterpret_cast<long long*>(launch.workspace);
  launch_kernel(launch, count_kernel, dim3(kNonzeroParts), dim3(kThreads), 0, args, elements, counts);
  const auto start = [&](auto kernel) {
    launch_kernel(launch, kernel, dim3(kNonzeroParts), dim3(kThreads), 0, args, elements, counts);
  };
  switch (dtype_info(args.problem.dtype).block_bytes) {
    case 1:
      return start(write_kernel<uint8_t>);
    case 2:
      return start(write_kernel<uint16_t>);
    case 4:
      return start(write_kernel<uint32_t>);
    default:
      return start(write_kernel<uint64_t>);
  }
}

}  // namespace

std::span<const Row<Nonzero>> nonzero_rows() {
  static const Row<Nonzero> rows[] = {
      {.name = "cuda.parts",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Nonzero, ref::legal>,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
