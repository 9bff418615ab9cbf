// Elements that follow from their place, reference: the formulas by the functions of <cmath>. One thread.
#include "kernels/generate.h"

#include <numbers>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Generate::Problem& problem) {
  const std::string dtype(name_of(problem.dtype));
  if (!is_element(problem.dtype)) return dtype + " is how weights are stored, not elements";
  if (problem.dtype == DType::boolean) return "bools are no numbers";
  if (problem.function != Generate::Function::range && !is_float(problem.dtype))
    return dtype + "; random numbers are floats";
  return {};
}

void generate(const Generate::Args& args, const Launch&) {
  const auto [function, dtype] = args.problem;
  for (int64_t i = 0; i < args.count; ++i) {
    if (function == Generate::Function::range) {
      if (is_float(dtype))
        put_real(dtype, args.a + static_cast<double>(i) * args.b, args.dst, i);
      else
        put_integer(dtype, args.first + i * args.stride, args.dst, i);
      continue;
    }
    const bool uniform = function == Generate::Function::uniform;
    const auto group = static_cast<uint64_t>(i / 4);
    const auto words = philox4x32({static_cast<uint32_t>(group), static_cast<uint32_t>(group >> 32),
                                   uniform ? kUniformStream : kGaussianStream, 0},
                                  {static_cast<uint32_t>(args.seed), static_cast<uint32_t>(args.seed >> 32)});
    if (uniform) {
      const double share = (words[static_cast<size_t>(i % 4)] >> 8) * 0x1p-24;
      put_real(dtype, args.a + share * (args.b - args.a), args.dst, i);
      continue;
    }
    const auto pair = static_cast<size_t>(i % 4 / 2);
    const double radius = std::sqrt(-2 * std::log((words[2 * pair] + 1.0) * 0x1p-32));
    const double turn = 2 * std::numbers::pi * (words[2 * pair + 1] * 0x1p-32);
    put_real(dtype, args.a + radius * (i % 2 == 0 ? std::cos(turn) : std::sin(turn)) * args.b, args.dst, i);
  }
}

}  // namespace orrery::kernels::ref
