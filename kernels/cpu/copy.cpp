// Rows of Copy. An item is a run of the innermost dim: bytes where neither side has gaps, elements else;
// converted by way of float32, or of 64-bit integers where the source has them.
#include "kernels/copy.h"

#include <cstring>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

template <class Word>
void copy_words(const void* src, int64_t src_stride, int64_t n, void* dst, int64_t dst_stride) {
  const auto* from = static_cast<const Word*>(src);
  auto* to = static_cast<Word*>(dst);
  for (int64_t i = 0; i < n; ++i) to[i * dst_stride] = from[i * src_stride];
}

void copy_run(int bytes, const void* src, int64_t src_stride, int64_t n, void* dst, int64_t dst_stride) {
  if (src_stride == 1 && dst_stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n * bytes));
    return;
  }
  if (bytes == 1) return copy_words<uint8_t>(src, src_stride, n, dst, dst_stride);
  if (bytes == 2) return copy_words<uint16_t>(src, src_stride, n, dst, dst_stride);
  if (bytes == 4) return copy_words<uint32_t>(src, src_stride, n, dst, dst_stride);
  copy_words<uint64_t>(src, src_stride, n, dst, dst_stride);
}

template <class Between>
void convert_run(const Copy::Args& args, const std::byte* src, int64_t src_stride, int64_t n, std::byte* dst,
                 int64_t dst_stride) {
  Between buffer[kRun];
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t count = std::min(kRun, n - i);
    load_run(args.from, at(args.from, src, i * src_stride), src_stride, count, buffer);
    store_run(args.to, buffer, count, at(args.to, dst, i * dst_stride), dst_stride);
  }
}

void run(const Copy::Args& args, const Launch& launch) {
  const Walk<2> walk = collapsed(args.walk);
  const int64_t from = walk.strides[0][walk.rank - 1], to = walk.strides[1][walk.rank - 1];
  split_runs(launch, walk, [&](const int64_t* where, int64_t count) {
    const std::byte* src = at(args.from, args.src, where[0]);
    std::byte* dst = at(args.to, args.dst, where[1]);
    if (args.from == args.to)
      copy_run(dtype_info(args.from).block_bytes, src, from, count, dst, to);
    else if (is_float(args.from))
      convert_run<float>(args, src, from, count, dst, to);
    else
      convert_run<int64_t>(args, src, from, count, dst, to);
  });
}

}  // namespace

std::span<const Row<Copy>> copy_rows() {
  static const Row<Copy> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Copy, ref::legal>, .run = run},
      {.name = "cpu.reference", .supports = on_any_machine<Copy, ref::legal>, .run = ref::copy},
  };
  return rows;
}

}  // namespace orrery::kernels
