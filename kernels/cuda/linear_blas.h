// The matrix product of cuBLASLt, for rows cuda.dense, cuda.cublas and cuda.cublas_short: D = B A^T + bias in
// float32 sums.
#pragma once

#include <cublasLt.h>

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

constexpr size_t kBlasWorkspace = size_t{32} << 20;

/// d (tokens, rows) f32 = b (tokens, cols) * a (rows, cols)^T + bias, all row-major with strides in elements;
/// a and b of `type`: f16, bf16, f32 (no TF32) or e4m3, of which d is times `scale`, there is no bias, and
/// cols and rows are multiples of 16. `by_columns`: a lies as (cols, rows), but of e4m3. Addresses are
/// multiples of 16 bytes, and strides of a and b too.
struct Product {
  cudaDataType_t type = CUDA_R_16F;
  const void* a = nullptr;
  const void* b = nullptr;
  float* d = nullptr;
  const float* bias = nullptr;  // (rows); null: none
  bool by_columns = false;
  bool short_sums = false;  // of e4m3: all of them as the tensor cores have them
  float scale = 1.0F;
  int64_t rows = 0, cols = 0, tokens = 0;
  int64_t most_tokens = 0;  // of the plan: one algorithm serves all calls of a plan, so a token's bits do not
                            // depend on how many others there are
  int64_t a_stride = 0, b_stride = 0, d_stride = 0;
};

/// On launch's stream; `workspace` has kBlasWorkspace bytes. False where the library has no algorithm that
/// adds the bias: d lacks it then. Makes the device's handle and chooses an algorithm at the first call of a
/// kind (host work only), which later calls reuse. Throws DeviceError.
bool multiply(const Product& product, std::byte* workspace, const Launch& launch);

/// Forgets the handles: their contexts are gone.
void forget_blas() noexcept;

}  // namespace orrery::kernels::cuda
