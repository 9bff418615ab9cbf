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

namespace {

/// A term's matrices as float32.
struct Decoded {
  Buffer a, b;
  int64_t rank = 0;
  float factor = 1.0F;
};

Result<Decoded> decoded(const LowRankTerm& term, const io::Tensor& base, const Matrix& matrix) {
  if (base.shape.size() != 2 || term.b.shape[0] != matrix.rows || term.a.shape[1] != matrix.cols)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("The adapter changes [{}, {}], and the model's tensor is [{}]", term.b.shape[0],
                             term.a.shape[1], fmt::join(base.shape, ", ")),
                 base.name, "choose the adapter that was made for this model"};
  Decoded made{{}, {}, term.a.shape[0], static_cast<float>(term.factor)};
  ORRERY_ASSIGN(made.a, dequantise(term.a));
  ORRERY_ASSIGN(made.b, dequantise(term.b));
  return made;
}

void add_row(const Decoded& term, int64_t r, int64_t cols, float* row) {
  const auto* a = reinterpret_cast<const float*>(term.a.data());
  const auto* b = reinterpret_cast<const float*>(term.b.data());
  for (int64_t k = 0; k < term.rank; ++k) {
    const float factor = term.factor * b[r * term.rank + k];
    const float* a_row = a + k * cols;
    for (int64_t c = 0; c < cols; ++c) row[c] += factor * a_row[c];
  }
}

}  // namespace

Result<Buffer> merge_low_rank(const io::Tensor& base, std::span<const LowRankTerm> terms,
                              kernels::ThreadTeam& team) {
  const Matrix matrix = matrix_of(base);
  std::vector<Decoded> added;
  for (const LowRankTerm& term : terms) {
    ORRERY_ASSIGN(Decoded made, decoded(term, base, matrix));
    added.push_back(std::move(made));
  }
  ORRERY_ASSIGN(Buffer merged,
                Buffer::allocate(static_cast<size_t>(matrix.rows * matrix.cols) * sizeof(float)));
  auto* dst = reinterpret_cast<float*>(merged.data());
  const size_t base_row = row_bytes(base.dtype, matrix.cols).value_or(0);
  team.run(matrix.rows, 1, [&](kernels::ThreadTeam::Range chunk, int) {
    for (int64_t r = chunk.begin; r < chunk.end; ++r) {
      float* row = dst + r * matrix.cols;
      kernels::dequantise_row(base.dtype, base.data.data() + static_cast<size_t>(r) * base_row, matrix.cols,
                              row);
      for (const Decoded& term : added) add_row(term, r, matrix.cols, row);
    }
  });
  return merged;
}

}  // namespace orrery::weights
