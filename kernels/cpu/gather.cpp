// Rows of Gather, fastest first. Output rows are split over the team; means are float64 sums in token order.
#include "kernels/gather.h"

#include <algorithm>

#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kColumns = 64;  // float64 sums of one pass: 512 bytes of L1

void mean_rows(const Gather::Args& args, int64_t begin, int64_t end, float* dst) {
  const double factor = 1.0 / static_cast<double>(end - begin);
  for (int64_t first = 0; first < args.cols; first += kColumns) {
    const int64_t n = std::min(kColumns, args.cols - first);
    double total[kColumns] = {};
    for (int64_t t = begin; t < end; ++t) {
      const float* src = args.src + t * args.cols + first;
      for (int64_t c = 0; c < n; ++c) total[c] += src[c];
    }
    for (int64_t c = 0; c < n; ++c) dst[first + c] = static_cast<float>(total[c] * factor);
  }
}

void one_row(const Gather::Args& args, int64_t i) {
  float* dst = args.dst + i * args.cols;
  const auto copy = [&](int64_t row) { std::copy_n(args.src + row * args.cols, args.cols, dst); };
  if (args.kind == Gather::Kind::rows) return copy(args.index[i]);
  const int64_t begin = args.sequence_starts[i];
  const int64_t end = args.sequence_starts[i + 1];
  if (begin >= end) {
    std::fill_n(dst, args.cols, 0.0F);
  } else if (args.kind == Gather::Kind::mean) {
    mean_rows(args, begin, end, dst);
  } else {
    copy(args.kind == Gather::Kind::first ? begin : end - 1);
  }
}

void run(const Gather::Args& args, const Launch& launch) {
  int64_t rows_each = 1;
  if (args.kind == Gather::Kind::mean && args.count > 0) {
    rows_each = (args.sequence_starts[args.count] - args.sequence_starts[0]) / args.count + 1;
  }
  split(launch, args.count, rows_each * args.cols, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) one_row(args, i);
  });
}

}  // namespace

std::span<const Row<Gather>> gather_rows() {
  static const Row<Gather> rows[] = {
      {.name = "cpu.rows", .supports = on_any_machine<Gather, ref::legal>, .run = run},
      {.name = "cpu.reference", .supports = on_any_machine<Gather, ref::legal>, .run = ref::gather},
  };
  return rows;
}

}  // namespace orrery::kernels
