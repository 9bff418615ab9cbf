// The ladder on a card, step by step, then cuBLAS as the rival. cuda/ladder has a file for each step.
#include "kernels/cuda/ladder/steps.cuh"

namespace orrery::kernels::cuda {

std::span<const Row<MatmulLadder>> matmul_ladder_rows() {
  static const Row<MatmulLadder> rows[] = {
      ladder::naive_row(),      ladder::coalesced_row(),  ladder::shared_row(),   ladder::column_row(),
      ladder::square_row(),     ladder::vectorised_row(), ladder::buffered_row(), ladder::tensor_row(),
      ladder::pipelined_row(),  ladder::warpgroup_row(),  ladder::tma_row(),      ladder::specialised_row(),
      ladder::persistent_row(), ladder::cluster_row(),    ladder::stream_k_row(), ladder::tf32_row(),
      ladder::fp8_row(),        ladder::fp8_short_row(),  ladder::cublas_row(),   ladder::cublas_short_row(),
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
