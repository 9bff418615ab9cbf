// What attention by a softmax does between its two products, in float32 whatever these round: the running
// softmax, chunks of keys merged in order.
#pragma once

#include "kernels/cpu/isa/attention_unit.h"
#include "kernels/cpu/isa/simd_math.h"

namespace orrery::kernels::ORRERY_ISA {

inline float exp_of(float x) {
  float lanes[kLanes];
  store(lanes, exp(set1(x)));
  return lanes[0];
}

inline void scale_row(float* row, int64_t n, float factor) {
  const Vec f = set1(factor);
  for (int64_t i = 0; i < n; i += kLanes) store(row + i, load(row + i) * f);
}

/// Adds what row r has by distance for the keys from `begin` on.
template <int kVectors>
ORRERY_INLINE void add_bias(const AttentionUnit& unit, int64_t r, int64_t begin, Vec (&scores)[kVectors]) {
  const int64_t row = unit.first_row + r;
  const int64_t reach = unit.bias_reach;
  const float* bias = unit.bias + row % unit.group * (2 * reach + 1);
  int64_t distance = begin - (unit.first_position + row / unit.group);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v, distance += kLanes) {
    if (distance >= -reach && distance + kLanes - 1 <= reach) {
      scores[v] = scores[v] + load(bias + distance);
      continue;
    }
    float lanes[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t at = distance + i;
      lanes[i] = bias[at < -reach ? -reach : at > reach ? reach : at];
    }
    scores[v] = scores[v] + load(lanes);
  }
}

/// Whether all scores are -infinity; where some are NaN, the largest may be -infinity too.
template <int kVectors>
ORRERY_INLINE bool sees_nothing(const Vec (&s)[kVectors]) {
  uint32_t nothing = (1U << kLanes) - 1;
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) nothing &= bits(equal(s[v], set1(kMinusInfinity)));
  return nothing == (1U << kLanes) - 1;
}

/// Scores of row r, -infinity where it sees nothing, to weights, in place; the row's state follows.
template <int kVectors>
ORRERY_INLINE void weigh_scores(Vec (&s)[kVectors], int64_t r, int64_t padded, const AttentionState& state) {
  Vec best = set1(kMinusInfinity);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) best = max(best, s[v]);
  const float before = state.largest[r];
  const float top = largest(best);
  if (top == kMinusInfinity && sees_nothing(s)) {  // weights of zero leave the row as it is
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) s[v] = set1(0.0F);
    return;
  }
  const float now = top > before ? top : before;
  Vec added = set1(0.0F);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    s[v] = exp(s[v] - set1(now));
    added = added + s[v];
  }
  if (now != before) {
    if (before != kMinusInfinity) {  // else there are zeros
      const float shrink = exp_of(before - now);
      scale_row(state.total + r * padded, padded, shrink);
      state.sum[r] *= shrink;
    }
    state.largest[r] = now;
  }
  state.sum[r] += sum(added);
}

/// Scores of one row for the keys from `begin` on to weights, in place; the row's state follows.
template <int kVectors>
ORRERY_INLINE void weigh(const AttentionUnit& unit, Span seen, int64_t begin, Vec (&s)[kVectors], int64_t r,
                         const AttentionState& state) {
  if (unit.softcap > 0)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) s[v] = set1(unit.softcap) * tanh(s[v] * set1(1.0F / unit.softcap));
  if (unit.bias != nullptr) add_bias(unit, r, begin, s);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const int64_t first = v * kLanes;
    if (seen.low > first || seen.high < first + kLanes) {
      s[v] = select(lanes_between(seen.low - first, seen.high - first), s[v], set1(kMinusInfinity));
    }
  }
  weigh_scores(s, r, padded_dim(unit.head_dim), state);
}

/// body.operator()<n>() for the vectors that hold `keys` scores, as a constant.
template <class Body>
ORRERY_INLINE void with_vectors(int64_t keys, Body&& body) {
  switch ((keys + kLanes - 1) / kLanes) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    default:
      break;
  }
  if constexpr (kTileVectors == 8) switch ((keys + kLanes - 1) / kLanes) {
      case 5:
        return body.template operator()<5>();
      case 6:
        return body.template operator()<6>();
      case 7:
        return body.template operator()<7>();
      default:
        return body.template operator()<8>();
    }
}

inline void merge(int64_t rows, int64_t head_dim, const AttentionState& into, const AttentionState& next) {
  const int64_t padded = padded_dim(head_dim);
  for (int64_t r = 0; r < rows; ++r) {
    if (next.largest[r] == kMinusInfinity) continue;
    const float top = into.largest[r] > next.largest[r] ? into.largest[r] : next.largest[r];
    const float keep = exp_of(into.largest[r] - top);
    const float take = exp_of(next.largest[r] - top);
    into.largest[r] = top;
    into.sum[r] = into.sum[r] * keep + next.sum[r] * take;
    float* total = into.total + r * padded;
    const float* more = next.total + r * padded;
    for (int64_t d = 0; d < padded; d += kLanes) {
      store(total + d, fma(load(total + d), set1(keep), load(more + d) * set1(take)));
    }
  }
}

}  // namespace orrery::kernels::ORRERY_ISA
