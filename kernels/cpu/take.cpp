// Rows of Take. An item is one place of one outer index: its elements lie together and are copied at once.
#include "kernels/take.h"

#include <cstring>

#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

void take_places(const Take::Args& args, const Launch& launch) {
  int64_t strides[kMaxRank], count = 1;
  pack_strides(args.depth, args.sizes, strides);
  for (int d = 0; d < args.depth; ++d) count *= args.sizes[d];
  const int64_t bytes = dtype_info(args.problem.dtype).block_bytes * args.inner;
  split(launch, args.outer * args.places, std::max<int64_t>(args.inner, 1),
        [&](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t place = place_of(args.problem.index, args.indices, item % args.places * args.depth,
                                           args.depth, args.sizes, strides);
            auto* dst = static_cast<std::byte*>(args.dst) + item * bytes;
            if (place < 0)
              std::memset(dst, 0, static_cast<size_t>(bytes));
            else
              std::memcpy(
                  dst, static_cast<const std::byte*>(args.src) + (item / args.places * count + place) * bytes,
                  static_cast<size_t>(bytes));
          }
        });
}

}  // namespace

std::span<const Row<Take>> take_rows() {
  static const Row<Take> rows[] = {
      {.name = "cpu.places", .supports = on_any_machine<Take, ref::legal>, .run = take_places},
      {.name = "cpu.reference", .supports = on_any_machine<Take, ref::legal>, .run = ref::take},
  };
  return rows;
}

}  // namespace orrery::kernels
