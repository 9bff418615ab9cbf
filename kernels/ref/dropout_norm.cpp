// Dropout, residual add and norm, and its gradients, reference: the formulas of dropout_norm.h in float64.
// One thread.
#include "kernels/dropout_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

using Doubles = std::vector<double>;

std::string legal(int64_t cols, DType src, DType x) {
  if (cols <= 0) return "the rows have no columns";
  if (!is_float(src)) return "src is " + std::string(name_of(src)) + "; it must be f32, f16 or bf16";
  if (x != src && x != DType::f32)
    return "x is " + std::string(name_of(x)) + "; it must be f32 or as src, which is " +
           std::string(name_of(src));
  return {};
}

/// What an element that stays is multiplied by, but for colscale; 0 where it is dropped.
template <class Args>
double factor_of(const Args& args, int64_t row, int64_t col) {
  if (!args.dropout.keeps(row, col)) return 0;
  return (args.rowscale != nullptr ? args.rowscale[row] : 1.0) * args.subset.row_factor /
         (1.0 - args.dropout.p);
}

/// The same of src2, which nothing else scales.
template <class Args>
double second_factor_of(const Args& args, int64_t row, int64_t col) {
  return args.dropout.of(Dropout::kSecondNormStream).keeps(row, col) ? 1.0 / (1.0 - args.dropout.p) : 0.0;
}

void zero_rows(DType dtype, int64_t rows, int64_t cols, void* base) {
  for (int64_t i = 0; i < rows * cols; ++i) put_real(dtype, 0.0, base, i);
}

struct Moments {
  double mean, inverse;  // inverse: 1 / sqrt(var + eps); rms: the mean is 0
};
Moments moments_of(Norm::Kind kind, const Doubles& x, double eps) {
  const auto count = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const double value : x) sum += value;
  const double mean = kind == Norm::Kind::layer ? sum / count : 0.0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return {mean, 1.0 / std::sqrt(squares / count + eps)};
}

/// Returns the factor of the row.
float quantise(const Doubles& row, int8_t* quantised) {
  double largest = 0;
  for (const double value : row) {
    largest = std::max(largest, std::abs(value));
    if (!std::isfinite(value)) {
      std::fill_n(quantised, row.size(), int8_t{0});
      return std::numeric_limits<float>::quiet_NaN();
    }
  }
  const double factor = largest > 0 ? 127.0 / largest : 0.0;
  for (size_t c = 0; c < row.size(); ++c) quantised[c] = static_cast<int8_t>(std::nearbyint(row[c] * factor));
  return static_cast<float>(largest / 127.0);
}

void add_to(float* sums, int64_t col, Doubles& wide, double value) {
  if (sums != nullptr) wide[static_cast<size_t>(col)] += value;
}

void put_sums(const Doubles& wide, float* sums) {
  for (size_t c = 0; sums != nullptr && c < wide.size(); ++c) sums[c] = static_cast<float>(wide[c]);
}

}  // namespace

std::string legal(const DropoutNorm::Problem& problem) {
  std::string reason = legal(problem.cols, problem.src, problem.x);
  if (reason.empty() && problem.residual != problem.src && problem.residual != problem.x)
    reason = "residual is " + std::string(name_of(problem.residual)) + ", but x is " +
             std::string(name_of(problem.x));
  return reason;
}

std::string legal(const DropoutNormBackward::Problem& problem) {
  return legal(problem.cols, problem.src, problem.x);
}

