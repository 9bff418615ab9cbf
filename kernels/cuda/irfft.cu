// Real signals of their spectra (irfft.h), as the sums of the formula: O(n^2) of a row, without a library.
//   cuda.sums  a first grid writes the n roots of unity, worked out in float64, to the workspace. Then a
//   thread
//              owns an element of dst. A block of 256 neighbours brings bins of its row into shared memory,
//              256 at a time, scaled for the conjugates; each thread goes through them with the root of k t
//              mod n, which it finds by adding t. Sums are float32 in the order of the bins.
// Right for the lengths of audio frames (hundreds to a few thousand); an FFT in shared memory would be faster
// from there on.
// Preconditions: those of ref::legal. Workspace: n roots.
// Bytes moved: a spectrum once per 256 elements of its row, roots from L1 and L2, dst once.
#include <algorithm>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/roots_of_unity.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/irfft.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostRows = 65535;

__global__ void __launch_bounds__(kThreads) sums_kernel(const Irfft::Args args, const float2* roots) {
  __shared__ float2 bins[kThreads];
  pdl_wait();
  const Irfft::Problem& p = args.problem;
  const int count = static_cast<int>(p.count), all = static_cast<int>(bins_read(p));
  const int t = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  for (int64_t row = blockIdx.y; row < args.rows; row += gridDim.y) {
    float sum = 0;
    for (int first = 0; first < all; first += kThreads) {
      const int own = first + static_cast<int>(threadIdx.x);
      if (own < all) {
        const int64_t at = (row * p.bins + own) * 2;
        const bool single = is_single_bin(own, p.count);
        const float weight = single ? 1.0F : 2.0F;
        bins[threadIdx.x] = {weight * load_element<float>(p.dtype, args.src, at),
                             single ? 0.0F : weight * load_element<float>(p.dtype, args.src, at + 1)};
      }
      __syncthreads();
      if (t < count) {
        int turned = static_cast<int>(static_cast<int64_t>(first) * t % count);
        const int n = min(kThreads, all - first);
        for (int k = 0; k < n; ++k) {
          const float2 root = roots[turned], bin = bins[k];
          sum = fmaf(bin.x, root.x, sum);
          sum = fmaf(-bin.y, root.y, sum);
          turned += t;
          if (turned >= count) turned -= count;
        }
      }
      __syncthreads();  // the next bins take the same memory
    }
    if (t < count) store_element(p.dtype, static_cast<float>(args.scale * sum), args.dst, row * p.count + t);
  }
}

void run(const Irfft::Args& args, const Launch& launch) {
  if (args.rows <= 0) return;
  auto* roots = reinterpret_cast<float2*>(launch.workspace);
  const auto blocks = static_cast<unsigned>((args.problem.count + kThreads - 1) / kThreads);
  fill_roots(launch, roots, args.problem.count);
  launch_kernel(launch, sums_kernel, dim3(blocks, static_cast<unsigned>(std::min(args.rows, kMostRows))),
                dim3(kThreads), 0, args, static_cast<const float2*>(roots));
}

size_t workspace(const Irfft::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(problem.count) * sizeof(float2);
}

}  // namespace

std::span<const Row<Irfft>> irfft_rows() {
  static const Row<Irfft> rows[] = {
      {.name = "cuda.sums",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Irfft, ref::legal>,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
