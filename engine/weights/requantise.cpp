#include "engine/weights/requantise.h"

#include <fmt/format.h>

#include "engine/weights/merge.h"
#include "kernels/linear.h"
#include "kernels/quantise.h"

namespace orrery::weights {

Result<void> check_requantise(const io::Tensor& tensor, DType dtype) {
  if (!kernels::can_quantise(dtype))
    return Error{ErrorCode::unsupported, fmt::format("Nothing is stored as {} here", name_of(dtype)),
                 tensor.name, "choose another type"};
  const int64_t cols = matrix_of(tensor).cols;
  if (!row_bytes(dtype, cols))
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("Its rows have {} elements, which do not divide into the blocks of {} of {}",
                             cols, dtype_info(dtype).block_elements, name_of(dtype)),
                 tensor.name, "choose a type with smaller blocks, or f16"};
  return {};
}

Result<Buffer> requantise(const io::Tensor& tensor, DType dtype, kernels::ThreadTeam& team) {
  const Matrix matrix = matrix_of(tensor);
  const size_t from = row_bytes(tensor.dtype, matrix.cols).value_or(0),
               to = row_bytes(dtype, matrix.cols).value_or(0);
  ORRERY_ASSIGN(Buffer stored, Buffer::allocate(to * static_cast<size_t>(matrix.rows)));
  const auto threads = static_cast<size_t>(team.size());
  std::vector<std::vector<float>> rows(threads, std::vector<float>(static_cast<size_t>(matrix.cols)));
  team.run(matrix.rows, 1, [&](kernels::ThreadTeam::Range chunk, int thread) {
    float* row = rows[static_cast<size_t>(thread)].data();
    for (int64_t r = chunk.begin; r < chunk.end; ++r) {
      kernels::dequantise_row(tensor.dtype, tensor.data.data() + static_cast<size_t>(r) * from, matrix.cols,
                              row);
      kernels::quantise_row(dtype, row, matrix.cols, stored.data() + static_cast<size_t>(r) * to);
    }
  });
  return stored;
}

std::vector<float> decoded(const io::Tensor& tensor) {
  const Matrix matrix = matrix_of(tensor);
  const size_t row = row_bytes(tensor.dtype, matrix.cols).value_or(0);
  std::vector<float> elements(static_cast<size_t>(matrix.rows * matrix.cols));
  for (int64_t r = 0; r < matrix.rows; ++r)
    kernels::dequantise_row(tensor.dtype, tensor.data.data() + static_cast<size_t>(r) * row, matrix.cols,
                            elements.data() + r * matrix.cols);
  return elements;
}

void encode(DType dtype, std::span<const float> elements, std::byte* dst) {
  kernels::quantise_row(dtype, elements.data(), static_cast<int64_t>(elements.size()), dst);
}

}  // namespace orrery::weights
