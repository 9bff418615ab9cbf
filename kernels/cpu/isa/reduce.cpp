// Reductions of one row of logits: argmax, sum of exponentials, all logits over a threshold.
//   NaN counts as -infinity, +infinity as the largest float      accumulation: float64 lanes
//   one call is one thread's work; each reads the row once (4 bytes a logit)
#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/isa/simd_math.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr float kLargest = __FLT_MAX__;

/// NaN to -infinity (max keeps its second argument where the first is NaN), +infinity to the largest float.
ORRERY_INLINE Vec clean(Vec x) { return min(max(x, set1(-__builtin_inff())), set1(kLargest)); }

ORRERY_INLINE float clean(float x) {
  if (x != x) return -__builtin_inff();
  return x > kLargest ? kLargest : x;
}

float block_maxima(const float* logits, int64_t n, float* maxima) {
  static_assert(ReduceTable::kBlock % (2 * kLanes) == 0);
  Vec best = set1(-__builtin_inff());
  const int64_t whole = n / ReduceTable::kBlock;
  for (int64_t b = 0; b < whole; ++b) {
    const float* block = logits + b * ReduceTable::kBlock;
    Vec even = clean(load(block));
    Vec odd = clean(load(block + kLanes));
    for (int64_t i = 2 * kLanes; i < ReduceTable::kBlock; i += 2 * kLanes) {
      even = max(even, clean(load(block + i)));
      odd = max(odd, clean(load(block + i + kLanes)));
    }
    even = max(even, odd);
    maxima[b] = largest(even);
    best = max(best, even);
  }
  float result = largest(best);
  if (whole * ReduceTable::kBlock == n) return result;
  float rest = -__builtin_inff();
  for (int64_t i = whole * ReduceTable::kBlock; i < n; ++i) {
    const float x = clean(logits[i]);
    rest = x > rest ? x : rest;
  }
  maxima[whole] = rest;
  return rest > result ? rest : result;
}

int32_t find(const float* logits, int64_t n, float wanted) {
  const Vec target = set1(wanted);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const uint32_t hit = bits(equal(clean(load(logits + i)), target));
    if (hit != 0) return static_cast<int32_t>(i + __builtin_ctz(hit));
  }
  for (; i < n; ++i) {
    if (clean(logits[i]) == wanted) return static_cast<int32_t>(i);
  }
  return -1;
}

double sum_exp(const float* logits, int64_t n, float top, float inverse_temperature) {
  const Vec shift = set1(top);
  const Vec factor = set1(inverse_temperature);
  Wide total = wide_set1(0);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    total = total + widen_halves(exp((clean(load(logits + i)) - shift) * factor));
  }
  if (i < n) {
    float part[kLanes];
    for (int j = 0; j < kLanes; ++j) part[j] = i + j < n ? logits[i + j] : -__builtin_inff();
    total = total + widen_halves(exp((clean(load(part)) - shift) * factor));
  }
  return wide_sum(total);
}

/// Floats in descending order have ascending keys; 0 and -0 are one value, so that their ids decide.
RankKey key_of(float logit, int64_t id) {
  const float value = logit + 0.0F;
  uint32_t word;
  __builtin_memcpy(&word, &value, sizeof word);
  const uint32_t ascending = (word & 0x80000000U) != 0 ? ~word : word | 0x80000000U;
  return static_cast<RankKey>(~ascending) << 32 | static_cast<uint32_t>(id);
}

int64_t collect(const float* logits, int64_t n, float threshold, RankKey* keys) {
  const Vec limit = set1(threshold);
  int64_t found = 0;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    uint32_t hit = bits(less_equal(limit, clean(load(logits + i))));
    for (; hit != 0; hit &= hit - 1) {
      const int64_t id = i + __builtin_ctz(hit);
      keys[found++] = key_of(clean(logits[id]), id);
    }
  }
  for (; i < n; ++i) {
    if (clean(logits[i]) >= threshold) keys[found++] = key_of(clean(logits[i]), i);
  }
  return found;
}

}  // namespace

const ReduceTable kReduce = {block_maxima, find, sum_exp, collect};

}  // namespace orrery::kernels::ORRERY_ISA
