// Gradients of the spectra of real signals (irfft.h), as the sums of the formula: O(n^2) of a row, without a
// library.
//   cuda.sums  a first grid writes the n roots of unity to the workspace. Then a thread owns a bin. A block
//   of
//              256 neighbours brings elements of its row into shared memory, 256 at a time; each thread goes
//              through them with the root of k t mod n, which it finds by adding k. Sums are float32 in the
//              order of the elements: the same bits each time.
// Right for the lengths of audio frames, as the row of Irfft is.
// Preconditions: those of ref::legal. Workspace: n roots.
// Bytes moved: a row of grad_dst once per 256 bins, roots from L1 and L2, grad_src once.
#include <algorithm>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/roots_of_unity.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/irfft.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostRows = 65535;

__global__ void __launch_bounds__(kThreads)
    transposed_sums_kernel(const IrfftBackward::Args args, const float2* roots) {
  __shared__ float elements[kThreads];
  pdl_wait();
  const Irfft::Problem& p = args.problem;
  const int count = static_cast<int>(p.count);
  const int64_t read = bins_read(p), k = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const bool sums_up = k < read, single = is_single_bin(k, p.count);
  for (int64_t row = blockIdx.y; row < args.rows; row += gridDim.y) {
    float cosines = 0, sines = 0;
    int turned = 0;
    for (int first = 0; first < count; first += kThreads) {
      const int own = first + static_cast<int>(threadIdx.x), n = min(kThreads, count - first);
      if (own < count)
        elements[threadIdx.x] = load_element<float>(p.dtype, args.grad_dst, row * p.count + own);
      __syncthreads();
      for (int t = 0; sums_up && t < n; ++t) {
        const float2 root = roots[turned];
        cosines = fmaf(elements[t], root.x, cosines);
        sines = fmaf(elements[t], root.y, sines);
        turned += static_cast<int>(k);
        if (turned >= count) turned -= count;
      }
      __syncthreads();  // the next elements take the same memory
    }
    if (k >= p.bins) continue;
    const double weight = single ? args.scale : 2 * args.scale;
    const int64_t at = (row * p.bins + k) * 2;
    store_element(p.dtype, sums_up ? static_cast<float>(weight * cosines) : 0.0F, args.grad_src, at);
    store_element(p.dtype, sums_up && !single ? static_cast<float>(-weight * sines) : 0.0F, args.grad_src,
                  at + 1);
  }
}

void run(const IrfftBackward::Args& args, const Launch& launch) {
  if (args.rows <= 0) return;
  auto* roots = reinterpret_cast<float2*>(launch.workspace);
  fill_roots(launch, roots, args.problem.count);
  const auto blocks = static_cast<unsigned>((args.problem.bins + kThreads - 1) / kThreads);
  launch_kernel(launch, transposed_sums_kernel,
                dim3(blocks, static_cast<unsigned>(std::min(args.rows, kMostRows))), dim3(kThreads), 0, args,
                static_cast<const float2*>(roots));
}

size_t workspace(const Irfft::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(problem.count) * sizeof(float2);
}

}  // namespace

std::span<const Row<IrfftBackward>> irfft_backward_rows() {
  static const Row<IrfftBackward> rows[] = {
      {.name = "cuda.sums",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<IrfftBackward, ref::legal>,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