void dropout_norm(const DropoutNorm::Args& args, const Launch&) {
  const DropoutNorm::Problem& problem = args.problem;
  const int64_t cols = problem.cols;
  Doubles x(static_cast<size_t>(cols)), normed(x);
  const NormRows& subset = args.subset;
  if (subset.out_rows != nullptr && args.out != nullptr)
    zero_rows(problem.src, subset.out_count, cols, args.out);
  if (subset.out_rows != nullptr && args.out2 != nullptr)
    zero_rows(problem.src, subset.out_count, cols, args.out2);
  if (subset.out_rows != nullptr && args.quantised != nullptr) {
    zero_rows(DType::i8, subset.out_count, cols, args.quantised);
    zero_rows(DType::f32, subset.out_count, 1, args.scales);
  }
  for (int64_t r = 0; r < args.rows; ++r) {
    const int64_t src_row = args.subset.src_of(r), out_row = args.subset.out_of(r);
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t at = r * cols + c;
      double value = src_row >= 0 && args.dropout.keeps(r, c)
                         ? real_at(problem.src, args.src, src_row * cols + c) * factor_of(args, r, c)
                         : 0.0;
      if (args.colscale != nullptr) value *= args.colscale[c];
      if (const double factor = args.src2 != nullptr ? second_factor_of(args, r, c) : 0.0; factor > 0)
        value += real_at(problem.src, args.src2, at) * factor;
      if (args.residual != nullptr) value += real_at(problem.residual, args.residual, at);
      int64_t rounded = 0;  // has room for any type
      put_real(problem.x, value, &rounded, 0);
      x[static_cast<size_t>(c)] = real_at(problem.x, &rounded, 0);
      if (args.residual_out != nullptr) put_real(problem.x, value, args.residual_out, at);
    }
    const Moments moments = moments_of(problem.kind, x, args.eps);
    for (int64_t c = 0; c < cols && out_row >= 0; ++c) {
      const double y = (x[static_cast<size_t>(c)] - moments.mean) * moments.inverse;
      const double bias = args.bias != nullptr ? args.bias[c] : 0.0;
      normed[static_cast<size_t>(c)] = args.weight[c] * y + bias;
      if (args.out != nullptr)
        put_real(problem.src, normed[static_cast<size_t>(c)], args.out, out_row * cols + c);
      if (args.out2 != nullptr)
        put_real(problem.src, args.weight2[c] * y + (args.bias2 != nullptr ? args.bias2[c] : 0.0), args.out2,
                 out_row * cols + c);
    }
    if (args.quantised != nullptr && out_row >= 0)
      args.scales[out_row] = quantise(normed, args.quantised + out_row * cols);
  }
}

void dropout_norm_backward(const DropoutNormBackward::Args& args, const Launch&) {
  const DropoutNormBackward::Problem& problem = args.problem;
  const int64_t cols = problem.cols;
  const auto size = static_cast<size_t>(cols);
  Doubles x(size), y(size), g(size), of_weight(size), of_bias(size), of_colscale(size), of_weight2(size),
      of_bias2(size);
  if (args.subset.src_rows != nullptr && args.grad_src != nullptr)
    zero_rows(problem.src, args.subset.src_count, cols, args.grad_src);
  for (int64_t r = 0; r < args.rows; ++r) {
    const int64_t src_row = args.subset.src_of(r), out_row = args.subset.out_of(r);
    for (int64_t c = 0; c < cols; ++c) x[static_cast<size_t>(c)] = real_at(problem.x, args.x, r * cols + c);
    const Moments moments = moments_of(problem.kind, x, args.eps);
    double m1 = 0, m2 = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const auto i = static_cast<size_t>(c);
      const double grad = out_row >= 0 ? real_at(problem.src, args.grad_out, out_row * cols + c) : 0.0;
      y[i] = (x[i] - moments.mean) * moments.inverse;
      const double grad2 = args.grad_out2 != nullptr && out_row >= 0
                               ? real_at(problem.src, args.grad_out2, out_row * cols + c)
                               : 0.0;
      g[i] = args.weight[c] * grad + (args.grad_out2 != nullptr ? args.weight2[c] * grad2 : 0.0);
      m1 += g[i] / static_cast<double>(cols);
      m2 += g[i] * y[i] / static_cast<double>(cols);
      add_to(args.grad_weight, c, of_weight, grad * y[i]);
      add_to(args.grad_bias, c, of_bias, grad);
      add_to(args.grad_weight2, c, of_weight2, grad2 * y[i]);
      add_to(args.grad_bias2, c, of_bias2, grad2);
    }
    if (problem.kind == Norm::Kind::rms) m1 = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const auto i = static_cast<size_t>(c);
      const int64_t at = r * cols + c;
      double d = moments.inverse * (g[i] - m1 - m2 * y[i]);
      if (args.grad_residual_out != nullptr) d += real_at(problem.x, args.grad_residual_out, at);
      if (args.grad_residual != nullptr) put_real(problem.x, d, args.grad_residual, at);
      if (args.grad_src2 != nullptr)
        put_real(problem.src, d * second_factor_of(args, r, c), args.grad_src2, at);
      if (src_row < 0) continue;
      const int64_t from = src_row * cols + c;
      const double of_t = d * factor_of(args, r, c);
      if (args.grad_src != nullptr)
        put_real(problem.src, of_t * (args.colscale != nullptr ? args.colscale[c] : 1.0), args.grad_src,
                 from);
      if (args.grad_colscale != nullptr && args.dropout.keeps(r, c))
        of_colscale[i] += of_t * real_at(problem.src, args.src, from);
    }
  }
  put_sums(of_weight, args.grad_weight);
  put_sums(of_bias, args.grad_bias);
  put_sums(of_colscale, args.grad_colscale);
  put_sums(of_weight2, args.grad_weight2);
  put_sums(of_bias2, args.grad_bias2);
}

}  // namespace orrery::kernels::ref
