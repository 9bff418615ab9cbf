// Pointwise ops on (tokens, cols) f32, contiguous; dst may be a source.
//   unary:  dst = f(a)            binary: dst = a + b, a * b
//   gated:  dst = act(a) * b      broadcast: b is one row (cols) added or multiplied to every row of a
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Elementwise {
  static constexpr std::string_view kName = "elementwise";
  enum class Function : uint8_t {
    silu,
    gelu_erf,
    gelu_tanh,
    relu,
    tanh,
    add,
    mul,
    silu_mul,
    gelu_tanh_mul,
    scale,
    softmax,
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
std::span<const Row<Elementwise>> elementwise_rows();
namespace cuda {
std::span<const Row<Elementwise>> elementwise_rows();
}
namespace ref {
void elementwise(const Elementwise::Args& args, const Launch& launch);
std::string legal(const Elementwise::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
