#include "engine/ops/activation_gradient_support.h"

#include <cmath>
#include <numbers>

namespace orrery::ops {
namespace {

/// x sigmoid(x): s + x s (1 - s).
Term silu_slope(const Term& x) {
  const Term s = apply("sigmoid", x);
  return s * (x * (1 - s) + 1);
}

/// x Phi(x): Phi(x) + x phi(x).
Term gelu_slope(const Term& x) {
  const Term share = (apply("erf", x * (1 / std::numbers::sqrt2)) + 1) * 0.5;
  const Term density = apply("exp", x * x * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return share + x * density;
}

/// x (1 + t) / 2, t = tanh(k (x + c x^3)): (1 + t) / 2 + x (1 - t^2) k (1 + 3 c x^2) / 2.
Term gelu_tanh_slope(const Term& x) {
  const double k = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, c = 0.044715;
  const Term squares = x * x;
  const Term t = apply("tanh", x * (squares * c + 1) * k);
  const Term inner = (squares * (3 * c) + 1) * (0.5 * k);
  return (t + 1) * 0.5 + x * (1 - t * t) * inner;
}

}  // namespace

Term activated(kernels::Activation activation, const Term& x) {
  if (!x) return {};
  switch (activation) {
    case kernels::Activation::none:
      return x;
    case kernels::Activation::gelu_erf:
      return apply("gelu", x);
    case kernels::Activation::gelu_tanh:
      return apply("gelu", x, {{"approximation", std::string("tanh")}});
    default:
      return x.rule().apply(std::string(kernels::kActivations[static_cast<size_t>(activation)].name), {x});
  }
}

Term activation_gradient(kernels::Activation activation, const Term& gradient, const Term& x) {
  if (!gradient || !x) return {};
  switch (activation) {
    case kernels::Activation::silu:
      return gradient * silu_slope(x);
    case kernels::Activation::gelu_erf:
      return gradient * gelu_slope(x);
    case kernels::Activation::gelu_tanh:
      return gradient * gelu_tanh_slope(x);
    case kernels::Activation::relu:
      return where(x > 0, gradient, x.rule().number(0, gradient.type().dtype));
    case kernels::Activation::tanh: {
      const Term y = apply("tanh", x);
      return gradient * (1 - y * y);
    }
    default:
      return gradient;
  }
}

}  // namespace orrery::ops
