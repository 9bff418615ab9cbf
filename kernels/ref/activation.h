// Activation functions in float64.
#pragma once

#include <cmath>
#include <numbers>

#include "kernels/activation.h"

namespace orrery::kernels::ref {

struct Math {
  using Number = double;
  static double number(double x) { return x; }
  static double exp(double x) { return std::exp(x); }
  static double tanh(double x) { return std::tanh(x); }
  static double abs(double x) { return std::abs(x); }
  static double fma(double a, double b, double c) { return a * b + c; }
  static double fnma(double a, double b, double c) { return c - a * b; }
  static double where_negative(double x, double a, double b) { return x < 0 ? a : b; }
  static double normal_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }
};

}  // namespace orrery::kernels::ref
