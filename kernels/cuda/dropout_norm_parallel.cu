// Dropout, residual add and norm, and its gradients, with a second source and a second norm (dropout_norm.h).
#include "kernels/cuda/dropout_norm_backward.cuh"
#include "kernels/cuda/dropout_norm_forward.cuh"

namespace orrery::kernels::cuda {

void run_parallel(const DropoutNorm::Args& args, const Launch& launch) { run_forward<true>(args, launch); }

void run_parallel(const DropoutNormBackward::Args& args, const Launch& launch) {
  run_backward<true>(args, launch);
}

}  // namespace orrery::kernels::cuda
