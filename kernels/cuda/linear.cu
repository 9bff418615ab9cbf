// The CUDA rows of Linear in order of preference.
#include "kernels/cuda/linear_rows.h"
#include "kernels/cuda/rows.h"

namespace orrery::kernels::cuda {

std::span<const Row<Linear>> linear_rows() {
  constexpr DeviceKind cuda = DeviceKind::cuda;
  static constexpr Row<Linear> rows[] = {
      {"cuda.matvec", cuda, supports_matvec, run_matvec, nullptr, linear_packing},
      {"cuda.dense", cuda, supports_dense, run_dense, dense_workspace, linear_packing, dense_reads,
       dense_writes},
      {"cuda.general", cuda, linear_refusal, run_general, nullptr, linear_packing},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
