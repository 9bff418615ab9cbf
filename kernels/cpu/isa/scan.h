// What scan.cpp offers, built once per ISA: channels of the tokens that lie in one page (kernels/scan.h). The
// rows in cpu/scan.cpp split the work over the team and call these on each thread's share.
#pragma once

#include <cstdint>

namespace orrery::kernels {

/// Pointers are to the first of `count` channels; rows of all of them are `stride` apart. before and bias may
/// be null.
struct ConvolutionRun {
  const float* src;
  float* dst;
  const float* weight;
  const float* bias;
  const float* before;
  float* after;
  int64_t stride, count, kernel, tokens;
};

/// But b and c, which are (tokens, states).
struct ScanRun {
  static constexpr int64_t kMostStates = 64;
  const float* src;
  const float* delta;
  const float* a;
  const float* d;
  float* dst;
  const float* before;
  float* after;
  const float* b;
  const float* c;
  int64_t stride, count, states, tokens;
};

struct ScanTable {
  void (*convolve)(const ConvolutionRun& run);
  void (*scan)(const ScanRun& run);
};

namespace avx2 {
extern const ScanTable kScan;
}
namespace avx512 {
extern const ScanTable kScan;
}

}  // namespace orrery::kernels
