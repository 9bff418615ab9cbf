// Activations to 16 bits in two int8 halves: per block of 32 or 256 columns d = max |x| / 32639, number =
// round(x / d) = 256 high + low; see ActivationLayout. Of 8 bits d = max |x| / 127, number = low.
//   One call is one token; the record's padding is zeroed so that kernels may read whole vectors.
//   NaN or infinity anywhere in a block makes its scale NaN, so that it is seen in the result.
//   traffic: cols * 4 bytes in, cols * 2.1 to 2.7 bytes out
#include "kernels/cpu/isa/linear_parts.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

/// The scale of n columns (a multiple of 32).
float block_scale(const float* src, int64_t n, float largest_number) {
  Vec most = set1(0.0F);
  Vec probe = set1(0.0F);  // 0 * x: NaN for NaN and infinity
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec x = load(src + i);
    most = max(abs(x), most);
    probe = fma(x, set1(0.0F), probe);
  }
  return largest(most) / largest_number + sum(probe);
}

#if defined(ORRERY_ISA_AVX512)
ORRERY_INLINE void store8(int8_t* dst, __m512i numbers) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm512_cvtepi32_epi8(numbers));
}
/// number = 256 upper + lower with both in -128 .. 127.
ORRERY_INLINE void split(__m512i number, int8_t* high, int8_t* low) {
  const __m512i upper = _mm512_srai_epi32(_mm512_add_epi32(number, _mm512_set1_epi32(128)), 8);
  store8(high, upper);
  store8(low, _mm512_sub_epi32(number, _mm512_slli_epi32(upper, 8)));
}
ORRERY_INLINE __m512i to_numbers(Vec x) { return _mm512_cvtps_epi32(x); }
#else
ORRERY_INLINE void store8(int8_t* dst, __m256i numbers) {
  const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(dst), _mm_packs_epi16(half, half));
}
/// number = 256 upper + lower with both in -128 .. 127.
ORRERY_INLINE void split(__m256i number, int8_t* high, int8_t* low) {
  const __m256i upper = _mm256_srai_epi32(_mm256_add_epi32(number, _mm256_set1_epi32(128)), 8);
  store8(high, upper);
  store8(low, _mm256_sub_epi32(number, _mm256_slli_epi32(upper, 8)));
}
ORRERY_INLINE __m256i to_numbers(Vec x) { return _mm256_cvtps_epi32(x); }
#endif

ORRERY_INLINE int32_t sum16(const int8_t* values) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
  const __m128i shifted = _mm_xor_si128(bytes, _mm_set1_epi8(-128));  // + 128, unsigned
  const __m128i sums = _mm_sad_epu8(shifted, _mm_setzero_si128());
  return _mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4) - 16 * 128;
}

struct Halves {
  int32_t high, low;  // sums
};

/// Writes 16 columns.
template <int halves>
ORRERY_INLINE Halves round16(const float* src, float inverse, int8_t* high, int8_t* low) {
  for (int i = 0; i < 16; i += kLanes) {
    const auto numbers = to_numbers(load(src + i) * set1(inverse));
    if constexpr (halves == 2) {
      split(numbers, high + i, low + i);
    } else {
      store8(low + i, numbers);
    }
  }
  return {halves == 2 ? sum16(high) : 0, sum16(low)};
}

float inverse_of(float scale) { return scale > 0.0F ? 1.0F / scale : 0.0F; }

template <int halves>
void quantise_b32(const float* src, int64_t cols, const ActivationLayout& layout, std::byte* record) {
  auto* high = reinterpret_cast<int8_t*>(record);
  auto* low = reinterpret_cast<int8_t*>(record + layout.low);
  auto* pairs = reinterpret_cast<float*>(record + layout.scales);
  auto* negated = reinterpret_cast<int32_t*>(record + layout.negated);
  for (int64_t b = 0; b < cols / 32; ++b) {
    const float scale = block_scale(src + 32 * b, 32, largest_activation(halves));
    const float inverse = inverse_of(scale);
    int32_t total = 0;
    for (int64_t i = 32 * b; i < 32 * b + 32; i += 16) {
      const Halves sums = round16<halves>(src + i, inverse, high + i, low + i);
      total += 256 * sums.high + sums.low;
    }
    pairs[2 * b] = scale;
    pairs[2 * b + 1] = scale * static_cast<float>(total);
    negated[b] = -total;
  }
}

template <int halves>
void quantise_b256(const float* src, int64_t cols, const ActivationLayout& layout, std::byte* record) {
  auto* high = reinterpret_cast<int8_t*>(record);
  auto* low = reinterpret_cast<int8_t*>(record + layout.low);
  auto* scales = reinterpret_cast<float*>(record + layout.scales);
  auto* negated = reinterpret_cast<int32_t*>(record + layout.negated);
  const auto sums_at = [&](size_t offset) { return reinterpret_cast<int16_t*>(record + offset); };
  for (int64_t b = 0; b < cols / 256; ++b) {
    const float scale = block_scale(src + 256 * b, 256, largest_activation(halves));
    const float inverse = inverse_of(scale);
    scales[b] = scale;
    for (int64_t i = 16 * b; i < 16 * b + 16; ++i) {
      const Halves sums = round16<halves>(src + 16 * i, inverse, high + 16 * i, low + 16 * i);
      if constexpr (halves == 2) sums_at(layout.sums16)[i] = static_cast<int16_t>(sums.high);
      sums_at(layout.sums16_low)[i] = static_cast<int16_t>(sums.low);
      negated[i] = -(256 * sums.high + sums.low);
    }
  }
  for (int64_t i = 0; i < cols / 32; ++i) {
    const auto pair = [i](const int16_t* sums) {
      return static_cast<int16_t>(sums[2 * i] + sums[2 * i + 1]);
    };
    if constexpr (halves == 2) sums_at(layout.sums32)[i] = pair(sums_at(layout.sums16));
    sums_at(layout.sums32_low)[i] = pair(sums_at(layout.sums16_low));
  }
}

template <int halves>
void quantise(ActivationBlock block, const float* src, int64_t cols, std::byte* record) {
  const ActivationLayout layout = activation_layout(block, cols, halves);
  if (block == ActivationBlock::b256) return quantise_b256<halves>(src, cols, layout, record);
  const auto columns = static_cast<size_t>(cols);
  if constexpr (halves == 2) std::memset(record + cols, 0, layout.low - columns);
  std::memset(record + layout.low + columns, 0, layout.scales - layout.low - columns);
  const size_t written = layout.scales + columns / 32 * 2 * sizeof(float);
  std::memset(record + written, 0, layout.negated - written);
  quantise_b32<halves>(src, cols, layout, record);
}

}  // namespace

void linear_quantise(ActivationBlock block, int halves, const float* src, int64_t cols, std::byte* record) {
  if (halves == 1) return quantise<1>(block, src, cols, record);
  quantise<2>(block, src, cols, record);
}

}  // namespace orrery::kernels::ORRERY_ISA
