// What is marked in a tensor, reference: element after element. One thread.
#include "kernels/nonzero.h"

#include <cstring>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Nonzero::Problem& problem) {
  for (const DType dtype : {problem.mask, problem.dtype})
    if (!is_element(dtype)) return std::string(name_of(dtype)) + " is how weights are stored, not elements";
  if (problem.function == Nonzero::Function::places && problem.dtype != DType::i64) return "places are i64";
  if (problem.function == Nonzero::Function::put && problem.mask != DType::boolean)
    return std::string(name_of(problem.mask)) + "; a mask is bool";
  return {};
}

void nonzero(const Nonzero::Args& args, const Launch&) {
  const DType mask = args.problem.mask;
  const int64_t elements = mask_elements(args);
  int64_t marked = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const bool is_set =
        is_float(mask) ? real_at(mask, args.mask, i) != 0 : integer_at(mask, args.mask, i) != 0;
    const bool has_room = is_set && marked < args.capacity;
    if (args.problem.function == Nonzero::Function::places) {
      if (has_room) write_place(args, i, marked);
    } else {
      const auto bytes = static_cast<size_t>(dtype_info(args.problem.dtype).block_bytes);
      const auto at = [&](const void* base, int64_t index) {
        return static_cast<const std::byte*>(base) + static_cast<size_t>(index) * bytes;
      };
      std::memmove(static_cast<std::byte*>(args.dst) + static_cast<size_t>(i) * bytes,
                   has_room ? at(args.values, marked) : at(args.src, i), bytes);
    }
    marked += is_set ? 1 : 0;
  }
  if (args.problem.function != Nonzero::Function::places) return;
  *args.count = marked;
  for (int64_t i = std::min(marked, args.capacity) * args.rank; i < args.capacity * args.rank; ++i)
    static_cast<int64_t*>(args.dst)[i] = -1;
}

}  // namespace orrery::kernels::ref
