#include "kernels/lab/dropout_norm_case.h"

#include <algorithm>
#include <cmath>

#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {
namespace {

std::vector<float> shifted(std::vector<float> values, float by) {
  for (float& value : values) value += by;
  return values;
}

std::vector<std::byte> random_rows(const DropoutNormShape& shape, int64_t rows, DType dtype, uint32_t number,
                                   float scale, float mean, Distribution distribution) {
  const auto count = static_cast<size_t>(rows * shape.cols);
  return stored(dtype, shifted(random_floats(count, shape.seed + number, scale, distribution), mean));
}

/// Results of f32 arithmetic are off by its own errors; those of 16 bits, which begin beside a border of
/// rounding, by a place of their type.
Expected within(Output output, DType dtype, double of_f32, double least) {
  const double ulp = dtype == DType::f16 ? 1e-3 : dtype == DType::bf16 ? 8e-3 : 0.0;
  return off_by(std::move(output), std::max(of_f32, ulp), least);
}

bool is_parallel(const DropoutNormShape& shape) { return shape.src2 || shape.norm2; }

}  // namespace

DropoutNormFactors::DropoutNormFactors(const DropoutNormShape& shape) {
  const auto rows = static_cast<size_t>(shape.rows), cols = static_cast<size_t>(shape.cols);
  weight = random_floats(cols, shape.seed + 10);
  if (shape.bias) bias = random_floats(cols, shape.seed + 11);
  if (shape.norm2) weight2 = random_floats(cols, shape.seed + 14);
  if (shape.norm2 && shape.bias) bias2 = random_floats(cols, shape.seed + 15);
  if (shape.rowscale) rowscale = shifted(random_floats(rows, shape.seed + 12, 0.2F), 1.0F);
  if (shape.rowscale && rows > 1) rowscale[1] = 0;  // a row that is dropped as a whole
  if (shape.colscale) colscale = shifted(random_floats(cols, shape.seed + 13, 0.2F), 1.0F);
}

DropoutNormSubset::DropoutNormSubset(const DropoutNormShape& shape) {
  src_count_ = out_count_ = static_cast<size_t>(shape.rows);
  if (!shape.subset) return;
  const auto number = [&](size_t every, size_t& count) {
    std::vector<int32_t> rows(static_cast<size_t>(shape.rows), -1);
    count = 0;
    for (size_t r = 0; r < rows.size(); ++r)
      if (r % every != every - 1) rows[r] = static_cast<int32_t>(count++);
    std::reverse(rows.begin(), rows.end());
    ++count;  // one that nobody names
    return rows;
  };
  src_rows = number(3, src_count_);
  out_rows = number(4, out_count_);
}

NormRows DropoutNormSubset::put(Place& place) const {
  if (src_rows.empty()) return {};
  return {place.put(src_rows), place.put(out_rows), src_count(), out_count(), 1.25F};
}

DropoutNormCase::DropoutNormCase(const DropoutNormShape& shape, Distribution distribution)
    : problem{shape.kind, shape.cols,        shape.src, shape.residual ? shape.residual_type : shape.src,
              shape.x,    is_parallel(shape)},
      shape_(shape),
      factors_(shape),
      subset_(shape),
      src_(random_rows(shape, subset_.src_count(), shape.src, 0, 3.0F, 5.0F, distribution)) {
  if (shape.residual)
    residual_ = random_rows(shape, shape.rows, shape.residual_type, 1, 1.0F, -1.0F, distribution);
  if (shape.src2) src2_ = random_rows(shape, shape.rows, shape.src, 6, 2.0F, 1.0F, distribution);
}

