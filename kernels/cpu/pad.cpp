// Rows of Pad. An item is a piece of the last dim: what comes from inside of src is one run of bytes, what is
// before and after it is looked up an element at a time.
#include "kernels/pad.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

/// Where the row that an item is of lies in src, in elements; -1: outside of it.
int64_t padded_row(const Pad::Args& args, const int64_t* strides, int64_t row) {
  int64_t from = 0;
  for (int d = args.problem.rank - 2; d >= 0; --d) {
    const int64_t place =
        padded_from(args.problem.mode, row % args.padded[d] - args.before[d], args.sizes[d]);
    if (place < 0) return -1;
    row /= args.padded[d];
    from += place * strides[d];
  }
  return from;
}

/// Word: an unsigned number of an element's size.
template <class Word>
void pad_piece(const Pad::Args& args, int64_t from, int64_t first, int64_t last, Word* dst) {
  const auto value = static_cast<Word>(args.value);
  if (from < 0) {
    std::fill(dst, dst + (last - first), value);
    return;
  }
  const int dim = args.problem.rank - 1;
  const int64_t before = args.before[dim], size = args.sizes[dim];
  const auto* src = static_cast<const Word*>(args.src) + from;
  const auto outside = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t place = padded_from(args.problem.mode, i - before, size);
      dst[i - first] = place < 0 ? value : src[place];
    }
  };
  const int64_t begin = std::clamp(before, first, last), end = std::clamp(before + size, begin, last);
  outside(first, begin);
  std::copy(src + (begin - before), src + (end - before), dst + (begin - first));
  outside(end, last);
}

template <class Word>
void pad_all(const Pad::Args& args, const Launch& launch) {
  int64_t strides[kMaxRank], rows = 1;
  pack_strides(args.problem.rank, args.sizes, strides);
  for (int d = 0; d + 1 < args.problem.rank; ++d) rows *= args.padded[d];
  const int64_t cols = args.padded[args.problem.rank - 1], pieces = (cols + kRunPiece - 1) / kRunPiece;
  split(launch, rows * pieces, std::min(cols, kRunPiece), [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / pieces, first = item % pieces * kRunPiece;
      pad_piece(args, padded_row(args, strides, row), first, std::min(cols, first + kRunPiece),
                static_cast<Word*>(args.dst) + row * cols + first);
    }
  });
}

void pad_by_size(const Pad::Args& args, const Launch& launch) {
  switch (dtype_info(args.problem.dtype).block_bytes) {
    case 1:
      return pad_all<uint8_t>(args, launch);
    case 2:
      return pad_all<uint16_t>(args, launch);
    case 4:
      return pad_all<uint32_t>(args, launch);
    default:
      return pad_all<uint64_t>(args, launch);
  }
}

}  // namespace

std::span<const Row<Pad>> pad_rows() {
  static const Row<Pad> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Pad, ref::legal>, .run = pad_by_size},
      {.name = "cpu.reference", .supports = on_any_machine<Pad, ref::legal>, .run = ref::pad},
  };
  return rows;
}

}  // namespace orrery::kernels
