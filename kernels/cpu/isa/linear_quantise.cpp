// Activations to 16 bits in two int8 halves: per block of 32 or 256 columns d = max |x| / 32639, number =
// round(x / d) = 256 high + low; see ActivationLayout.
//   One call is one token; the record's padding is zeroed so that kernels may read whole vectors.
//   NaN or infinity anywhere in a block makes its scale NaN, so that it is seen in the result.
//   traffic: cols * 4 bytes in, cols * 2.1 to 2.7 bytes out
#include "kernels/cpu/isa/linear_parts.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

/// The scale of n columns (a multiple of 32).
float block_scale(const float* src, int64_t n) {
  Vec most = set1(0.0F);
  Vec probe = set1(0.0F);  // 0 * x: NaN for NaN and infinity
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec x = load(src + i);
    most = max(abs(x), most);
    probe = fma(x, set1(0.0F), probe);
  }
  return largest(most) / kLargestActivation + sum(probe);
}

/// Numbers of kLanes columns, halved: number = 256 high + low with both in -128 .. 127.
ORRERY_INLINE void split(Vec x, float inverse, int8_t* high, int8_t* low) {
#if defined(ORRERY_ISA_AVX512)
  const __m512i number = _mm512_cvtps_epi32(x * set1(inverse));
  const __m512i upper = _mm512_srai_epi32(_mm512_add_epi32(number, _mm512_set1_epi32(128)), 8);
  const __m512i lower = _mm512_sub_epi32(number, _mm512_slli_epi32(upper, 8));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(high), _mm512_cvtepi32_epi8(upper));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low), _mm512_cvtepi32_epi8(lower));
#else
  const __m256i number = _mm256_cvtps_epi32(x * set1(inverse));
  const __m256i upper = _mm256_srai_epi32(_mm256_add_epi32(number, _mm256_set1_epi32(128)), 8);
  const __m256i lower = _mm256_sub_epi32(number, _mm256_slli_epi32(upper, 8));
  const auto store8 = [](int8_t* dst, __m256i words) {
    const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(dst), _mm_packs_epi16(half, half));
  };
  store8(high, upper);
  store8(low, lower);
#endif
}

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
ORRERY_INLINE Halves round16(const float* src, float inverse, int8_t* high, int8_t* low) {
  for (int i = 0; i < 16; i += kLanes) split(load(src + i), inverse, high + i, low + i);
  return {sum16(high), sum16(low)};
}

float inverse_of(float scale) { return scale > 0.0F ? 1.0F / scale : 0.0F; }

void quantise_b32(const float* src, int64_t cols, const ActivationLayout& layout, std::byte* record) {
  auto* high = reinterpret_cast<int8_t*>(record);
  auto* low = reinterpret_cast<int8_t*>(record + layout.low);
  auto* pairs = reinterpret_cast<float*>(record + layout.scales);
  auto* negated = reinterpret_cast<int32_t*>(record + layout.negated);
  for (int64_t b = 0; b < cols / 32; ++b) {
    const float scale = block_scale(src + 32 * b, 32);
    const float inverse = inverse_of(scale);
    int32_t total = 0;
    for (int64_t i = 32 * b; i < 32 * b + 32; i += 16) {
      const Halves sums = round16(src + i, inverse, high + i, low + i);
      total += 256 * sums.high + sums.low;
    }
    pairs[2 * b] = scale;
    pairs[2 * b + 1] = scale * static_cast<float>(total);
    negated[b] = -total;
  }
}

void quantise_b256(const float* src, int64_t cols, const ActivationLayout& layout, std::byte* record) {
  auto* high = reinterpret_cast<int8_t*>(record);
  auto* low = reinterpret_cast<int8_t*>(record + layout.low);
  auto* scales = reinterpret_cast<float*>(record + layout.scales);
  auto* negated = reinterpret_cast<int32_t*>(record + layout.negated);
  const auto sums_at = [&](size_t offset) { return reinterpret_cast<int16_t*>(record + offset); };
  for (int64_t b = 0; b < cols / 256; ++b) {
    const float scale = block_scale(src + 256 * b, 256);
    const float inverse = inverse_of(scale);
    scales[b] = scale;
    for (int64_t i = 16 * b; i < 16 * b + 16; ++i) {
      const Halves sums = round16(src + 16 * i, inverse, high + 16 * i, low + 16 * i);
      sums_at(layout.sums16)[i] = static_cast<int16_t>(sums.high);
      sums_at(layout.sums16_low)[i] = static_cast<int16_t>(sums.low);
      negated[i] = -(256 * sums.high + sums.low);
    }
  }
  for (int64_t i = 0; i < cols / 32; ++i) {
    const auto pair = [i](const int16_t* sums) {
      return static_cast<int16_t>(sums[2 * i] + sums[2 * i + 1]);
    };
    sums_at(layout.sums32)[i] = pair(sums_at(layout.sums16));
    sums_at(layout.sums32_low)[i] = pair(sums_at(layout.sums16_low));
  }
}

}  // namespace

void linear_quantise(ActivationBlock block, const float* src, int64_t cols, std::byte* record) {
  const ActivationLayout layout = activation_layout(block, cols);
  if (block == ActivationBlock::b256) return quantise_b256(src, cols, layout, record);
  std::memset(record + cols, 0, layout.low - static_cast<size_t>(cols));
  std::memset(record + layout.low + cols, 0, layout.scales - layout.low - static_cast<size_t>(cols));
  const size_t written = layout.scales + static_cast<size_t>(cols) / 32 * 2 * sizeof(float);
  std::memset(record + written, 0, layout.negated - written);
  quantise_b32(src, cols, layout, record);
}

}  // namespace orrery::kernels::ORRERY_ISA
