#include "engine/weights/merge.h"

#include <fmt/format.h>

#include "kernels/linear.h"

namespace orrery::weights {
namespace {

Result<Buffer> dequantise(const io::Tensor& tensor) {
  const Matrix matrix = matrix_of(tensor);
  ORRERY_ASSIGN(Buffer buffer,
                Buffer::allocate(static_cast<size_t>(matrix.rows * matrix.cols) * sizeof(float)));
  const auto row = static_cast<size_t>(row_bytes(tensor.dtype, matrix.cols).value_or(0));
  auto* dst = reinterpret_cast<float*>(buffer.data());
  for (int64_t r = 0; r < matrix.rows; ++r)
    kernels::dequantise_row(tensor.dtype, tensor.data.data() + static_cast<size_t>(r) * row, matrix.cols,
                            dst + r * matrix.cols);
  return buffer;
}

}  // namespace

Matrix matrix_of(const io::Tensor& tensor) {
  Matrix matrix;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) matrix.rows *= tensor.shape[i];
  if (!tensor.shape.empty()) matrix.cols = tensor.shape.back();
  return matrix;
}

Result<Buffer> merge_low_rank(const io::Tensor& base, const io::Adapter::LowRank& adapter,
                              kernels::ThreadTeam& team) {
  const Matrix matrix = matrix_of(base);
  const int64_t rank = adapter.a.shape[0];
  if (base.shape.size() != 2 || adapter.b.shape[0] != matrix.rows || adapter.a.shape[1] != matrix.cols)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("The adapter changes [{}, {}], and the model's tensor is [{}]",
                             adapter.b.shape[0], adapter.a.shape[1], fmt::join(base.shape, ", ")),
                 base.name, "choose the adapter that was made for this model"};
  ORRERY_ASSIGN(const Buffer a_buffer, dequantise(adapter.a));
  ORRERY_ASSIGN(const Buffer b_buffer, dequantise(adapter.b));
  ORRERY_ASSIGN(Buffer merged,
                Buffer::allocate(static_cast<size_t>(matrix.rows * matrix.cols) * sizeof(float)));
  const auto* a = reinterpret_cast<const float*>(a_buffer.data());
  const auto* b = reinterpret_cast<const float*>(b_buffer.data());
  auto* dst = reinterpret_cast<float*>(merged.data());
  const size_t base_row = row_bytes(base.dtype, matrix.cols).value_or(0);
  const auto scale = static_cast<float>(adapter.scale);
  team.run(matrix.rows, 1, [&](kernels::ThreadTeam::Range chunk, int) {
    for (int64_t r = chunk.begin; r < chunk.end; ++r) {
      float* row = dst + r * matrix.cols;
      kernels::dequantise_row(base.dtype, base.data.data() + static_cast<size_t>(r) * base_row, matrix.cols,
                              row);
      for (int64_t k = 0; k < rank; ++k) {
        const float factor = scale * b[r * rank + k];
        const float* a_row = a + k * matrix.cols;
        for (int64_t c = 0; c < matrix.cols; ++c) row[c] += factor * a_row[c];
      }
    }
  });
  return merged;
}

}  // namespace orrery::weights
