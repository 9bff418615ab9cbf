// Dropout, residual add and norm in one: the row. dropout_norm_forward.cuh has its kernels.
#include "kernels/cuda/dropout_norm_forward.cuh"

namespace orrery::kernels::cuda {
namespace {

void run(const DropoutNorm::Args& args, const Launch& launch) {
  if (args.problem.parallel) return run_parallel(args, launch);
  run_forward<false>(args, launch);
}

}  // namespace

std::span<const Row<DropoutNorm>> dropout_norm_rows() {
  static const Row<DropoutNorm> rows[] = {
      {.name = "cuda.rows",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<DropoutNorm, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
