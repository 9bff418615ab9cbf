// Elements that stay by their place, reference: each element asks whether it does. One thread.
#include "kernels/mask.h"

#include <cstring>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Mask::Problem& problem) {
  const std::string dtype(name_of(problem.dtype));
  if (!is_element(problem.dtype)) return dtype + " is how weights are stored, not elements";
  if (problem.function == Mask::Function::dropout && !is_float(problem.dtype))
    return dtype + "; dropout takes floats";
  return {};
}

void mask(const Mask::Args& args, const Launch&) {
  const DType dtype = args.problem.dtype;
  const auto bytes = static_cast<size_t>(dtype_info(dtype).block_bytes);
  for (int64_t r = 0; r < args.rows; ++r)
    for (int64_t c = 0; c < args.cols; ++c) {
      const int64_t i = r * args.cols + c;
      if (args.problem.function == Mask::Function::dropout) {
        const double kept = args.dropout.keeps(r, c) ? real_at(dtype, args.src, i) * args.dropout.scale : 0.0;
        put_real(dtype, kept, args.dst, i);
        continue;
      }
      auto* dst = static_cast<std::byte*>(args.dst) + static_cast<size_t>(i) * bytes;
      const auto* src = static_cast<const std::byte*>(args.src) + static_cast<size_t>(i) * bytes;
      if (in_band(args, r % args.height, c))
        std::memmove(dst, src, bytes);
      else
        std::memset(dst, 0, bytes);
    }
}

}  // namespace orrery::kernels::ref