Call<DropoutNorm> DropoutNormCase::place(const Row<DropoutNorm>&, Place& place) const {
  const int64_t count = shape_.rows * shape_.cols;
  Call<DropoutNorm> call;
  call.args = {
      .problem = problem,
      .src = place.put(src_, problem.src),
      .src2 = put_or_null(src2_, problem.src, place),
      .residual = put_or_null(residual_, problem.residual, place),
      .weight = place.put(factors_.weight),
      .bias = put_or_null(factors_.bias, place),
      .weight2 = put_or_null(factors_.weight2, place),
      .bias2 = put_or_null(factors_.bias2, place),
      .rowscale = put_or_null(factors_.rowscale, place),
      .colscale = put_or_null(factors_.colscale, place),
      .out = put_result(problem.src, subset_.out_count() * shape_.cols, place),
      .out2 = shape_.norm2 ? put_result(problem.src, subset_.out_count() * shape_.cols, place) : nullptr,
      .rows = shape_.rows,
      .dropout = Dropout(shape_.p, shape_.seed),
      .subset = subset_.put(place)};
  if (shape_.quantised) {
    call.args.quantised =
        reinterpret_cast<int8_t*>(put_result(DType::i8, subset_.out_count() * shape_.cols, place));
    call.args.scales = place.put(std::vector<float>(static_cast<size_t>(subset_.out_count())));
  }
  call.args.residual_out = shape_.residual && shape_.in_place ? const_cast<void*>(call.args.residual)
                                                              : put_result(problem.x, count, place);
  call.read = [args = call.args, count, rows = subset_.out_count()](Place& from) {
    const DropoutNorm::Problem& asked = args.problem;
    const int64_t outs = rows * asked.cols;
    std::vector<Output> outputs{
        read_result("out", asked.src, args.out, outs, asked.cols, from),
        read_result("residual_out", asked.x, args.residual_out, count, asked.cols, from)};
    if (args.quantised != nullptr) {
      outputs.push_back(read_result("quantised", DType::i8, args.quantised, outs, asked.cols, from));
      outputs.push_back(read_result("scales", DType::f32, args.scales, rows, 1, from));
    }
    if (args.out2 != nullptr)
      outputs.push_back(read_result("out2", asked.src, args.out2, outs, asked.cols, from));
    return outputs;
  };
  return call;
}

/// An x beside a border of rounding moves its out by as much, which counts twice where x is far from zero.
std::vector<Expected> DropoutNormCase::expected(const Roundings&) const {
  std::vector<Output> outputs = run_reference<DropoutNormCase>(*this, dropout_norm_rows());
  const auto normed = [&](Output output) {
    Expected out = within(std::move(output), problem.src, 1e-5, 0.0);
    if (problem.src != DType::f32) out.tolerance *= 2;
    return out;
  };
  std::vector<Expected> expected{normed(std::move(outputs[0])),
                                 within(std::move(outputs[1]), problem.x, 1e-6, 0.0)};
  if (shape_.quantised) expect_quantised(outputs, expected);
  if (shape_.norm2) expected.push_back(normed(std::move(outputs.back())));
  return expected;
}

void DropoutNormCase::expect_quantised(std::vector<Output>& outputs, std::vector<Expected>& expected) const {
  // Numbers beside a border of rounding are off by one, and with an x that is, by more where x is far from 0.
  Expected quantised{.output = std::move(outputs[2]), .tolerance = problem.x == DType::f32 ? 1.01 : 3.01};
  quantised.scales.assign(quantised.output.values.size(), 1.0F);
  expected.push_back(std::move(quantised));
  Expected scales = within(std::move(outputs[3]), problem.x, 1e-5, 0.0);
  if (problem.x != DType::f32) scales.tolerance *= 2;
  expected.push_back(std::move(scales));
}

Work DropoutNormCase::work() const {
  const auto count = static_cast<double>(shape_.rows * shape_.cols);
  const double each = (2 + shape_.src2 + shape_.norm2) * bytes_of(problem.src) + bytes_of(problem.x) +
                      (shape_.quantised ? 1.0 : 0.0) + (shape_.residual ? bytes_of(problem.residual) : 0.0);
  return {.bytes = count * each + 4.0 * static_cast<double>(shape_.cols), .flops = 8 * count};
}

DropoutNormBackwardCase::DropoutNormBackwardCase(const DropoutNormShape& shape, Distribution distribution)
    : problem{shape.kind, shape.cols, shape.src, shape.x, is_parallel(shape)},
      shape_(shape),
      factors_(shape),
      subset_(shape),
      grad_out_(random_rows(shape, subset_.out_count(), shape.src, 2, 1.0F, 0.0F, distribution)),
      x_(random_rows(shape, shape.rows, shape.x, 3, 3.0F, 5.0F, distribution)) {
  if (shape.norm2)
    grad_out2_ = random_rows(shape, subset_.out_count(), shape.src, 7, 1.0F, 0.0F, distribution);
  if (shape.residual)
    grad_residual_out_ = random_rows(shape, shape.rows, shape.x, 4, 1.0F, 0.0F, distribution);
  if (shape.colscale) src_ = random_rows(shape, subset_.src_count(), shape.src, 5, 1.0F, 0.0F, distribution);
}

