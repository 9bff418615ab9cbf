// Activations to int8: per block of 32 or 256 columns d = max |x| / 127, value = round(x / d); see
// ActivationLayout.
//   One call is one token; the record's padding is zeroed so that kernels may read whole vectors.
//   NaN anywhere in a block makes its scale NaN, so that it is seen in the result.
//   traffic: cols * 4 bytes in, cols * 1.1 to 1.4 bytes out
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
  return largest(most) / 127.0F + sum(probe);
}

ORRERY_INLINE void store_i8(int8_t* dst, Vec rounded) {
#if defined(ORRERY_ISA_AVX512)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(rounded)));
#else
  const __m256i words = _mm256_cvtps_epi32(rounded);
  const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(dst), _mm_packs_epi16(half, half));
#endif
}

/// Writes 16 values and returns their sum.
ORRERY_INLINE int32_t round16(const float* src, float inverse, int8_t* dst) {
  for (int i = 0; i < 16; i += kLanes) store_i8(dst + i, round(load(src + i) * set1(inverse)));
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(dst));
  const __m128i shifted = _mm_xor_si128(bytes, _mm_set1_epi8(-128));  // + 128, unsigned
  const __m128i sums = _mm_sad_epu8(shifted, _mm_setzero_si128());
  return _mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4) - 16 * 128;
}

float inverse_of(float scale) { return scale > 0.0F ? 1.0F / scale : 0.0F; }

void quantise_b32(const float* src, int64_t cols, const ActivationLayout& layout, std::byte* record) {
  auto* values = reinterpret_cast<int8_t*>(record);
  auto* pairs = reinterpret_cast<float*>(record + layout.scales);
  auto* negated = reinterpret_cast<int32_t*>(record + layout.negated);
  for (int64_t b = 0; b < cols / 32; ++b) {
    const float scale = block_scale(src + 32 * b, 32);
    const float inverse = inverse_of(scale);
    const int32_t total = round16(src + 32 * b, inverse, values + 32 * b) +
                          round16(src + 32 * b + 16, inverse, values + 32 * b + 16);
    pairs[2 * b] = scale;
    pairs[2 * b + 1] = scale * static_cast<float>(total);
    negated[b] = -total;
  }
}

void quantise_b256(const float* src, int64_t cols, const ActivationLayout& layout, std::byte* record) {
  auto* values = reinterpret_cast<int8_t*>(record);
  auto* scales = reinterpret_cast<float*>(record + layout.scales);
  auto* sums16 = reinterpret_cast<int16_t*>(record + layout.sums16);
  auto* sums32 = reinterpret_cast<int16_t*>(record + layout.sums32);
  auto* negated = reinterpret_cast<int32_t*>(record + layout.negated);
  for (int64_t b = 0; b < cols / 256; ++b) {
    const float scale = block_scale(src + 256 * b, 256);
    const float inverse = inverse_of(scale);
    scales[b] = scale;
    for (int64_t i = 16 * b; i < 16 * b + 16; ++i) {
      const int32_t total = round16(src + 16 * i, inverse, values + 16 * i);
      sums16[i] = static_cast<int16_t>(total);
      negated[i] = -total;
    }
    for (int64_t i = 8 * b; i < 8 * b + 8; ++i) {
      sums32[i] = static_cast<int16_t>(sums16[2 * i] + sums16[2 * i + 1]);
    }
  }
}

}  // namespace

void linear_quantise(ActivationBlock block, const float* src, int64_t cols, std::byte* record) {
  const ActivationLayout layout = activation_layout(block, cols);
  if (block == ActivationBlock::b256) return quantise_b256(src, cols, layout, record);
  std::memset(record + cols, 0, layout.scales - static_cast<size_t>(cols));
  const size_t written = layout.scales + static_cast<size_t>(cols) / 32 * 2 * sizeof(float);
  std::memset(record + written, 0, layout.negated - written);
  quantise_b32(src, cols, layout, record);
}

}  // namespace orrery::kernels::ORRERY_ISA
