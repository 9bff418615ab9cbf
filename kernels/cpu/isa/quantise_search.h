// Scales (and mins) of sub-blocks with the least squared error. Sub-blocks lie beside each other in the lanes
// of a vector, so that every sum runs within a lane, in one order whatever the vector's width.
//
// For given codes q the best scale is a linear regression, and its error follows from a few sums:
//   x ~ scale q         scale = sum(q x) / sum(q^2)
//   x ~ scale q - min   the 2 x 2 system of q and -1, with min >= 0
// The search maximises the gain, sum(x^2) less the error, over some step sizes, each of which gives codes;
// then codes and scale take turns.
#pragma once

#include <cstdint>

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX2)
inline constexpr int kSideBySide = 8;
#else
inline constexpr int kSideBySide = 4;
#endif
using Lanes = float __attribute__((vector_size(kSideBySide * sizeof(float))));
using LaneMask = int32_t __attribute__((vector_size(kSideBySide * sizeof(int32_t))));

inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
inline Lanes clamped(Lanes x, float low, float high) {
  return smaller(larger(x, Lanes{} + low), Lanes{} + high);
}
/// To the nearest whole number, of numbers below 2^22.
inline Lanes nearest(Lanes x) {
  constexpr float kShift = 0x1.8p23F;
  return (x + kShift) - kShift;
}
/// 0 where x is too small to divide by.
inline Lanes inverse_of(Lanes x) {
  const Lanes magnitude = larger(x, -x);
  return magnitude < Lanes{} + 0x1p-126F ? Lanes{} : 1.0F / x;
}

/// Whole numbers from low to high.
struct Range {
  float low, high;
};

/// What is tried: `count` steps, then `turns` turns of codes and scale.
struct Search {
  int count;
  float first, width;
  int turns;
  float shift(int i) const { return first + width * static_cast<float>(i); }
};

/// Element = scale * code - min, in each lane of its own.
struct ScaleMin {
  Lanes scale, min;
};

/// The nearest code; inverse is that of the scale.
inline Lanes code_of(Lanes x, Lanes min, Lanes inverse, Range codes) {
  return clamped(nearest((x + min) * inverse), codes.low, codes.high);
}

/// The scales of the largest gain so far.
struct Best {
  ScaleMin scales{};
  Lanes gain{};
  void offer(Lanes scale, Lanes min, Lanes its_gain) {
    const LaneMask better = its_gain > gain;
    scales.scale = better ? scale : scales.scale;
    scales.min = better ? min : scales.min;
    gain = better ? its_gain : gain;
  }
};

/// Offers the best scale for the codes that x * inverse is rounded to.
template <int kEach>
void offer_scale(const Lanes* x, Lanes inverse, Range codes, Best& best) {
  Lanes q2{}, qx{};
  for (int j = 0; j < kEach; ++j) {
    const Lanes q = code_of(x[j], Lanes{}, inverse, codes);
    q2 += q * q;
    qx += q * x[j];
  }
  const Lanes scale = qx * inverse_of(q2);
  best.offer(scale, Lanes{}, scale * qx);
}

/// Codes from -n to n - 1: the element of largest magnitude is tried around n and -n.
template <int kEach>
ScaleMin search_scale(const Lanes* x, Range codes, const Search& search) {
  Lanes most{};
  for (int j = 0; j < kEach; ++j) most = larger(most, larger(x[j], -x[j]));
  const Lanes inverse = inverse_of(most);
  Best best;
  for (int i = 0; i < search.count; ++i) {
    const float steps = search.shift(i) - codes.low;
    offer_scale<kEach>(x, inverse * steps, codes, best);
    offer_scale<kEach>(x, inverse * -steps, codes, best);
  }
  for (int turn = 0; turn < search.turns; ++turn)
    offer_scale<kEach>(x, inverse_of(best.scales.scale), codes, best);
  return best.scales;
}

/// Offers the best scale and min for the codes that (x + min) * inverse is rounded to. The elements come as
/// y = x - low, so that what they have in common takes no digits from what tells them apart.
template <int kEach>
void offer_scale_min(const Lanes* y, Lanes low, Lanes sum_y, Lanes min, Lanes inverse, Range codes,
                     Best& best) {
  constexpr auto kCount = static_cast<float>(kEach);
  const Lanes from_low = min + low;
  Lanes q1{}, q2{}, qy{};
  for (int j = 0; j < kEach; ++j) {
    const Lanes q = code_of(y[j], from_low, inverse, codes);
    q1 += q;
    q2 += q * q;
    qy += q * y[j];
  }
  const Lanes shift = larger((q1 * qy - q2 * sum_y) * inverse_of(kCount * q2 - q1 * q1), low);
  const Lanes scale = (qy + shift * q1) * inverse_of(q2);
  const Lanes gain =
      scale * (2.0F * (qy + shift * q1) - scale * q2) - shift * (2.0F * sum_y + kCount * shift);
  best.offer(scale, shift - low, gain);
}

/// Codes from 0 to n: the range of the elements and 0 is tried as about n steps.
template <int kEach>
ScaleMin search_scale_min(const Lanes* x, Range codes, const Search& search) {
  Lanes low{}, high = x[0], sum_y{}, y[kEach];
  for (int j = 0; j < kEach; ++j) low = smaller(low, x[j]), high = larger(high, x[j]);
  for (int j = 0; j < kEach; ++j) sum_y += y[j] = x[j] - low;
  const Lanes inverse = inverse_of(high - low);
  constexpr auto kCount = static_cast<float>(kEach);
  const Lanes shift = larger(-sum_y / kCount, low);  // the best one where all codes are 0
  Best best{{Lanes{}, shift - low}, -shift * (2.0F * sum_y + kCount * shift)};
  for (int i = 0; i < search.count; ++i)
    offer_scale_min<kEach>(y, low, sum_y, -low, inverse * (codes.high + search.shift(i)), codes, best);
  for (int turn = 0; turn < search.turns; ++turn)
    offer_scale_min<kEach>(y, low, sum_y, best.scales.min, inverse_of(best.scales.scale), codes, best);
  return best.scales;
}

}  // namespace orrery::kernels::ORRERY_ISA
