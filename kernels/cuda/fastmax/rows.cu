// The rows of Fastmax on a card, fastest first.
#include "kernels/cuda/fastmax/parts.h"

namespace orrery::kernels::cuda {

std::span<const Row<Fastmax>> fastmax_rows() {
  constexpr DeviceKind cuda = DeviceKind::cuda;
  static const Row<Fastmax> rows[] = {
      {.name = "cuda.factorised",
       .device = cuda,
       .supports = fastmax::supports_factorised,
       .run = fastmax::run_factorised,
       .workspace = fastmax::factorised_workspace,
       .source = "cuda/fastmax/tensor_state.cu"},
      {.name = "cuda.direct",
       .device = cuda,
       .supports = fastmax::supports_direct,
       .run = fastmax::run_direct,
       .workspace = fastmax::direct_workspace,
       .source = "cuda/fastmax/tensor.cu"},
      {.name = "cuda.general_factorised",
       .device = cuda,
       .supports = fastmax::supports_general_factorised,
       .run = fastmax::run_general_factorised,
       .workspace = fastmax::general_factorised_workspace,
       .source = "cuda/fastmax/general_factorised.cu"},
      {.name = "cuda.general",
       .device = cuda,
       .supports = fastmax::supports_general,
       .run = fastmax::run_general,
       .workspace = fastmax::general_workspace,
       .source = "cuda/fastmax/general.cu"},
  };
  return rows;
}

std::span<const Row<FastmaxBackward>> fastmax_backward_rows() {
  static const Row<FastmaxBackward> rows[] = {
      {.name = "cuda.factorised",
       .device = DeviceKind::cuda,
       .supports = fastmax::supports_factorised_backward,
       .run = fastmax::run_factorised_backward,
       .workspace = fastmax::factorised_backward_workspace,
       .source = "cuda/fastmax/gradients.cu"},
      {.name = "cuda.direct",
       .device = DeviceKind::cuda,
       .supports = fastmax::supports_direct_backward,
       .run = fastmax::run_direct_backward,
       .workspace = fastmax::direct_backward_workspace,
       .source = "cuda/fastmax/gradients.cu"},
      {.name = "cuda.general_factorised",
       .device = DeviceKind::cuda,
       .supports = fastmax::supports_general_factorised_backward,
       .run = fastmax::run_general_factorised_backward,
       .workspace = fastmax::general_factorised_backward_workspace,
       .source = "cuda/fastmax/general_factorised.cu"},
      {.name = "cuda.general",
       .device = DeviceKind::cuda,
       .supports = fastmax::supports_general_backward,
       .run = fastmax::run_general_backward,
       .workspace = fastmax::general_backward_workspace,
       .source = "cuda/fastmax/general.cu"},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
