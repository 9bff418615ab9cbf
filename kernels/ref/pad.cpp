// Padding, reference: every element of dst asks each dim where it comes from. One thread.
#include "kernels/pad.h"

#include <cstring>

namespace orrery::kernels::ref {

std::string legal(const Pad::Problem& problem) {
  if (!is_element(problem.dtype))
    return std::string(name_of(problem.dtype)) + " is how weights are stored, not elements";
  return problem.rank < 1 ? "it has no dims" : wrong_rank(problem.rank);
}

void pad(const Pad::Args& args, const Launch&) {
  const int rank = args.problem.rank;
  const auto bytes = static_cast<size_t>(dtype_info(args.problem.dtype).block_bytes);
  int64_t strides[kMaxRank], total = 1;
  pack_strides(rank, args.sizes, strides);
  for (int d = 0; d < rank; ++d) total *= args.padded[d];
  for (int64_t i = 0; i < total; ++i) {
    int64_t from = 0;
    bool inside = true;
    for (int64_t d = rank - 1, left = i; d >= 0; --d) {
      const int64_t at = left % args.padded[d] - args.before[d];
      left /= args.padded[d];
      const int64_t place = padded_from(args.problem.mode, at, args.sizes[d]);
      inside = inside && place >= 0;
      from += place * strides[d];
    }
    const auto* src = static_cast<const std::byte*>(args.src);
    std::memcpy(static_cast<std::byte*>(args.dst) + static_cast<size_t>(i) * bytes,
                inside ? static_cast<const void*>(src + static_cast<size_t>(from) * bytes) : &args.value,
                bytes);
  }
}

}  // namespace orrery::kernels::ref
