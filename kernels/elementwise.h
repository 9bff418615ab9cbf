// Pointwise ops on (tokens, cols) f32, contiguous; dst may be a source.
//   unary:  dst = f(a)            binary: dst = a + b, a * b
//   gated:  dst = act(a) * b      broadcast: b is one row (cols) added or multiplied to every row of a
#pragma once

#include "kernels/activation.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Elementwise {
  static constexpr std::string_view kName = "elementwise";
  enum class Function : uint8_t {
#define ORRERY_ACTIVATION(name, flops) name,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
#define ORRERY_ACTIVATION(name, flops) name##_mul,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
    add,
    mul,
    scale,
    l2_normalise
  };
  struct Problem {
    Function function = Function::add;
    int64_t cols = 0;
    bool broadcast = false;
  };
  struct Args {
    Function function = Function::add;
    const float* a = nullptr;
    const float* b = nullptr;
    float* dst = nullptr;
    int64_t tokens = 0, cols = 0;
    bool broadcast = false;
    float factor = 1.0F;  // of scale
  };
};
/// The activation that the function is, gated or not; none for the others.
ORRERY_HOST_DEVICE constexpr Epilogue epilogue_of(Elementwise::Function function) {
  return function < Elementwise::Function::add ? static_cast<Epilogue>(static_cast<int>(function) + 1)
                                               : Epilogue::none;
}
constexpr Elementwise::Function function_of(Activation activation) {
  return static_cast<Elementwise::Function>(static_cast<int>(activation) - 1);
}
constexpr bool takes_two(Elementwise::Function function) {
  return function == Elementwise::Function::add || function == Elementwise::Function::mul ||
         is_gated(epilogue_of(function));
}

std::span<const Row<Elementwise>> elementwise_rows();
namespace cuda {
std::span<const Row<Elementwise>> elementwise_rows();
}
namespace ref {
void elementwise(const Elementwise::Args& args, const Launch& launch);
std::string legal(const Elementwise::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
