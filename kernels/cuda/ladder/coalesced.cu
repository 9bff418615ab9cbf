// Step 2, cuda.coalesced: the same threads, numbered along the rows of c.
//   Changed  threadIdx.x counts columns, not rows. Nothing else.
//   Faster   the 32 threads of a warp ask for 32 neighbours of b, which are one access of 128 bytes, and for
//            one number of a, which is brought once for all of them; c is written likewise.
//   Limit    each product still asks for two numbers from the caches: far more requests than products can be
//            fed by, though most of them ask for what another thread has just had.
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kRows = 8, kCols = 32;  // of a block, a thread each

template <class T>
__global__ void __launch_bounds__(kRows* kCols) coalesced_kernel(const Operands<T> o) {
  pdl_wait();
  const int col = static_cast<int>(blockIdx.x * kCols + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * kRows + threadIdx.y);
  if (row >= o.m || col >= o.n) return;
  float sum = 0;
  for (int p = 0; p < o.k; ++p)
    sum = fmaf(number(o.a[static_cast<int64_t>(row) * o.k + p]),
               number(o.b[static_cast<int64_t>(p) * o.n + col]), sum);
  o.c[static_cast<int64_t>(row) * o.n + col] = sum;
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  with_operands(args, [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, coalesced_kernel<T>, dim3(blocks_of(o.n, kCols), blocks_of(o.m, kRows)),
                  dim3(kCols, kRows), 0, o);
  });
}

}  // namespace

Row<MatmulLadder> coalesced_row() {
  return {.name = "cuda.coalesced",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal_along_n>,
          .run = run,
          .source = "cuda/ladder/coalesced.cu",
          .block = {kRows, kCols}};
}

}  // namespace orrery::kernels::cuda::ladder
