// exp, tanh, the normal distribution and sine/cosine on vectors, and the activation functions' arithmetic.
// Polynomials are minimax fits made for these ranges (the stated error is the fit's; float32 rounding adds
// about 1e-7).
#pragma once

#include "kernels/activation.h"
#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {

/// c[0] + c[1] x + ... + c[n-1] x^(n-1)
template <int n>
ORRERY_INLINE Vec polynomial(Vec x, const float (&c)[n]) {
  Vec y = set1(c[n - 1]);
#pragma GCC unroll 16  // coefficients stay in registers
  for (int i = n - 2; i >= 0; --i) y = fma(y, x, set1(c[i]));
  return y;
}

/// e^x, relative error under 2e-7 where the result is normal; 0 below -104, infinity above 88.73, NaN stays.
/// x = n ln 2 + r with |r| <= ln 2 / 2;  e^r = 1 + r + r^2 P(r), fit 3e-9.
ORRERY_INLINE Vec exp(Vec x) {
  x = max(set1(-104.0F), min(set1(89.0F), x));
  const Vec n = round(x * set1(1.44269504F));
  const Vec r = fnma(n, set1(-2.12194440e-4F), fnma(n, set1(0.693359375F), x));  // ln 2 in two parts
  constexpr float kTail[] = {0.49999994F, 0.16666520F, 0.041668393F, 0.0083687808F, 0.0013814467F};
  return scale_by_power(fma(r * r, polynomial(r, kTail), r) + set1(1.0F), n);
}

/// The normal distribution's share above x >= 0:
/// erfc(z) = e^(-z^2) t Q(t), t = 1 / (1 + 0.4 z), z = x / sqrt 2, fit 6e-8 relative.
ORRERY_INLINE Vec normal_tail(Vec x) {
  const Vec size = min(set1(15.0F), x);  // e^-112 is zero already; larger squares would overflow
  const Vec t = set1(1.0F) / fma(size, set1(0.4F * 0.70710678F), set1(1.0F));
  constexpr float kQ[] = {0.22562630F, 0.22657570F, 0.20095858F,  0.19696303F, 0.071508296F,
                          0.09972961F, 0.07384212F, -0.13547108F, 0.04026749F};
  // x^2 / 2 rounds; what it loses (up to 1e-6 of e^-x^2/2 at x = 6) comes back as a factor.
  const Vec half = size * set1(0.5F);
  const Vec square = size * half;
  const Vec lost = fmsub(size, half, square);
  const Vec bell = exp(set1(0.0F) - square);
  return set1(0.5F) * t * polynomial(t, kQ) * fnma(bell, lost, bell);
}

/// |x| < 0.65: x + x^3 P(x^2), fit 6e-9; else 1 - 2 / (e^(2|x|) + 1) with the sign of x.
ORRERY_INLINE Vec tanh(Vec x) {
  const Vec size = abs(x);
  const Vec square = x * x;
  constexpr float kOdd[] = {-0.33333263F, 0.13330899F, -0.053692967F, 0.020483315F, -0.0055286330F};
  const Vec small = fma(x * square, polynomial(square, kOdd), x);
  const Vec big = set1(1.0F) - set1(2.0F) / (exp(size + size) + set1(1.0F));
  return select(less(size, set1(0.625F)), small, copy_sign(big, x));
}

/// Sine and cosine of 2 pi x for |x| <= 1/2 (whole turns are taken off before, in float64).
/// x = q / 4 + f with |f| <= 1/8: sin(2 pi f) = f S(f^2) and cos = C(f^2), fits 4e-12; q says which is which
/// and the signs.
ORRERY_INLINE void sin_cos_turns(Vec x, Vec& sine, Vec& cosine) {
  const Vec quarter = round(x * set1(4.0F));  // -2 .. 2
  const Vec f = fnma(quarter, set1(0.25F), x);
  const Vec u = f * f;
  constexpr float kSine[] = {6.28318531F, -41.3417022F, 81.6052047F, -76.6978699F, 41.4729477F};
  constexpr float kCosine[] = {1.0F, -19.7392087F, 64.9393163F, -85.4428521F, 59.2204070F};
  const Vec s = f * polynomial(u, kSine);
  const Vec c = polynomial(u, kCosine);
  const Vec size = abs(quarter);
  const Mask odd = equal(size, set1(1.0F));
  const Mask half = equal(size, set1(2.0F));
  const Vec zero = set1(0.0F);
  // q = 1: (c, -s); q = -1: (-c, s); |q| = 2: (-s, -c); 0: (s, c)
  const Vec turned_sine = select(less(quarter, zero), zero - c, c);
  const Vec turned_cosine = select(less(quarter, zero), s, zero - s);
  sine = select(odd, turned_sine, select(half, zero - s, s));
  cosine = select(odd, turned_cosine, select(half, zero - c, c));
}

/// The arithmetic of the activation functions (kernels/activation.h).
struct Math {
  using Number = Vec;
  ORRERY_INLINE static Vec number(double x) { return set1(static_cast<float>(x)); }
  ORRERY_INLINE static Vec exp(Vec x) { return ORRERY_ISA::exp(x); }
  ORRERY_INLINE static Vec tanh(Vec x) { return ORRERY_ISA::tanh(x); }
  ORRERY_INLINE static Vec abs(Vec x) { return ORRERY_ISA::abs(x); }
  ORRERY_INLINE static Vec fma(Vec a, Vec b, Vec c) { return ORRERY_ISA::fma(a, b, c); }
  ORRERY_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return ORRERY_ISA::fnma(a, b, c); }
  ORRERY_INLINE static Vec where_negative(Vec x, Vec a, Vec b) { return select(less(x, set1(0.0F)), a, b); }
  ORRERY_INLINE static Vec normal_tail(Vec x) { return ORRERY_ISA::normal_tail(x); }
};

}  // namespace orrery::kernels::ORRERY_ISA
