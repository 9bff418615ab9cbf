#include "kernels/lab/linear_case.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/linear_rows.h"
#include "kernels/half.h"

namespace orrery::kernels::lab {
namespace {

constexpr float kUntouched = -7776.0F;  // a bf16 too

// All of |x| |w|.
constexpr double kFloatTolerance = 2e-6;  // float32 sums in any order, up to 2,048 columns
constexpr double kF16Tolerance = 5e-4;    // quantised weights rounded to float16, 2^-11
constexpr double kBf16Tolerance = 2e-3;   // float16 or float32 weights rounded to bfloat16, 2^-9

/// Rows of `width` elements with `gap` NaNs between them, none after the last.
std::vector<float> spread(const std::vector<float>& rows, int64_t width, int64_t gap) {
  if (gap == 0) return rows;
  std::vector<float> result;
  for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(width)) {
    if (at > 0) result.insert(result.end(), static_cast<size_t>(gap), NAN);
    result.insert(result.end(), rows.begin() + static_cast<int64_t>(at),
                  rows.begin() + static_cast<int64_t>(at) + width);
  }
  return result;
}

float norm(const float* x, int64_t cols) {
  double sum = 0.0;
  for (int64_t k = 0; k < cols; ++k) sum += static_cast<double>(x[k]) * x[k];
  return static_cast<float>(std::sqrt(sum));
}

std::vector<float> rows_of(const std::vector<float>& matrix, int64_t cols, const std::vector<int64_t>& rows) {
  std::vector<float> result;
  for (const int64_t row : rows)
    result.insert(result.end(), matrix.begin() + row * cols, matrix.begin() + (row + 1) * cols);
  return result;
}

/// Each row of `unique` elements repeated to `cols`.
std::vector<float> repeated(const std::vector<float>& values, int64_t unique, int64_t cols) {
  if (unique == cols) return values;
  std::vector<float> result;
  for (size_t row = 0; row < values.size(); row += static_cast<size_t>(unique))
    for (int64_t c = 0; c < cols; ++c) result.push_back(values[row + static_cast<size_t>(c % unique)]);
  return result;
}

}  // namespace

LinearCase::LinearCase(int64_t tokens, int64_t cols, const std::vector<Segment>& segments, Epilogue epilogue,
                       Precision precision, const Inputs& inputs)
    : src(random_floats(static_cast<size_t>(tokens * cols), inputs.seed, 1.0F, inputs.distribution)) {
  problem.tokens = problem.min_tokens = tokens;
  problem.cols = cols;
  problem.segment_count = static_cast<int>(segments.size());
  problem.epilogue = epilogue;
  problem.precision = precision;
  auto weights = std::make_shared<Weights>();
  weights->number = matrix_number();
  weights->period = inputs.period;
  for (size_t s = 0; s < segments.size(); ++s) {
    const auto [rows, dtype, bias] = segments[s];
    const auto seed = static_cast<uint32_t>(inputs.seed + 89 + s);
    problem.segments[s] = {rows, dtype, bias};
    weights->stored.push_back(random_weights(dtype, rows, cols, seed, inputs.period));
    const int64_t unique = inputs.period > 0 ? std::min(rows, inputs.period) : rows;
    weights->biases.push_back(repeated(random_floats(static_cast<size_t>(unique), seed + 100), unique, rows));
  }
  weights_ = std::move(weights);
}

LinearCase LinearCase::with_tokens(int64_t tokens, int64_t least, int64_t most) const {
  LinearCase other = *this;
  other.problem.min_tokens = least;
  other.problem.tokens = most;
  other.src.resize(static_cast<size_t>(tokens * problem.cols));
  return other;
}

int LinearCase::outputs() const { return is_gated(problem.epilogue) ? 1 : problem.segment_count; }

std::vector<int64_t> LinearCase::checked() const {
  std::vector<int64_t> tokens;
  const auto all = static_cast<size_t>(this->tokens()), some = std::min(all, most_checked);
  for (size_t i = 0; i < some; ++i)  // the first, the last, and evenly between
    tokens.push_back(static_cast<int64_t>(some < 2 ? i : i * (all - 1) / (some - 1)));
  return tokens;
}

