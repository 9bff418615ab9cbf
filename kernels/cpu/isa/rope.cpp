// Rotation of one token's heads, and the cosines and sines that all of its heads share; formula in rope.h.
//   layout: heads contiguous, head_dim floats each; tables of rope_dims / 2 (interleaved: each value twice)
//   angles: position * turns in float64, whole turns taken off before rounding, so exact for any position
//   one call is one thread's work; dst may be src
//   traffic: each head is read and written once, the tables stay in L1
#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/isa/simd_math.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

void put(const float* values, int64_t n, int copies, float* dst) {
  for (int64_t i = 0; i < n; ++i) {
    for (int c = 0; c < copies; ++c) dst[i * copies + c] = values[i];
  }
}

void angles(const double* turns, double position, int64_t pairs, int copies, float* cosine, float* sine) {
  const Wide at = wide_set1(position);
  for (int64_t i = 0; i < pairs; i += kLanes) {
    const int64_t n = pairs - i < kLanes ? pairs - i : kLanes;
    double part[kLanes] = {};
    for (int64_t j = 0; j < n; ++j) part[j] = turns[i + j];
    const Wide low = wide_load(part) * at;
    const Wide high = wide_load(part + kWideLanes) * at;
    Vec sines;
    Vec cosines;
    sin_cos_turns(narrow(low - wide_round(low), high - wide_round(high)), sines, cosines);
    float values[2][kLanes];
    store(values[0], cosines);
    store(values[1], sines);
    put(values[0], n, copies, cosine + i * copies);
    put(values[1], n, copies, sine + i * copies);
  }
}

void copy_rest(const RopeToken& token, const float* src, float* dst) {
  if (src == dst) return;
  for (int64_t i = token.rope_dims; i < token.head_dim; ++i) dst[i] = src[i];
}

/// Pairs lie side by side: x c + swapped(x) s with the sign of s alternating.
void rotate_interleaved(const RopeToken& token) {
  for (int64_t h = 0; h < token.heads; ++h) {
    const float* src = token.src + h * token.head_dim;
    float* dst = token.dst + h * token.head_dim;
    each_vector(token.rope_dims, [&](auto read, auto write) {
      const Vec x = read(src);
      write(dst, fma_sub_add(x, read(token.cosine), swap_pairs(x) * read(token.sine)));
    });
    copy_rest(token, src, dst);
  }
}

void rotate_half(const RopeToken& token) {
  const int64_t pairs = token.rope_dims / 2;
  for (int64_t h = 0; h < token.heads; ++h) {
    const float* src = token.src + h * token.head_dim;
    float* dst = token.dst + h * token.head_dim;
    each_vector(pairs, [&](auto read, auto write) {
      const Vec x = read(src);
      const Vec y = read(src + pairs);
      const Vec c = read(token.cosine);
      const Vec s = read(token.sine);
      write(dst, fmsub(x, c, y * s));
      write(dst + pairs, fma(x, s, y * c));
    });
    copy_rest(token, src, dst);
  }
}

}  // namespace

const RopeTable kRope = {angles, rotate_interleaved, rotate_half};

}  // namespace orrery::kernels::ORRERY_ISA
