// CausalConvolution and SelectiveScan on float32 rows: formulas in scan.h.
//   layout: rows of channels, any alignment; a vector holds channels, so that a token's sums run over time
//   and states
//     in one order however the text is cut
//   one call is one thread's work on the tokens of one page; preconditions: sizes >= 1, states <= kMostStates
//   traffic: src, delta and dst once; a, weights and records stay in cache
#include "kernels/cpu/isa/scan.h"

#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/isa/simd_math.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

/// log(1 + e^x) = max(x, 0) + log(1 + u), u = e^-|x|; log(1 + u) = 2 artanh(z), z = u / (2 + u) <= 1/3, whose
/// series leaves 2e-9 out.
ORRERY_INLINE Vec softplus(Vec x) {
  const Vec u = exp(set1(0.0F) - abs(x));
  const Vec z = u / (u + set1(2.0F));
  const Vec square = z * z;
  constexpr float kOdd[] = {1.0F / 3, 1.0F / 5, 1.0F / 7, 1.0F / 9, 1.0F / 11, 1.0F / 13, 1.0F / 15};
  const Vec half = fma(z * square, polynomial(square, kOdd), z);
  return fma(half, set1(2.0F), max(set1(0.0F), x));
}

void convolve(const ConvolutionRun& run) {
  const int64_t kept = run.kernel - 1;
  each_vector(run.count, [&](auto read, auto write) {
    const auto input = [&](int64_t token) {
      if (token >= 0) return read(run.src + token * run.stride);
      return run.before != nullptr ? read(run.before + (kept + token) * run.stride) : set1(0.0F);
    };
    for (int64_t t = 0; t < run.tokens; ++t) {
      Vec sum = run.bias != nullptr ? read(run.bias) : set1(0.0F);
      for (int64_t k = 0; k < run.kernel; ++k)
        sum = fma(read(run.weight + k * run.stride), input(t - kept + k), sum);
      write(run.dst + t * run.stride, sum);
    }
    for (int64_t j = 0; j < kept; ++j) write(run.after + j * run.stride, input(run.tokens - kept + j));
  });
}

void scan(const ScanRun& run) {
  each_vector(run.count, [&](auto read, auto write) {
    Vec h[ScanRun::kMostStates];
    for (int64_t n = 0; n < run.states; ++n)
      h[n] = run.before != nullptr ? read(run.before + n * run.stride) : set1(0.0F);
    const Vec skip = read(run.d);
    for (int64_t t = 0; t < run.tokens; ++t) {
      const Vec x = read(run.src + t * run.stride);
      const Vec step = softplus(read(run.delta + t * run.stride));
      const Vec entering = step * x;
      Vec sum = skip * x;
      for (int64_t n = 0; n < run.states; ++n) {
        const Vec decay = exp(step * read(run.a + n * run.stride));
        h[n] = fma(decay, h[n], entering * set1(run.b[t * run.states + n]));
        sum = fma(h[n], set1(run.c[t * run.states + n]), sum);
      }
      write(run.dst + t * run.stride, sum);
    }
    for (int64_t n = 0; n < run.states; ++n) write(run.after + n * run.stride, h[n]);
  });
}

}  // namespace

const ScanTable kScan = {convolve, scan};

}  // namespace orrery::kernels::ORRERY_ISA
