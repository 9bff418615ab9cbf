// What attention over whole tensors does with one row of scores, forward and backward, in float32 whatever
// the products round: bending, bias, who is seen, dropout. And products whose weights are often zero.
#pragma once

#include "kernels/cpu/isa/attention_softmax.h"
#include "kernels/cpu/isa/dropout_mask.h"
#include "kernels/cpu/isa/flash_attention.h"

namespace orrery::kernels::ORRERY_ISA {

/// body.operator()<format>(), as a constant; of elements, not of blocks.
template <class Body>
ORRERY_INLINE void with_format(KvFormat format, Body&& body) {
  if (format == KvFormat::f32) return body.template operator()<KvFormat::f32>();
  if (format == KvFormat::f16) return body.template operator()<KvFormat::f16>();
  body.template operator()<KvFormat::bf16>();
}

ORRERY_INLINE int64_t element_bytes(KvFormat format) { return format == KvFormat::f32 ? 4 : 2; }

template <KvFormat kFormat>
ORRERY_INLINE float float_of(uint16_t half) {
  if constexpr (kFormat == KvFormat::f16) return _cvtsh_ss(half);
  const uint32_t word = static_cast<uint32_t>(half) << 16;
  float value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

template <KvFormat kFormat>
ORRERY_INLINE void store_elements(void* row, int64_t at, Vec x, int64_t n) {
  if constexpr (kFormat == KvFormat::f32) {
    float* to = static_cast<float*>(row) + at;
    n >= kLanes ? store(to, x) : store_part(to, x, n);
  } else {
    uint16_t* to = static_cast<uint16_t*>(row) + at;
    uint16_t part[kLanes];
    uint16_t* first = n >= kLanes ? to : part;
    kFormat == KvFormat::f16 ? store_f16(first, x) : store_bf16(first, x);
    if (n < kLanes) __builtin_memcpy(to, part, static_cast<size_t>(n) * sizeof(uint16_t));
  }
}

/// n elements from `at` on, `step` apart.
ORRERY_INLINE Vec load_steps(KvFormat format, const void* row, int64_t at, int64_t step, int64_t n) {
  const auto* base = static_cast<const std::byte*>(row);
  Vec x;
  with_format(
      format, [&]<KvFormat kFormat>() __attribute__((always_inline)) {
        if (step == 1) {
          x = load_elements<kFormat>(base, at, n);
          return;
        }
        float lanes[kLanes] = {};
        for (int64_t i = 0; i < n && i < kLanes; ++i) {
          if constexpr (kFormat == KvFormat::f32)
            lanes[i] = reinterpret_cast<const float*>(base)[(at + i) * step];
          else
            lanes[i] = float_of<kFormat>(reinterpret_cast<const uint16_t*>(base)[(at + i) * step]);
        }
        x = load(lanes);
      });
  return x;
}

/// Lanes whose byte, of n from `at` on that lie `step` apart, is not 0.
ORRERY_INLINE Mask set_bytes(const uint8_t* row, int64_t at, int64_t step, int64_t n) {
  uint8_t bytes[kLanes] = {};
  const uint8_t* from = row + at;
  if (step != 1 || n < kLanes) {
    for (int64_t i = 0; i < n && i < kLanes; ++i) bytes[i] = row[(at + i) * step];
    from = bytes;
  }
#if defined(ORRERY_ISA_AVX512)
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm_test_epi8_mask(x, x);
#else
  const __m256i x = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(x, _mm256_setzero_si256()));
#endif
}

/// scale query . key of the keys [begin, begin + count) to scores, in place: -infinity where nothing is seen.
/// Where slopes are asked for and there is a softcap: of the scores by what they were.
template <int kVectors>
ORRERY_INLINE void score_row(const FlashUnit& unit, const FlashRow& row, int64_t begin, int64_t count,
                             Vec (&s)[kVectors], Vec* slope = nullptr) {
  if (unit.softcap > 0)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Vec bent = tanh(s[v] * set1(1.0F / unit.softcap));
      if (slope != nullptr) slope[v] = fnma(bent, bent, set1(1.0F));
      s[v] = set1(unit.softcap) * bent;
    }
  if (row.bias != nullptr)
    for (int v = 0; v < kVectors; ++v)
      s[v] = s[v] + load_steps(unit.bias, row.bias, begin + v * kLanes, unit.bias_step, count - v * kLanes);
  const int64_t low = row.low - begin, high = row.high - begin;
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const int64_t first = v * kLanes;
    if (low > first || high < first + kLanes)
      s[v] = select(lanes_between(low - first, high - first), s[v], set1(kMinusInfinity));
  }
  if (row.mask != nullptr)
    for (int v = 0; v < kVectors; ++v)
      s[v] = select(set_bytes(row.mask, begin + v * kLanes, unit.mask_step, count - v * kLanes), s[v],
                    set1(kMinusInfinity));
}

