// Boxes that do not overlap better ones (suppression.h).
//   cuda.passes  a block owns a class of an image. A pass over the boxes leaves out those that overlap the
//   one
//                taken last, and finds the best of the others: its threads' best by a reduction of (score,
//                index) as one whole number. As many passes as boxes are taken.
// Preconditions: those of ref::legal.
// Workspace: a byte a box of each class, whether it was left out; cleared by the first pass.
// Bytes moved: scores and boxes once a pass, from L1 and L2.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/suppression.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65535;

struct LargerKey {
  __device__ unsigned long long operator()(unsigned long long a, unsigned long long b) const {
    return a > b ? a : b;
  }
};

/// Larger for a higher score, then for a lower index; never 0. -0 counts as 0.
__device__ inline unsigned long long key_of(float score, int64_t box) {
  const auto bits = static_cast<unsigned>(__float_as_int(score + 0.0F));
  const unsigned ordered = bits & 0x80000000U ? ~bits : bits | 0x80000000U;
  return static_cast<unsigned long long>(ordered) << 32 | (0xFFFFFFFFU - static_cast<unsigned>(box));
}

__global__ void __launch_bounds__(kThreads) passes_kernel(const Suppression::Args args, uint8_t* left_out) {
  __shared__ unsigned long long shared[kWarp];
  pdl_wait();
  const Suppression::Problem& p = args.problem;
  for (int64_t item = blockIdx.x; item < p.images * p.classes; item += gridDim.x) {
    const float* scores = args.scores + item * p.boxes;
    const float* boxes = args.boxes + item / p.classes * p.boxes * 4;
    uint8_t* out = left_out + item * p.boxes;  // each box is looked at by the same thread in every pass
    int64_t* selected = args.selected + item * p.most;
    int64_t taken = 0, last = -1;
    for (; taken < p.most; ++taken) {
      unsigned long long best = 0;
      for (int64_t b = threadIdx.x; b < p.boxes; b += kThreads) {
        bool gone = last < 0 ? !(scores[b] > p.least_score) : out[b] != 0;
        if (!gone && last >= 0) gone = b == last || overlap_more(boxes + last * 4, boxes + b * 4, p.overlap);
        out[b] = gone;
        if (!gone) best = LargerKey()(best, key_of(scores[b], b));
      }
      best = block_reduce(best, 0ULL, LargerKey(), shared);
      if (best == 0) break;  // of all threads
      last = 0xFFFFFFFFU - static_cast<unsigned>(best);
      if (threadIdx.x == 0) selected[taken] = last;
    }
    for (int64_t i = taken + threadIdx.x; i < p.most; i += kThreads) selected[i] = -1;
    if (threadIdx.x == 0) args.counts[item] = taken;
  }
}

void run(const Suppression::Args& args, const Launch& launch) {
  const int64_t items = args.problem.images * args.problem.classes;
  if (items <= 0) return;
  launch_kernel(launch, passes_kernel, dim3(static_cast<unsigned>(std::min(items, kMostBlocks))),
                dim3(kThreads), 0, args, reinterpret_cast<uint8_t*>(launch.workspace));
}

size_t workspace(const Suppression::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(problem.images * problem.classes * problem.boxes);
}

}  // namespace

std::span<const Row<Suppression>> suppression_rows() {
  static const Row<Suppression> rows[] = {
      {.name = "cuda.passes",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Suppression, ref::legal>,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
