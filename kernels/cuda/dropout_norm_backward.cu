// The gradients of dropout, residual add and norm: the row. dropout_norm_backward.cuh has its kernels.
#include "kernels/cuda/dropout_norm_backward.cuh"

namespace orrery::kernels::cuda {
namespace {

size_t workspace(const DropoutNormBackward::Problem& problem, const Machine&, int) {
  return sizeof(float) *
         static_cast<size_t>(sums_over_rows(problem.parallel) * RowParts::most(problem.cols) * problem.cols);
}

void run(const DropoutNormBackward::Args& args, const Launch& launch) {
  if (args.problem.parallel) return run_parallel(args, launch);
  run_backward<false>(args, launch);
}

}  // namespace

std::span<const Row<DropoutNormBackward>> dropout_norm_backward_rows() {
  static const Row<DropoutNormBackward> rows[] = {
      {.name = "cuda.parts",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<DropoutNormBackward, ref::legal>,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
