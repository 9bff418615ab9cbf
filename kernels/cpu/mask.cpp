// Rows of Mask. An item is a row. What a band keeps of one is a run of it, so bytes are copied and cleared;
// dropout draws four numbers at a time for a run that was converted.
#include "kernels/mask.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

void keep(const Mask::Args& args, int64_t first, int64_t last, bool stays) {
  if (last <= first) return;
  std::byte* dst = at(args.problem.dtype, args.dst, first);
  const auto bytes = static_cast<size_t>((last - first) * dtype_info(args.problem.dtype).block_bytes);
  if (stays)
    std::memmove(dst, at(args.problem.dtype, args.src, first), bytes);
  else
    std::memset(dst, 0, bytes);
}

void band_row(const Mask::Args& args, int64_t row) {
  const int64_t i = row % args.height, begin = row * args.cols;
  const int64_t low = args.lower < 0 ? 0 : std::clamp<int64_t>(i - args.lower, 0, args.cols);
  const int64_t high = args.upper < 0 ? args.cols : std::clamp<int64_t>(i + args.upper + 1, low, args.cols);
  keep(args, begin, begin + low, args.exclude);
  keep(args, begin + low, begin + high, !args.exclude);
  keep(args, begin + high, begin + args.cols, args.exclude);
}

void dropout_row(const Mask::Args& args, int64_t row) {
  static_assert(kRun % 4 == 0);
  const DType dtype = args.problem.dtype;
  float values[kRun];
  for (int64_t c = 0; c < args.cols; c += kRun) {
    const int64_t n = std::min(kRun, args.cols - c), first = row * args.cols + c;
    load_run(dtype, at(dtype, args.src, first), 1, n, values);
    for (int64_t k = 0; k < n; k += 4) {
      uint32_t words[4];
      args.dropout.words(row, (c + k) / 4, words);
      for (int64_t j = k; j < std::min(k + 4, n); ++j)
        values[j] = args.dropout.keeps(words[j - k]) ? values[j] * args.dropout.scale : 0.0F;
    }
    store_run(dtype, values, n, at(dtype, args.dst, first), 1);
  }
}

void run_mask(const Mask::Args& args, const Launch& launch) {
  split(launch, args.rows, args.cols, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      args.problem.function == Mask::Function::band ? band_row(args, row) : dropout_row(args, row);
  });
}

}  // namespace

std::span<const Row<Mask>> mask_rows() {
  static const Row<Mask> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Mask, ref::legal>, .run = run_mask},
      {.name = "cpu.reference", .supports = on_any_machine<Mask, ref::legal>, .run = ref::mask},
  };
  return rows;
}

}  // namespace orrery::kernels
