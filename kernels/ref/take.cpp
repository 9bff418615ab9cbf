// Elements found by numbers, reference. One thread.
#include "kernels/take.h"

#include <cstring>

namespace orrery::kernels::ref {

std::string legal(const Take::Problem& problem) {
  if (!is_element(problem.dtype))
    return std::string(name_of(problem.dtype)) + " is how weights are stored, not elements";
  return wrong_index(problem.index);
}

void take(const Take::Args& args, const Launch&) {
  const int64_t bytes = dtype_info(args.problem.dtype).block_bytes;
  int64_t strides[kMaxRank], count = 1;
  pack_strides(args.depth, args.sizes, strides);
  for (int d = 0; d < args.depth; ++d) count *= args.sizes[d];
  for (int64_t o = 0; o < args.outer; ++o)
    for (int64_t p = 0; p < args.places; ++p) {
      const int64_t place =
          place_of(args.problem.index, args.indices, p * args.depth, args.depth, args.sizes, strides);
      auto* dst = static_cast<std::byte*>(args.dst) + (o * args.places + p) * args.inner * bytes;
      const auto* src = static_cast<const std::byte*>(args.src) + (o * count + place) * args.inner * bytes;
      const auto size = static_cast<size_t>(args.inner * bytes);
      if (place < 0)
        std::memset(dst, 0, size);
      else
        std::memcpy(dst, src, size);
    }
}

}  // namespace orrery::kernels::ref
