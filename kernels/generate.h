// Elements that follow from their place alone, i = 0, 1, ..:
//   range     of floats start + i step in float64, of whole numbers first + i stride in 64 bits
//   uniform   low + u (high - low), u = k 2^-24 in [0, 1)
//   gaussian  mean + z deviation, by pairs (Box and Muller, 1958), a = (v + 1) 2^-32, b = w 2^-32:
//             z = sqrt(-2 ln a) cos(2 pi b), and of the next element sqrt(-2 ln a) sin(2 pi b)
// with k, v and w of Philox4x32-10 (Salmon et al., SC 2011), whose key is the seed, at counter (i / 4,
// stream): k the word i % 4 without its low 8 bits, v and w its first two words, or its last two. So an
// element depends on the seed and its place only, not on who draws it. Computed in float64 by sums, products,
// quotients and roots that are each rounded once, which every device does alike, and rounded to float32 and
// then to the type: the same bits everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/each_rounded.h"
#include "kernels/philox.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Generate {
  static constexpr std::string_view kName = "generate";
  enum class Function : uint8_t { range, uniform, gaussian };
  struct Problem {
    Function function = Function::range;
    DType dtype = DType::f32;
  };
  struct Args {
    Problem problem;
    int64_t count = 0;
    double a = 0, b = 0;            // start and step; low and high; mean and deviation
    int64_t first = 0, stride = 0;  // of a range of whole numbers
    uint64_t seed = 0;
    void* dst = nullptr;
  };
};
inline constexpr std::string_view kGenerateNames[] = {"range", "uniform", "gaussian"};

/// Draws of one seed for different purposes have different counters.
inline constexpr uint32_t kUniformStream = 0x756e6966, kGaussianStream = 0x67617573;

/// Four words, for the elements from 4 group on.
ORRERY_HOST_DEVICE_INLINE void random_words(uint64_t seed, uint32_t stream, int64_t group,
                                            uint32_t (&four)[4]) {
  four[0] = static_cast<uint32_t>(group);
  four[1] = static_cast<uint32_t>(static_cast<uint64_t>(group) >> 32);
  four[2] = stream;
  four[3] = 0;
  philox_rounds(four, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

/// ln((v + 1) 2^-32): with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1), ln m = 2 (s + s^3 / 3 + .. +
/// s^19 / 19).
ORRERY_HOST_DEVICE_INLINE double log_of_share(uint32_t v) {
  constexpr double kLn2 = 0.693147180559945309417, kRoot2 = 1.41421356237309504880;
  double m = static_cast<double>(v) + 1.0;
  int exponent = -32;
  for (int half = 32; half > 0; half /= 2) {  // m to [1, 2)
    const double power = static_cast<double>(uint64_t{1} << half);
    if (m >= power) {
      m = EachRounded::mul(m, 1.0 / power);
      exponent += half;
    }
  }
  if (m >= kRoot2) {
    m = EachRounded::mul(m, 0.5);
    ++exponent;
  }
  const double s = (m - 1.0) / EachRounded::add(m, 1.0), square = EachRounded::mul(s, s);
  double sum = 1.0 / 19;
  for (int k = 17; k > 0; k -= 2) sum = EachRounded::add(EachRounded::mul(sum, square), 1.0 / k);
  return EachRounded::add(EachRounded::mul(static_cast<double>(exponent), kLn2),
                          EachRounded::mul(2.0, EachRounded::mul(s, sum)));
}

/// Cosine and sine of 2 pi w 2^-32, by their series in the quarter turn that is nearest.
ORRERY_HOST_DEVICE_INLINE void turned(uint32_t w, double& cosine, double& sine) {
  constexpr double kHalfPi = 1.57079632679489661923;
  const uint32_t quarter = (w + (uint32_t{1} << 29)) >> 30;
  const auto rest = static_cast<int32_t>(w - (quarter << 30));  // of a quarter turn, in [-1/2, 1/2)
  const double x = EachRounded::mul(EachRounded::mul(static_cast<double>(rest), 0x1p-30), kHalfPi),
               square = EachRounded::mul(x, x);
  double c = 1, s = 1;
  for (int k = 9; k > 0; --k) {
    c = EachRounded::add(1.0, -EachRounded::mul(EachRounded::mul(square, c), 1.0 / ((2 * k - 1) * (2 * k))));
    s = EachRounded::add(1.0, -EachRounded::mul(EachRounded::mul(square, s), 1.0 / ((2 * k) * (2 * k + 1))));
  }
  s = EachRounded::mul(s, x);
  const bool swaps = (quarter & 1) != 0;
  cosine = swaps ? s : c;
  sine = swaps ? c : s;
  if (quarter == 1 || quarter == 2) cosine = -cosine;
  if (quarter == 2 || quarter == 3) sine = -sine;
}

/// Elements [4 group, 4 group + 4) of uniform and gaussian.
ORRERY_HOST_DEVICE_INLINE void generated_floats(const Generate::Args& args, int64_t group, float (&four)[4]) {
  uint32_t words[4];
  const bool uniform = args.problem.function == Generate::Function::uniform;
  random_words(args.seed, uniform ? kUniformStream : kGaussianStream, group, words);
  if (uniform) {
    const double width = EachRounded::add(args.b, -args.a);
    for (int i = 0; i < 4; ++i)
      four[i] = static_cast<float>(
          EachRounded::add(args.a, EachRounded::mul(static_cast<double>(words[i] >> 8) * 0x1p-24, width)));
    return;
  }
  for (int pair = 0; pair < 2; ++pair) {
    double cosine, sine;
    turned(words[2 * pair + 1], cosine, sine);
    const double radius =
        EachRounded::mul(sqrt(EachRounded::mul(-2.0, log_of_share(words[2 * pair]))), args.b);
    four[2 * pair] = static_cast<float>(EachRounded::add(args.a, EachRounded::mul(radius, cosine)));
    four[2 * pair + 1] = static_cast<float>(EachRounded::add(args.a, EachRounded::mul(radius, sine)));
  }
}

/// Element i of a range. T: float or int64_t.
template <class T>
ORRERY_HOST_DEVICE_INLINE T in_range(const Generate::Args& args, int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(args.first) +
                          static_cast<uint64_t>(i) * static_cast<uint64_t>(args.stride));
  else
    return static_cast<T>(EachRounded::add(args.a, EachRounded::mul(static_cast<double>(i), args.b)));
}

std::span<const Row<Generate>> generate_rows();
namespace cuda {
std::span<const Row<Generate>> generate_rows();
}
namespace ref {
void generate(const Generate::Args& args, const Launch& launch);
std::string legal(const Generate::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