/// What the weights of a row are multiplied by for the keys of the tile from `begin` on.
ORRERY_INLINE void draw_factors(const FlashUnit& unit, const FlashRow& row, int64_t begin,
                                float (&factors)[kTileKeys]) {
  DropoutRow drawn = unit.dropout;
  drawn.row = row.number;
  drawn.factors = factors;
  for (int64_t c = 0; c < kTileKeys; c += 4 * kLanes) mask_block(drawn, (begin + c) / 4, factors + c);
}

/// Whether each row sees and keeps all of the keys [begin, begin + count).
inline bool sees_all(const FlashUnit& unit, int64_t begin, int64_t count) {
  if (unit.dropout.drops || unit.row[0].mask != nullptr) return false;
  for (int64_t r = 0; r < unit.rows; ++r)
    if (unit.row[r].low > begin || unit.row[r].high < begin + count) return false;
  return true;
}

/// Rows of the unit's tile as it walks over keys [.., end) (attention_unit.h).
inline AttentionUnit walk_of(const FlashUnit& unit, int64_t end) {
  AttentionUnit walk = {};
  walk.rows = walk.step_rows = unit.rows;
  walk.group = 1;
  walk.head_dim = unit.head_dim;
  walk.length = end;
  walk.keys = unit.keys;
  return walk;
}

/// dst[r] = of(row r) times the factor, `width` floats apart, and zero behind head_dim as far as they go.
template <class Of>
void load_unit_rows(const FlashUnit& unit, float factor, float* dst, int64_t width, Of&& of) {
  with_format(
      unit.keys.format, [&]<KvFormat kFormat>() __attribute__((always_inline)) {
        for (int64_t r = 0; r < unit.rows; ++r) {
          const auto* src = static_cast<const std::byte*>(of(unit.row[r]));
          for (int64_t d = 0; d < width; d += kLanes) {
            const int64_t left = unit.head_dim - d;
            const Vec x = left > 0 ? load_elements<kFormat>(src, d, left) * set1(factor) : set1(0.0F);
            width - d >= kLanes ? store(dst + r * width + d, x)
                                : store_part(dst + r * width + d, x, width - d);
          }
        }
      });
}

/// row(r) = src[r] times factor(r), in the type of the unit's keys.
template <class RowOf, class FactorOf>
void store_unit_rows(const FlashUnit& unit, int64_t rows, const float* src, RowOf&& row, FactorOf&& factor) {
  const int64_t padded = padded_dim(unit.head_dim);
  with_format(
      unit.keys.format, [&]<KvFormat kFormat>() __attribute__((always_inline)) {
        for (int64_t r = 0; r < rows; ++r) {
          const Vec f = set1(factor(r));
          for (int64_t d = 0; d < unit.head_dim; d += kLanes)
            store_elements<kFormat>(row(r), d, load(src + r * padded + d) * f, unit.head_dim - d);
        }
      });
}

/// out = total / sum, zero for rows that saw nothing.
inline void finish_flash(const FlashUnit& unit, const AttentionState& state) {
  store_unit_rows(
      unit, unit.rows, state.total, [&](int64_t r) { return unit.row[r].out; },
      [&](int64_t r) {
        return state.sum[r] > 0 || state.sum[r] != state.sum[r] ? 1.0F / state.sum[r] : 0.0F;
      });
}

}  // namespace orrery::kernels::ORRERY_ISA
