// Recurrences along one dim (recurrence.h) of (outer, count, inner): dst[j] = factor[j] dst[j - 1] + src[j].
//   cuda.columns  a thread owns one (outer, inner) pair and walks the axis; neighbouring threads read
//                 neighbouring elements where inner is not 1. The next kAhead elements are asked for before
//                 they are needed, so that an element costs a product and a sum, not a way to memory.
// Right where lines are many, as channels and states are; a few long ones leave a card idle.
// Preconditions: those of ref::legal. Bytes moved: an element of factor, src and dst each.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/recurrence.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kAhead = 8;

__global__ void __launch_bounds__(kThreads) columns_kernel(const Recurrence::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t line = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       line < args.outer * args.inner; line += apart) {
    const int64_t first = line / args.inner * args.count * args.inner + line % args.inner;
    const auto place = [&](int64_t step) {
      return first + (args.reverse ? args.count - 1 - step : step) * args.inner;
    };
    float held = 0;
    for (int64_t step = 0; step < args.count; step += kAhead) {
      float factors[kAhead], values[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const bool there = step + k < args.count;
        factors[k] = there ? load_element<float>(args.dtype, args.factor, place(step + k)) : 0.0F;
        values[k] = there ? load_element<float>(args.dtype, args.src, place(step + k)) : 0.0F;
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (step + k >= args.count) break;
        held = step + k == 0 ? values[k] : __fadd_rn(__fmul_rn(factors[k], held), values[k]);
        store_element(args.dtype, held, args.dst, place(step + k));
      }
    }
  }
}

void run(const Recurrence::Args& args, const Launch& launch) {
  const int64_t lines = args.outer * args.inner;
  if (lines <= 0 || args.count <= 0) return;
  launch_kernel(launch, columns_kernel, pointwise_grid(lines, kThreads), dim3(kThreads), 0, args);
}

}  // namespace

std::span<const Row<Recurrence>> recurrence_rows() {
  static const Row<Recurrence> rows[] = {
      {.name = "cuda.columns",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Recurrence, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