/// Exactly as many bytes as stored, or as the packing says.
const std::byte* LinearCase::put_weight(const Row<Linear>& row, size_t s, Place& place, size_t copy) const {
  const Linear::Segment& segment = problem.segments[s];
  const WeightPacking* packing = row.packing != nullptr ? row.packing(problem) : nullptr;
  const size_t stored_bytes =
      row_bytes(segment.weight, problem.cols).value_or(0) * static_cast<size_t>(segment.rows);
  const auto put_stored = [&](Place& to) { return to.put(weights_->stored[s].data(), stored_bytes, 1); };
  Place::Key key{weights_->number, s, copy, packing};
  if (packing == nullptr) return place.keep(key, [&] { return put_stored(place); });
  Place& host = place.host();
  key.copy = 0;
  const size_t bytes = packing->bytes(segment.weight, segment.rows, problem.cols);
  const std::byte* packed = host.keep(key, [&] {
    const std::byte* from = put_stored(host);
    std::byte* to = host.put(nullptr, bytes, 64);
    packing->pack(from, segment.weight, segment.rows, problem.cols, to, host.team());
    return to;
  });
  if (&host == &place && copy == 0) return packed;
  key.copy = copy;
  return place.keep(key, [&] { return place.put(packed, bytes, 64); });
}

Call<Linear> LinearCase::place(const Row<Linear>& row, Place& place) const {
  Call<Linear> call;
  Linear::Args& args = call.args;
  args.problem = problem;
  args.tokens = tokens();
  args.src_stride = problem.cols + src_gap;
  args.src = put_activations(problem.src, spread(src, problem.cols, src_gap), place);
  for (size_t s = 0; s < weights_->stored.size(); ++s) {
    const int64_t rows = problem.segments[s].rows;
    const bool output = static_cast<int>(s) < outputs();
    const auto elements = static_cast<size_t>(args.tokens * (rows + dst_gap) - dst_gap);
    args.operands[s] = {
        .weight = put_weight(row, s, place, 0),
        .bias = problem.segments[s].bias ? place.put(weights_->biases[s]) : nullptr,
        .dst =
            output ? put_activations(problem.dst, std::vector<float>(elements, kUntouched), place) : nullptr,
        .dst_stride = rows + dst_gap};
  }
  call.read = [this, args](Place& from) {
    std::vector<Output> outputs;
    Output gaps{.name = "between rows"};
    for (size_t s = 0; s < static_cast<size_t>(this->outputs()); ++s) {
      const Linear::Operand& operand = args.operands[s];
      Output dst{.name = "dst", .cols = problem.segments[s].rows, .rows = checked()};
      for (const int64_t t : dst.rows) {
        const int64_t gap = t + 1 < args.tokens ? dst_gap : 0;
        const std::vector<float> values =
            get_activations(problem.dst, operand.dst, t * operand.dst_stride, dst.cols + gap, from);
        dst.values.insert(dst.values.end(), values.begin(), values.begin() + dst.cols);
        gaps.values.insert(gaps.values.end(), values.begin() + dst.cols, values.end());
      }
      outputs.push_back(std::move(dst));
    }
    if (dst_gap > 0) outputs.push_back(std::move(gaps));
    return outputs;
  };
  return call;
}

void LinearCase::cool(Linear::Args& args, const Row<Linear>& row, Place& place, size_t copy) const {
  for (size_t s = 0; s < weights_->stored.size(); ++s)
    args.operands[s].weight = put_weight(row, s, place, copy);
}

/// The activations as the row sees them.
std::vector<float> LinearCase::seen(Rounding rounding, size_t segment) const {
  switch (rounding.activations) {
    case Rounded::int16:
    case Rounded::int8:
      return rounded_to_integers(src, dtype_info(problem.segments[segment].weight).block_elements,
                                 rounding.activations == Rounded::int8 ? 127 : 32639);
    case Rounded::f16:
    case Rounded::tf32:
      return rounded_to_f16(src, problem.cols);
    case Rounded::bf16:
      return rounded_to_bf16(src);
    case Rounded::f8:  // no row of Linear's
    case Rounded::no:
      break;
  }
  return src;
}

/// Of weights that are rounded to 16 bits, and were not of them.
double LinearCase::tolerance(Rounding rounding) const {
  double tolerance = kFloatTolerance;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (rounding.weights == Rounded::f16 && is_quantised(dtype))
      tolerance = std::max(tolerance, kF16Tolerance);
    if (rounding.weights == Rounded::bf16 && (dtype == DType::f16 || dtype == DType::f32))
      tolerance = std::max(tolerance, kBf16Tolerance);
  }
  return tolerance;
}

