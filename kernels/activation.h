// The activation functions, each defined once: for the reference (float64), the CPU's vectors and the card.
//   silu(x) = x / (1 + e^-x)
//   gelu_tanh(x) = x / 2 (1 + tanh(u)) = x / (1 + e^(-2u)),  u = sqrt(2 / pi) (x + 0.044715 x^3)
//   gelu_erf(x) = x times the normal distribution's share below x, without cancellation on either side
//   relu(x) = 0 below 0, else x (NaN stays)
// The arithmetic is a Math: its Number (with + - * /), and static functions
//   number(double), exp, tanh, abs, fma(a, b, c) = a b + c, fnma(a, b, c) = c - a b,
//   where_negative(x, a, b): a where x < 0, else b
//   normal_tail(x), x >= 0: the normal distribution's share above x
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/host_device.h"

namespace orrery::kernels {

enum class Activation : uint8_t {
  none,
#define ORRERY_ACTIVATION(name, flops) name,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
};

/// What is done to a sum before it is stored: nothing, an activation, or that of one sum times another.
enum class Epilogue : uint8_t {
  none,
#define ORRERY_ACTIVATION(name, flops) name,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
#define ORRERY_ACTIVATION(name, flops) name##_mul,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
};

struct ActivationInfo {
  std::string_view name;
  Activation activation;
  int flops;  // of an element
};
inline constexpr ActivationInfo kActivations[] = {
    {"none", Activation::none, 0},
#define ORRERY_ACTIVATION(name, flops) {#name, Activation::name, flops},
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
};
inline constexpr int kActivationCount = static_cast<int>(sizeof(kActivations) / sizeof(ActivationInfo)) - 1;

ORRERY_HOST_DEVICE constexpr bool is_gated(Epilogue epilogue) {
  return static_cast<int>(epilogue) > kActivationCount;
}
ORRERY_HOST_DEVICE constexpr Activation activation_of(Epilogue epilogue) {
  const int place = static_cast<int>(epilogue);
  return static_cast<Activation>(is_gated(epilogue) ? place - kActivationCount : place);
}
constexpr Epilogue epilogue_of(Activation activation, bool gated = false) {
  const int place = static_cast<int>(activation);
  return static_cast<Epilogue>(gated && place > 0 ? place + kActivationCount : place);
}

/// One activation, known when compiled.
template <Activation kActivation, class Math>
ORRERY_HOST_DEVICE_INLINE typename Math::Number activated(typename Math::Number x) {
  [[maybe_unused]] const auto zero = Math::number(0.0), one = Math::number(1.0);
  if constexpr (kActivation == Activation::silu) {
    return x / (one + Math::exp(zero - x));
  } else if constexpr (kActivation == Activation::gelu_tanh) {
    constexpr double kLinear = -2 * 0.7978845608028654;  // -2 sqrt(2 / pi)
    const auto slope = Math::fma(x * x, Math::number(kLinear * 0.044715), Math::number(kLinear));
    return x / (one + Math::exp(x * slope));
  } else if constexpr (kActivation == Activation::gelu_erf) {
    const auto tail = Math::normal_tail(Math::abs(x));
    return Math::where_negative(x, x * tail, Math::fnma(x, tail, x));
  } else if constexpr (kActivation == Activation::relu) {
    return Math::where_negative(x, zero, x);
  } else if constexpr (kActivation == Activation::tanh) {
    return Math::tanh(x);
  } else {
    static_assert(kActivation == Activation::none);
    return x;
  }
}

template <Activation kActivation>
struct ActivationConstant {
  static constexpr Activation value = kActivation;
};

/// function(ActivationConstant): the activation known when compiled.
ORRERY_NO_EXEC_CHECK
template <class Function>
ORRERY_HOST_DEVICE_INLINE auto with_activation(Activation activation, Function&& function) {
  switch (activation) {
#define ORRERY_ACTIVATION(name, flops) \
  case Activation::name:               \
    return function(ActivationConstant<Activation::name>{});
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
    case Activation::none:
      break;
  }
  return function(ActivationConstant<Activation::none>{});
}

/// Any activation, in this arithmetic.
template <class Math>
ORRERY_HOST_DEVICE_INLINE typename Math::Number activate(Activation activation, typename Math::Number x) {
  return with_activation(activation, [x](auto constant) -> typename Math::Number {
    return activated<decltype(constant)::value, Math>(x);
  });
}

}  // namespace orrery::kernels
