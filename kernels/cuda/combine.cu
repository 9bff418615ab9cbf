// Elementwise functions of operands that are broadcast against each other (combine.h).
// A thread owns elements threadIdx.x + k gridDim.x blockDim.x of dst; the dims of the walk were joined as far
// as they can be. Operands are converted to float, or to 64-bit integers, as the function is computed.
// Bytes moved: an element of each operand (from cache where it is broadcast) and of dst each.
#include "kernels/combine.h"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// T: float or int64_t.
template <class T>
__global__ void __launch_bounds__(kThreads) combine_kernel(const Combine::Args args, int64_t count) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Combine::Problem& problem = args.problem;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < count; i += step) {
    int64_t a_at = 0, b_at = 0, condition_at = 0, rest = i;
    for (int d = args.walk.rank - 1; d >= 0; --d) {
      const int64_t at = d > 0 ? rest % args.walk.sizes[d] : rest;
      a_at += at * args.walk.strides[0][d];
      b_at += at * args.walk.strides[1][d];
      condition_at += at * args.walk.strides[2][d];
      if (d > 0) rest /= args.walk.sizes[d];
    }
    const T a = load_element<T>(problem.a, args.a, a_at);
    const T b = load_element<T>(problem.b, args.b, b_at);
    T result;
    if (problem.function == Combine::Function::where)
      result = args.condition[condition_at] != 0 ? a : b;
    else
      result = combined(problem.function, a, b);
    store_element(problem.dst, result, args.dst, i);
  }
}

void run(const Combine::Args& asked, const Launch& launch) {
  Combine::Args args = asked;
  args.walk = collapsed(asked.walk);
  const int64_t count = args.walk.elements();
  if (count == 0) return;
  const dim3 grid = pointwise_grid(count, kThreads);
  launch_kernel(launch, is_float(args.problem.common) ? combine_kernel<float> : combine_kernel<int64_t>, grid,
                dim3(kThreads), 0, args, count);
}

}  // namespace

std::span<const Row<Combine>> combine_rows() {
  static const Row<Combine> rows[] = {
      {.name = "cuda.combine",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Combine, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