Call<DropoutNormBackward> DropoutNormBackwardCase::place(const Row<DropoutNormBackward>&,
                                                         Place& place) const {
  const int64_t cols = shape_.cols, count = shape_.rows * cols, sources = subset_.src_count() * cols;
  const std::vector<float> zeros(static_cast<size_t>(cols));
  Call<DropoutNormBackward> call;
  call.args = {.problem = problem,
               .grad_out = place.put(grad_out_, problem.src),
               .grad_out2 = put_or_null(grad_out2_, problem.src, place),
               .grad_residual_out = put_or_null(grad_residual_out_, problem.x, place),
               .x = place.put(x_, problem.x),
               .src = put_or_null(src_, problem.src, place),
               .weight = place.put(factors_.weight),
               .weight2 = put_or_null(factors_.weight2, place),
               .rowscale = put_or_null(factors_.rowscale, place),
               .colscale = put_or_null(factors_.colscale, place),
               .grad_src = put_result(problem.src, sources, place),
               .grad_src2 = shape_.src2 ? put_result(problem.src, count, place) : nullptr,
               .grad_residual = put_result(problem.x, count, place),
               .grad_weight = place.put(zeros),
               .grad_bias = place.put(zeros),
               .grad_weight2 = shape_.norm2 ? place.put(zeros) : nullptr,
               .grad_bias2 = shape_.norm2 ? place.put(zeros) : nullptr,
               .grad_colscale = shape_.colscale ? place.put(zeros) : nullptr,
               .rows = shape_.rows,
               .dropout = Dropout(shape_.p, shape_.seed),
               .subset = subset_.put(place)};
  call.read = [args = call.args, cols, count, sources](Place& from) {
    std::vector<Output> outputs{
        read_result("grad_src", args.problem.src, args.grad_src, sources, cols, from),
        read_result("grad_residual", args.problem.x, args.grad_residual, count, cols, from),
        read_result("grad_weight", DType::f32, args.grad_weight, cols, cols, from),
        read_result("grad_bias", DType::f32, args.grad_bias, cols, cols, from)};
    if (args.grad_colscale != nullptr)
      outputs.push_back(read_result("grad_colscale", DType::f32, args.grad_colscale, cols, cols, from));
    if (args.grad_src2 != nullptr)
      outputs.push_back(read_result("grad_src2", args.problem.src, args.grad_src2, count, cols, from));
    if (args.grad_weight2 != nullptr)
      outputs.push_back(read_result("grad_weight2", DType::f32, args.grad_weight2, cols, cols, from));
    if (args.grad_bias2 != nullptr)
      outputs.push_back(read_result("grad_bias2", DType::f32, args.grad_bias2, cols, cols, from));
    return outputs;
  };
  return call;
}

/// The largest 1 / sqrt(var + eps) of a row: what errors of g are multiplied by, where all of g cancels too.
double DropoutNormBackwardCase::steepest() const {
  const std::vector<float> x = as_floats(problem.x, x_);
  const auto cols = static_cast<size_t>(problem.cols);
  double steepest = 0;
  for (size_t first = 0; first < x.size(); first += cols) {
    double mean = 0, squares = 0;
    for (size_t i = first; i < first + cols; ++i) mean += x[i] / static_cast<double>(cols);
    if (problem.kind == Norm::Kind::rms) mean = 0;
    for (size_t i = first; i < first + cols; ++i)
      squares += (x[i] - mean) * (x[i] - mean) / static_cast<double>(cols);
    steepest = std::max(steepest, 1.0 / std::sqrt(squares + 1e-5));
  }
  return steepest;
}

std::vector<Expected> DropoutNormBackwardCase::expected(const Roundings&) const {
  std::vector<Output> outputs = run_reference<DropoutNormBackwardCase>(*this, dropout_norm_backward_rows());
  const auto type_of = [&](const Output& output) {
    if (output.name == "grad_src" || output.name == "grad_src2") return problem.src;
    return output.name == "grad_residual" ? problem.x : DType::f32;
  };
  const double least = 0.1 * std::max(1.0, steepest() / (1.0 - shape_.p));
  std::vector<Expected> expected;
  for (Output& output : outputs) {
    const DType dtype = type_of(output);
    expected.push_back(within(std::move(output), dtype, 2e-5, least));
  }
  return expected;
}

Work DropoutNormBackwardCase::work() const {
  const auto count = static_cast<double>(shape_.rows * shape_.cols);
  const double each = ((shape_.colscale ? 3 : 2) + shape_.src2 + shape_.norm2) * bytes_of(problem.src) +
                      (shape_.residual ? 3 : 2) * bytes_of(problem.x);
  return {.bytes = count * each + 16.0 * static_cast<double>(shape_.cols), .flops = 20 * count};
}

}  // namespace orrery::kernels::lab
