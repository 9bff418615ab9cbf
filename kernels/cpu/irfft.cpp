// Rows of Irfft (irfft.h), in O(n log n) for every n. An item is a row: its spectrum is completed by the
// conjugates, transformed in float64, and its real parts are kept.
//   Lengths whose factors are at most kLargestFactor are transformed factor by factor (Cooley and Tukey,
//   1965): p transforms of n / p elements, then p sums of p products for each of n / p places.
//   Others become a convolution of a power of two (Bluestein, 1970): with c[j] = e^(i pi j^2 / n),
//     x[t] = c[t] sum over k of (X[k] c[k]) conj(c[t - k]).
//   workspace  roots of unity, c and the transform of conj(c); then per thread three rows of complex float64
//   traffic    src and dst once
#include "kernels/irfft.h"

#include <bit>
#include <complex>
#include <numbers>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

using Complex = std::complex<double>;
constexpr int64_t kLargestFactor = 61;

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

bool has_small_factors(int64_t n) {
  while (n > 1) {
    const int64_t p = smallest_factor(n);
    if (p > kLargestFactor) return false;
    n /= p;
  }
  return true;
}

/// Of complex numbers by the schoolbook: without the library's care for infinities, which calls a function.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// e^(2 pi i j / n)
Complex root(int64_t j, int64_t n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
}

/// How a length is transformed, and where its tables and rows lie.
struct Transform {
  int64_t count;              // n
  int64_t length;             // of the roots: n, or the power of two
  bool by_chirp;              // Bluestein
  Complex* roots = nullptr;   // (length)
  Complex* chirp = nullptr;   // (n), of Bluestein
  Complex* kernel = nullptr;  // (length), of Bluestein

  explicit Transform(int64_t n)
      : count(n),
        length(has_small_factors(n) ? n
                                    : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)))),
        by_chirp(length != n) {}
  Transform(int64_t n, std::byte* memory) : Transform(n) {
    roots = reinterpret_cast<Complex*>(memory);
    chirp = roots + length;
    kernel = chirp + n;
  }
  int64_t shared() const { return length + (by_chirp ? count + length : 0); }
  int64_t of_thread() const { return 3 * length; }

  void fill_tables(Complex* work) const {
    for (int64_t j = 0; j < length; ++j) roots[j] = root(j, length);
    if (!by_chirp) return;
    for (int64_t j = 0; j < count; ++j) chirp[j] = root(j * j % (2 * count), 2 * count);
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
      for (int64_t r = 0; r < p; ++r) turned[r] = times(to[r * part + k], roots[r * k * step]);
      for (int64_t q = 0; q < p; ++q) {
        Complex sum = turned[0];
        for (int64_t r = 1; r < p; ++r) sum += times(turned[r], roots[r * q % p * part * step]);
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
    for (int64_t k = 0; k < count; ++k) given[k] = times(given[k], chirp[k]);
    std::fill(given + count, given + length, Complex(0));
    by_factors(length, given, 1, made, 1);
    // Back by the transform of conjugates.
    for (int64_t k = 0; k < length; ++k) mixed[k] = std::conj(times(made[k], kernel[k]));
    by_factors(length, mixed, 1, made, 1);
    for (int64_t t = 0; t < count; ++t)
      made[t] = times(std::conj(made[t]), chirp[t]) / static_cast<double>(length);
    return made;
  }
};

/// The spectrum of a row, completed by the conjugates.
void read_spectrum(const Irfft::Args& args, int64_t row, Complex* to) {
  const Irfft::Problem& p = args.problem;
  std::fill_n(to, p.count, Complex(0));
  float pair[2];
  for (int64_t k = 0; k < bins_read(p); ++k) {
    load_run(p.dtype, at(p.dtype, args.src, (row * p.bins + k) * 2), 1, 2, pair);
    if (is_single_bin(k, p.count)) {
      to[k] = pair[0];
    } else {
      to[k] = {pair[0], pair[1]};
      to[p.count - k] = {pair[0], -pair[1]};
    }
  }
}

void run_transforms(const Irfft::Args& args, const Launch& launch) {
  const Irfft::Problem& p = args.problem;
  const Transform transform(p.count, launch.workspace);
  Complex* own = transform.roots + transform.shared();
  transform.fill_tables(own);
  split(launch, args.rows, p.count * 16, [&](int64_t begin, int64_t end, int thread) {
    Complex* rows = own + transform.of_thread() * thread;
    for (int64_t row = begin; row < end; ++row) {
      read_spectrum(args, row, rows);
      const Complex* signal = transform(rows);
      float values[kRun];
      for (int64_t t = 0; t < p.count; t += kRun) {
        const int64_t n = std::min(kRun, p.count - t);
        for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(args.scale * signal[t + i].real());
        store_run(p.dtype, values, n, at(p.dtype, args.dst, row * p.count + t), 1);
      }
    }
  });
}

size_t transform_bytes(const Irfft::Problem& problem, const Machine&, int threads) {
  const Transform transform(problem.count);
  return static_cast<size_t>(transform.shared() + transform.of_thread() * threads) * sizeof(Complex);
}

}  // namespace

std::span<const Row<Irfft>> irfft_rows() {
  static const Row<Irfft> rows[] = {
      {.name = "cpu.transforms",
       .supports = on_any_machine<Irfft, ref::legal>,
       .run = run_transforms,
       .workspace = transform_bytes},
      {.name = "cpu.reference", .supports = on_any_machine<Irfft, ref::legal>, .run = ref::irfft},
  };
  return rows;
}

}  // namespace orrery::kernels
