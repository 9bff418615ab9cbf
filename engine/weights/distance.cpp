#include "engine/weights/distance.h"

#include <cmath>
#include <limits>

#include "engine/weights/merge.h"
#include "kernels/linear.h"

namespace orrery::weights {
namespace {

/// What rows add to the figures.
struct RowSums {
  double error = 0, square_a = 0, square_b = 0, product = 0, max_abs = 0;

  void add(std::span<const float> a, std::span<const float> b) {
    for (size_t i = 0; i < a.size(); ++i) {
      const double x = a[i], y = b[i], apart = std::abs(x - y);
      if (!(apart <= max_abs)) max_abs = apart;  // NaN stays
      error += apart * apart;
      square_a += x * x;
      square_b += y * y;
      product += x * y;
    }
  }
  void add(const RowSums& other) {
    error += other.error;
    square_a += other.square_a;
    square_b += other.square_b;
    product += other.product;
    if (!(other.max_abs <= max_abs)) max_abs = other.max_abs;
  }
  Distance distance() const {
    if (error == 0) return {0, 1, max_abs};
    const double relative =
        square_a > 0 ? std::sqrt(error / square_a) : std::numeric_limits<double>::infinity();
    const double cosine = square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
    return {relative, cosine, max_abs};
  }
};

bool is_one(const io::Tensor& a, const io::Tensor& b) {
  return a.dtype == b.dtype && a.data.data() == b.data.data() && a.data.size() == b.data.size();
}

}  // namespace

Distance distance_of(const io::Tensor& a, const io::Tensor& b, kernels::ThreadTeam& team,
                     const std::stop_token& stop) {
  if (is_one(a, b)) return {};
  const Matrix matrix = matrix_of(a);
  const auto rows = static_cast<size_t>(matrix.rows), cols = static_cast<size_t>(matrix.cols);
  const size_t bytes_a = row_bytes(a.dtype, matrix.cols).value_or(0),
               bytes_b = row_bytes(b.dtype, matrix.cols).value_or(0);
  std::vector<RowSums> sums(rows);
  std::vector<std::vector<float>> decoded(2 * static_cast<size_t>(team.size()), std::vector<float>(cols));
  team.run(matrix.rows, 1, [&](kernels::ThreadTeam::Range chunk, int thread) {
    std::vector<float>& row_a = decoded[2 * static_cast<size_t>(thread)];
    std::vector<float>& row_b = decoded[2 * static_cast<size_t>(thread) + 1];
    for (auto row = static_cast<size_t>(chunk.begin); row < static_cast<size_t>(chunk.end); ++row) {
      if (stop.stop_requested()) return;
      kernels::dequantise_row(a.dtype, a.data.data() + row * bytes_a, matrix.cols, row_a.data());
      kernels::dequantise_row(b.dtype, b.data.data() + row * bytes_b, matrix.cols, row_b.data());
      sums[row].add(row_a, row_b);
    }
  });
  RowSums sum;
  for (const RowSums& row : sums) sum.add(row);
  return sum.distance();
}

}  // namespace orrery::weights
