// The rows of cuda.flash_mma; mma_forward.cuh and mma_backward.cuh have the kernels.
#include "kernels/cuda/flash_attention/mma.h"

#include "kernels/cuda/flash_attention/mma_backward.cuh"
#include "kernels/cuda/flash_attention/mma_forward.cuh"
#include "kernels/cuda/flash_attention/rows.h"

namespace orrery::kernels::cuda::flash {
namespace {

/// Of whichever kernel the call takes: a factor that is not positive is known only there.
size_t forward_bytes(int64_t head_dim) {
  const auto bytes = [&]<int kDim, bool kInvolved>() { return ForwardShape<kDim, kInvolved>::shared_bytes; };
  return std::max(with_forward_shape(head_dim, false, bytes), with_forward_shape(head_dim, true, bytes));
}

std::string supports(const FlashAttention::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return without_mma(problem, forward_bytes(problem.head_dim), machine);
}

void run(const FlashAttention::Args& args, const Launch& launch) {
  if (args.batch <= 0 || args.queries <= 0) return;
  require_aligned(lies_in_chunks(args));
  args.problem.dtype == DType::f16 ? start_forward<DType::f16>(args, launch)
                                   : start_forward<DType::bf16>(args, launch);
}

std::string supports_backward(const FlashAttentionBackward::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  const size_t bytes = with_backward_dim(problem.forward.head_dim, [&]<int kDim>() {
    return std::max(BackwardShape<kDim, false>::shared_bytes, BackwardShape<kDim, true>::shared_bytes);
  });
  return without_mma(problem.forward, bytes, machine);
}

void run_backward(const FlashAttentionBackward::Args& args, const Launch& launch) {
  if (args.forward.batch <= 0) return;
  require_aligned(lies_in_chunks(args.forward) && lies_in_chunks(args.grad_out, args.grad_out_strides) &&
                  is_aligned(args.grad_query) && is_aligned(args.grad_key) && is_aligned(args.grad_value));
  begin_backward(args, launch);
  args.forward.problem.dtype == DType::f16 ? start_backward<DType::f16>(args, launch)
                                           : start_backward<DType::bf16>(args, launch);
}

Rounding rounding(const FlashAttention::Problem& problem, int) {
  return {.activations = rounded_to(problem)};
}
Rounding rounding_of_gradients(const FlashAttentionBackward::Problem& problem, int) {
  return rounding(problem.forward, 0);
}

}  // namespace

Row<FlashAttention> mma_row() {
  return {.name = "cuda.flash_mma",
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run,
          .arithmetic = Arithmetic::bf16,
          .rounding = rounding,
          .source = "cuda/flash_attention/mma.cu"};
}

Row<FlashAttentionBackward> mma_backward_row() {
  return {.name = "cuda.flash_mma",
          .device = DeviceKind::cuda,
          .supports = supports_backward,
          .run = run_backward,
          .workspace = grad_sums_bytes,
          .arithmetic = Arithmetic::bf16,
          .rounding = rounding_of_gradients,
          .source = "cuda/flash_attention/mma.cu"};
}

}  // namespace orrery::kernels::cuda::flash
