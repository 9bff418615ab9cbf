#include "kernels/lab/agreement.h"

#include <algorithm>
#include <cmath>

namespace orrery::kernels::lab {
namespace {

std::string text_of(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", static_cast<double>(value));
  return text;
}

double largest_magnitude(const std::vector<float>& values) {
  double largest = 1e-30;
  for (const float value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

/// Infinite where one is a number and the other is not.
double difference(float actual, float expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0.0;
  const double off = std::abs(static_cast<double>(actual) - expected);
  return std::isnan(off) ? INFINITY : off;
}

std::string place_of(const Output& output, size_t i) {
  const auto cols = static_cast<size_t>(std::max<int64_t>(output.cols, 1));
  const size_t row = i / cols;
  const int64_t named = row < output.rows.size() ? output.rows[row] : static_cast<int64_t>(row);
  return std::string(output.name) + "[" + std::to_string(named) + ", " + std::to_string(i % cols) + "]";
}

bool worse(const Agreement& one, const Agreement& other) {
  if (one.ok != other.ok) return !one.ok;
  const auto used = [](const Agreement& a) {
    return a.max_error == 0 ? 0.0 : a.tolerance > 0 ? a.max_error / a.tolerance : INFINITY;
  };
  return used(one) > used(other);
}

}  // namespace

void allow_ulps(DType dtype, Expected& expected) {
  const bool half = dtype == DType::f16, wide = dtype == DType::f32;
  expected.tolerance = wide ? 1e-6 : half ? 1e-3 : 8e-3;
  const float least = half ? 6.2e-5F : 1.2e-38F;
  for (const float value : expected.output.values)
    expected.scales.push_back(std::isfinite(value) ? std::max(std::abs(value), least) : 1.0F);
}

Expected off_by(Output output, double tolerance, double least) {
  const double largest = std::max(least, largest_magnitude(output.values));
  Expected expected{.output = std::move(output), .tolerance = tolerance};
  expected.scales.assign(expected.output.values.size(), static_cast<float>(largest));
  return expected;
}

Agreement compare(const Output& actual, const Expected& expected) {
  const std::vector<float>& should = expected.output.values;
  Agreement result{.tolerance = expected.tolerance};
  if (actual.values.size() != should.size()) {
    result.max_error = INFINITY;
    result.where = std::string(expected.output.name) + " has " + std::to_string(actual.values.size()) +
                   " elements, expected " + std::to_string(should.size());
    return result;
  }
  const double scale = expected.scales.empty() ? largest_magnitude(should) : 1.0;
  double squares = 0, of_expected = 0;
  size_t worst = 0;
  for (size_t i = 0; i < should.size(); ++i) {
    const double off = difference(actual.values[i], should[i]);
    const double error = off == 0 ? 0.0 : off / (expected.scales.empty() ? scale : expected.scales[i]);
    if (error > result.max_error) {
      result.max_error = error;
      worst = i;
    }
    if (!std::isfinite(should[i])) continue;
    squares += off * off;
    of_expected += static_cast<double>(should[i]) * should[i];
  }
  result.nmse = squares == 0 ? 0.0 : squares / std::max(of_expected, 1e-300);
  result.ok = expected.tolerance > 0 ? result.max_error < expected.tolerance : result.max_error == 0;
  if (result.max_error > 0)
    result.where = place_of(expected.output, worst) + " is " + text_of(actual.values[worst]) + ", expected " +
                   text_of(should[worst]);
  return result;
}

Agreement compare(const std::vector<Output>& actual, const std::vector<Expected>& expected) {
  if (actual.size() != expected.size())
    return {.max_error = INFINITY, .where = "an output is missing or one too many"};
  Agreement worst{.ok = true};
  for (size_t i = 0; i < expected.size(); ++i) {
    Agreement one = compare(actual[i], expected[i]);
    if (i == 0 || worse(one, worst)) worst = std::move(one);
  }
  return worst;
}

}  // namespace orrery::kernels::lab
