#include "kernels/lab/matmul_ladder_case.h"

#include <algorithm>
#include <cmath>

#include "kernels/half.h"

namespace orrery::kernels::lab {
namespace {

// Of |a's row| |b's column|. Tensor cores cut sums off where others round, those of 8-bit floats to 14 bits.
constexpr double kSumTolerance = 1e-6, kTensorTolerance = 1e-5, kShortTolerance = 1e-3;

constexpr float kF8Scale = 0.375F;

/// To 11 bits, halves away from zero, as the cards' instruction does.
float rounded_to_tf32(float x) { return float_from_bits((bits_of_float(x) + 0x1000U) & ~0x1FFFU); }

std::vector<std::byte> all_rounded_to_tf32(std::vector<std::byte> floats) {
  for (size_t at = 0; at < floats.size(); at += sizeof(float)) {
    float x;
    std::memcpy(&x, &floats[at], sizeof x);
    x = rounded_to_tf32(x);
    std::memcpy(&floats[at], &x, sizeof x);
  }
  return floats;
}

/// The rows of `width` bytes.
std::vector<std::byte> chosen_rows(const std::vector<std::byte>& matrix, int64_t width,
                                   const std::vector<int64_t>& rows) {
  std::vector<std::byte> result;
  for (const int64_t row : rows)
    result.insert(result.end(), matrix.begin() + row * width, matrix.begin() + (row + 1) * width);
  return result;
}

/// |a's row| |b's column| for each element of c.
std::vector<float> norms_of(const MatmulLadder::Problem& problem, const std::vector<float>& a,
                            const std::vector<float>& b) {
  const auto m = static_cast<size_t>(problem.m), n = static_cast<size_t>(problem.n);
  std::vector<double> rows(m), cols(n);
  for (size_t i = 0; i < a.size(); ++i) rows[i * m / a.size()] += static_cast<double>(a[i]) * a[i];
  const bool along_k = problem.dtype == DType::f8_e4m3;
  for (size_t i = 0; i < b.size(); ++i)
    cols[along_k ? i * n / b.size() : i % n] += static_cast<double>(b[i]) * b[i];
  const double scale = along_k ? kF8Scale : 1.0;
  std::vector<float> scales;
  for (const double row : rows)
    for (const double col : cols) scales.push_back(1e-30F + static_cast<float>(scale * std::sqrt(row * col)));
  return scales;
}

}  // namespace

MatmulLadderCase::MatmulLadderCase(const MatmulLadder::Problem& problem, uint32_t seed,
                                   Distribution distribution)
    : problem(problem),
      a_(random_elements(problem.dtype, static_cast<size_t>(problem.m * problem.k), seed, distribution)),
      b_(random_elements(problem.dtype, static_cast<size_t>(problem.k * problem.n), seed + 1, distribution)) {
}

/// All rows of c, or some from the first to the last.
std::vector<int64_t> MatmulLadderCase::checked() const {
  const int64_t some = std::clamp<int64_t>(most_products / (problem.n * problem.k), 2, problem.m);
  std::vector<int64_t> rows;
  if (problem.m == 1) return {0};
  for (int64_t i = 0; i < some; ++i) rows.push_back(i * (problem.m - 1) / (some - 1));
  return rows;
}

Call<MatmulLadder> MatmulLadderCase::place(const Row<MatmulLadder>&, Place& place) const {
  const auto elements = static_cast<size_t>(problem.m * problem.n);
  float* c = place.put(std::vector<float>(elements, NAN));  // of which nothing may be left
  Call<MatmulLadder> call;
  call.args = {problem, place.put(a_, problem.dtype), place.put(b_, problem.dtype), c};
  if (problem.dtype == DType::f8_e4m3) call.args.scale = kF8Scale;
  call.read = [c, n = problem.n, rows = checked()](Place& from) {
    Output output{.name = "c", .cols = n, .rows = rows};
    for (const int64_t row : rows) {
      const std::vector<float> values = from.get(c + row * n, static_cast<size_t>(n));
      output.values.insert(output.values.end(), values.begin(), values.end());
    }
    return std::vector<Output>{std::move(output)};
  };
  return call;
}

std::vector<Expected> MatmulLadderCase::expected(const Roundings& roundings) const {
  const Rounded rounding = roundings[0].activations;
  MatmulLadderCase part = *this;
  const std::vector<int64_t> rows = checked();
  part.problem.m = static_cast<int64_t>(rows.size());
  part.a_ = chosen_rows(a_, problem.k * dtype_info(problem.dtype).block_bytes, rows);
  if (rounding == Rounded::tf32 && problem.dtype == DType::f32) {
    part.a_ = all_rounded_to_tf32(std::move(part.a_));
    part.b_ = all_rounded_to_tf32(std::move(part.b_));
  }
  Output output = run_reference<MatmulLadderCase>(part, matmul_ladder_rows())[0];
  output.rows = rows;
  return {{.output = std::move(output),
           .tolerance = rounding == Rounded::no   ? kSumTolerance
                        : rounding == Rounded::f8 ? kShortTolerance
                                                  : kTensorTolerance,
           .scales =
               norms_of(part.problem, as_floats(problem.dtype, part.a_), as_floats(problem.dtype, part.b_))}};
}

Work MatmulLadderCase::work() const {
  const auto written = static_cast<double>(problem.m * problem.n);
  return {.bytes = static_cast<double>(a_.size() + b_.size()) + written * sizeof(float),
          .flops = 2 * written * static_cast<double>(problem.k)};
}

}  // namespace orrery::kernels::lab
