// Fourier transforms of any length in float64, in O(n log n):
//   to[t] = sum over k of from[k] e^(2 pi i k t / n)
//   Lengths whose factors are at most kLargestFactor are transformed factor by factor (Cooley and Tukey,
//   1965): p transforms of n / p elements, then p sums of p products for each of n / p places.
//   Others become a convolution of a power of two (Bluestein, 1970): with c[j] = e^(i pi j^2 / n),
//     x[t] = c[t] sum over k of (X[k] c[k]) conj(c[t - k]).
#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace orrery::kernels {

using Complex = std::complex<double>;
inline constexpr int64_t kLargestFactor = 61;

inline int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

inline bool has_small_factors(int64_t n) {
  while (n > 1) {
    const int64_t p = smallest_factor(n);
    if (p > kLargestFactor) return false;
    n /= p;
  }
  return true;
}

/// Of complex numbers by the schoolbook: without the library's care for infinities, which calls a function.
inline Complex complex_product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// e^(2 pi i j / n)
inline Complex unit_root(int64_t j, int64_t n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
}

/// How a length is transformed, and where its tables and rows lie.
struct FourierTransform {
  int64_t count;              // n
  int64_t length;             // of the roots: n, or the power of two
  bool by_chirp;              // Bluestein
  Complex* roots = nullptr;   // (length)
  Complex* chirp = nullptr;   // (n), of Bluestein
  Complex* kernel = nullptr;  // (length), of Bluestein

  explicit FourierTransform(int64_t n)
      : count(n),
        length(has_small_factors(n) ? n
                                    : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)))),
        by_chirp(length != n) {}
  FourierTransform(int64_t n, std::byte* memory) : FourierTransform(n) {
    roots = reinterpret_cast<Complex*>(memory);
    chirp = roots + length;
    kernel = chirp + n;
  }
  int64_t shared() const { return length + (by_chirp ? count + length : 0); }
  int64_t of_thread() const { return 3 * length; }

  void fill_tables(Complex* work) const {
    for (int64_t j = 0; j < length; ++j) roots[j] = unit_root(j, length);
    if (!by_chirp) return;
    for (int64_t j = 0; j < count; ++j) chirp[j] = unit_root(j * j % (2 * count), 2 * count);
    std::fill_n(work, length, Complex(0));
    for (int64_t j = 0; j < count; ++j) work[j] = work[(length - j) % length] = std::conj(chirp[j]);
    by_factors(length, work, 1, kernel, 1);
  }

  /// to[t] = sum over k of from[k * stride] e^(2 pi i k t / n); `step` of the roots are one of this n.
  void by_factors(int64_t n, const Complex* from, int64_t stride, Complex* to, int64_t step) const {
    if (n == 1) {
      to[0] = from[0];
      return;
    }
    const int64_t p = smallest_factor(n), part = n / p;
    for (int64_t r = 0; r < p; ++r) by_factors(part, from + r * stride, stride * p, to + r * part, step * p);
    Complex turned[kLargestFactor];
    for (int64_t k = 0; k < part; ++k) {
      for (int64_t r = 0; r < p; ++r) turned[r] = complex_product(to[r * part + k], roots[r * k * step]);
      for (int64_t q = 0; q < p; ++q) {
        Complex sum = turned[0];
        for (int64_t r = 1; r < p; ++r) sum += complex_product(turned[r], roots[r * q % p * part * step]);
        to[q * part + k] = sum;
      }
    }
  }

  /// The transform of n elements in rows[0], in place; rows[1] and rows[2] are used.
  Complex* operator()(Complex* rows) const {
    Complex *given = rows, *made = rows + length, *mixed = made + length;
    if (!by_chirp) {
      by_factors(count, given, 1, made, 1);
      return made;
    }
    for (int64_t k = 0; k < count; ++k) given[k] = complex_product(given[k], chirp[k]);
    std::fill(given + count, given + length, Complex(0));
    by_factors(length, given, 1, made, 1);
    // Back by the transform of conjugates.
    for (int64_t k = 0; k < length; ++k) mixed[k] = std::conj(complex_product(made[k], kernel[k]));
    by_factors(length, mixed, 1, made, 1);
    for (int64_t t = 0; t < count; ++t)
      made[t] = complex_product(std::conj(made[t]), chirp[t]) / static_cast<double>(length);
    return made;
  }
};

}  // namespace orrery::kernels
