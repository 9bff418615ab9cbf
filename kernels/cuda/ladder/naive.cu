// Step 1, cuda.naive: a thread for each element of c, numbered as one would on a CPU, row after row.
//   Changed  nothing yet: the loop over k is a thread's, and the other two are the grid.
//   Faster   than a CPU's loops by the number of threads alone.
//   Limit    the 32 threads of a warp work on 32 rows. For each product they ask for 32 numbers of a that lie
//            a whole row apart, so that 32 sectors of 32 bytes are brought for 4 bytes of each.
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kRows = 32, kCols = 8;  // of a block, a thread each

template <class T>
__global__ void __launch_bounds__(kRows* kCols) naive_kernel(const Operands<T> o, float scale) {
  pdl_wait();
  const int row = static_cast<int>(blockIdx.x * kRows + threadIdx.x);
  const int col = static_cast<int>(blockIdx.y * kCols + threadIdx.y);
  if (row >= o.m || col >= o.n) return;
  float sum = 0;
  for (int p = 0; p < o.k; ++p)
    sum = fmaf(
        number(o.a[static_cast<int64_t>(row) * o.k + p]),
        number(
            o.b[sizeof(T) == 1 ? static_cast<int64_t>(col) * o.k + p : static_cast<int64_t>(p) * o.n + col]),
        sum);
  o.c[static_cast<int64_t>(row) * o.n + col] = sum * scale;
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto start = [&]<class T>(const Operands<T>& o) {
    launch_kernel(launch, naive_kernel<T>, dim3(blocks_of(o.m, kRows), blocks_of(o.n, kCols)),
                  dim3(kRows, kCols), 0, o, args.scale);
  };
  if (args.problem.dtype == DType::f8_e4m3) return start(operands_of<__nv_fp8_e4m3>(args));
  with_operands(args, start);
}

}  // namespace

Row<MatmulLadder> naive_row() {
  return {.name = "cuda.naive",
          .device = DeviceKind::cuda,
          .supports = on_any_machine<MatmulLadder, ref::legal>,
          .run = run,
          .source = "cuda/ladder/naive.cu",
          .block = {kRows, kCols}};
}

}  // namespace orrery::kernels::cuda::ladder
