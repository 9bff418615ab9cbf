// Gradients of a model in float64 by differences of its loss, and results beside them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace orrery::kernels::testing {

/// By each element of one of the model's operands; Model has a loss().
template <class Model>
std::vector<double> differences(Model model, std::vector<double> Model::*operand) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient;
  for (double& value : model.*operand) {
    const double before = value;
    value = before + kStep;
    const double above = model.loss();
    value = before - kStep;
    gradient.push_back((above - model.loss()) / (2 * kStep));
    value = before;
  }
  return gradient;
}

/// Off by at most `tolerance` of each, or of 1.
inline void expect_close_to(const std::vector<float>& actual, const std::vector<double>& expected,
                            double tolerance, std::string_view what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << what << " " << i;
}

}  // namespace orrery::kernels::testing
