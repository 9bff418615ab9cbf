// Rows of Nonzero. Threads count the marked elements of each part; then each part knows how many come before
// it, and threads write them.
#include "kernels/nonzero.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

template <class Word>
void put_part(const Nonzero::Args& args, int64_t begin, int64_t end, int64_t before) {
  const auto* mask = static_cast<const uint8_t*>(args.mask);
  const auto* src = static_cast<const Word*>(args.src);
  const auto* values = static_cast<const Word*>(args.values);
  auto* dst = static_cast<Word*>(args.dst);
  for (int64_t i = begin; i < end; ++i) {
    dst[i] = mask[i] != 0 && before < args.capacity ? values[before] : src[i];
    before += mask[i] != 0 ? 1 : 0;
  }
}

void write_part(const Nonzero::Args& args, int64_t begin, int64_t end, int64_t before) {
  if (args.problem.function == Nonzero::Function::places) {
    for (int64_t i = begin; i < end && before < args.capacity; ++i)
      if (is_marked(args.problem.mask, args.mask, i)) write_place(args, i, before++);
    return;
  }
  switch (dtype_info(args.problem.dtype).block_bytes) {
    case 1:
      return put_part<uint8_t>(args, begin, end, before);
    case 2:
      return put_part<uint16_t>(args, begin, end, before);
    case 4:
      return put_part<uint32_t>(args, begin, end, before);
    default:
      return put_part<uint64_t>(args, begin, end, before);
  }
}

size_t nonzero_workspace(const Nonzero::Problem&, const Machine&, int) {
  return kNonzeroParts * sizeof(int64_t);
}

void run_parts(const Nonzero::Args& args, const Launch& launch) {
  const int64_t elements = mask_elements(args), each = (elements + kNonzeroParts - 1) / kNonzeroParts;
  auto* before = reinterpret_cast<int64_t*>(launch.workspace);
  split(launch, kNonzeroParts, std::max<int64_t>(each, 1), [&](int64_t first, int64_t last, int) {
    for (int64_t part = first; part < last; ++part) {
      int64_t marked = 0;
      for (int64_t i = nonzero_part(elements, part); i < nonzero_part(elements, part + 1); ++i)
        marked += is_marked(args.problem.mask, args.mask, i) ? 1 : 0;
      before[part] = marked;
    }
  });
  int64_t total = 0;
  for (int part = 0; part < kNonzeroParts; ++part) {
    const int64_t marked = before[part];
    before[part] = total;
    total += marked;
  }
  split(launch, kNonzeroParts, std::max<int64_t>(each, 1), [&](int64_t first, int64_t last, int) {
    for (int64_t part = first; part < last; ++part)
      write_part(args, nonzero_part(elements, part), nonzero_part(elements, part + 1), before[part]);
  });
  if (args.problem.function != Nonzero::Function::places) return;
  *args.count = total;
  auto* dst = static_cast<int64_t*>(args.dst);
  std::fill(dst + std::min(total, args.capacity) * args.rank, dst + args.capacity * args.rank, int64_t{-1});
}

}  // namespace

std::span<const Row<Nonzero>> nonzero_rows() {
  static const Row<Nonzero> rows[] = {
      {.name = "cpu.parts",
       .supports = on_any_machine<Nonzero, ref::legal>,
       .run = run_parts,
       .workspace = nonzero_workspace},
      {.name = "cpu.reference", .supports = on_any_machine<Nonzero, ref::legal>, .run = ref::nonzero},
  };
  return rows;
}

}  // namespace orrery::kernels
