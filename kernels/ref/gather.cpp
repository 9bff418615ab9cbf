// Gather, reference: row copies and float64 means. One thread.
#include "kernels/gather.h"

#include <algorithm>

namespace orrery::kernels::ref {
namespace {

void mean_rows(const Gather::Args& args, int64_t begin, int64_t end, float* dst) {
  for (int64_t c = 0; c < args.cols; ++c) {
    double sum = 0;
    for (int64_t t = begin; t < end; ++t) sum += args.src[t * args.cols + c];
    dst[c] = static_cast<float>(sum / static_cast<double>(end - begin));
  }
}

}  // namespace

std::string legal(const Gather::Problem& problem) {
  return problem.cols > 0 ? "" : "the rows have no columns";
}

void gather(const Gather::Args& args, const Launch&) {
  for (int64_t i = 0; i < args.count; ++i) {
    float* dst = args.dst + i * args.cols;
    if (args.kind == Gather::Kind::rows) {
      std::copy_n(args.src + args.index[i] * args.cols, args.cols, dst);
      continue;
    }
    const int64_t begin = args.sequence_starts[i];
    const int64_t end = args.sequence_starts[i + 1];
    if (begin >= end) {
      std::fill_n(dst, args.cols, 0.0F);
    } else if (args.kind == Gather::Kind::mean) {
      mean_rows(args, begin, end, dst);
    } else {
      std::copy_n(args.src + (args.kind == Gather::Kind::first ? begin : end - 1) * args.cols, args.cols,
                  dst);
    }
  }
}

}  // namespace orrery::kernels::ref