/// The tokens of another source; of rows that repeat one period.
LinearCase LinearCase::part(const std::vector<float>& source, const std::vector<int64_t>& tokens) const {
  LinearCase part = *this;
  part.src = rows_of(source, problem.cols, tokens);
  part.problem.tokens = part.problem.min_tokens = static_cast<int64_t>(tokens.size());
  part.problem.src = part.problem.dst = DType::f32;
  part.src_gap = part.dst_gap = 0;
  part.most_checked = SIZE_MAX;
  if (weights_->period > 0)
    for (Linear::Segment& segment : part.problem.segments)
      segment.rows = std::min(segment.rows, weights_->period);
  return part;
}

std::vector<Expected> LinearCase::expected(const Roundings& roundings) const {
  std::vector<Expected> all;
  const std::vector<int64_t> tokens = checked();
  int64_t between = 0;
  for (int s = 0; s < outputs(); ++s) {
    const auto i = static_cast<size_t>(s);
    const LinearCase part = this->part(seen(roundings[i], i), tokens);
    std::vector<Output> outputs = run_reference<LinearCase>(part, linear_rows());
    const int64_t unique = part.problem.segments[i].rows, rows = problem.segments[i].rows;
    Expected expected{.output = {.name = "dst",
                                 .values = repeated(outputs[i].values, unique, rows),
                                 .cols = rows,
                                 .rows = tokens},
                      .tolerance = tolerance(roundings[i]),
                      .scales = repeated(part.scales(s, part.src), unique, rows)};
    all.push_back(std::move(expected));
    for (const int64_t t : tokens) between += t + 1 < this->tokens() ? dst_gap : 0;
  }
  if (dst_gap > 0)
    all.push_back({.output = {.name = "between rows",
                              .values = std::vector<float>(static_cast<size_t>(between), kUntouched)}});
  return all;
}

std::vector<float> LinearCase::norms(size_t s) const {
  const size_t bytes = row_bytes(problem.segments[s].weight, problem.cols).value_or(0);
  std::vector<float> row(static_cast<size_t>(problem.cols));
  std::vector<float> result;
  for (int64_t r = 0; r < problem.segments[s].rows; ++r) {
    dequantise_row(problem.segments[s].weight, weights_->stored[s].data() + static_cast<size_t>(r) * bytes,
                   problem.cols, row.data());
    result.push_back(norm(row.data(), problem.cols));
  }
  return result;
}

std::vector<float> LinearCase::scales(int output, const std::vector<float>& source) const {
  const auto rows = static_cast<size_t>(problem.segments[static_cast<size_t>(output)].rows);
  const size_t tokens = source.size() / static_cast<size_t>(problem.cols);
  std::vector<float> result(tokens * rows);
  const std::vector<float> first = norms(static_cast<size_t>(output));
  const std::vector<float> second = is_gated(problem.epilogue) ? norms(1) : std::vector<float>{};
  for (size_t t = 0; t < tokens; ++t) {
    const float x = norm(source.data() + t * static_cast<size_t>(problem.cols), problem.cols);
    for (size_t r = 0; r < rows; ++r) {
      result[t * rows + r] = 1e-3F + x * first[r];
      if (!second.empty()) result[t * rows + r] *= 2.0F + 2.0F * x * second[r];
    }
  }
  return result;
}

Work LinearCase::work() const {
  double rows = 0, written = 0, weights = 0;
  for (int s = 0; s < problem.segment_count; ++s) {
    const auto i = static_cast<size_t>(s);
    rows += static_cast<double>(problem.segments[i].rows);
    if (s < outputs()) written += static_cast<double>(problem.segments[i].rows);
    weights += static_cast<double>(weights_->stored[i].size());
  }
  const auto tokens = static_cast<double>(this->tokens()), cols = static_cast<double>(problem.cols);
  const auto element = [](DType dtype) { return static_cast<double>(dtype_info(dtype).block_bytes); };
  return {.bytes = weights + tokens * (cols * element(problem.src) + written * element(problem.dst)),
          .flops = 2 * tokens * cols * rows};
}

}  // namespace orrery::kernels::lab
