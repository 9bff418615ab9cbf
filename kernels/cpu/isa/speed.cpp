// Loops that show what one core can do at most: each keeps twelve sums, so that the next multiply-add never
// waits for the one before (latency 4, two a cycle), and all stay in registers.
//   owner: one call is one thread's work      traffic: sum_words reads its words once, the others nothing
#include "kernels/cpu/isa/speed.h"

#include "kernels/cpu/isa/simd.h"
#if defined(__AMX_BF16__)
#include "kernels/cpu/isa/tiles.h"
#endif

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int kSums = 12;

uint64_t sum_words(const uint64_t* data, size_t count) {
  constexpr int kWords = static_cast<int>(sizeof(Words) / sizeof(uint64_t)), kVectors = 32 / kWords;
  Words sums[kVectors] = {};
  for (size_t i = 0; i + 32 <= count; i += 32)
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) sums[k] = add_words(sums[k], load_words(data + i + k * kWords));
  uint64_t parts[32], sum = 0;
  std::memcpy(parts, sums, sizeof(parts));
  for (const uint64_t part : parts) sum += part;
  return sum;
}

/// `step(sum)` is one multiply-add onto a sum.
template <class Vector, class Step>
ORRERY_INLINE int run(int64_t rounds, Vector start, Step&& step) {
  Vector sums[kSums];
#pragma GCC unroll 12
  for (Vector& sum : sums) sum = start;
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (int k = 0; k < kSums; ++k) sums[k] = step(sums[k]);
  constexpr size_t kParts = kSums * sizeof(Vector) / sizeof(int32_t);
  int32_t parts[kParts], total = 0;
  std::memcpy(parts, sums, sizeof(parts));
  for (const int32_t part : parts) total ^= part;
  return total;
}

int multiply_f32(int64_t rounds) {
  const Vec a = set1(0.75F), b = set1(0.25F);
  return run(rounds, b, [&](Vec sum) { return fma(sum, a, b); });
}

#if defined(ORRERY_ISA_AVX512)

int multiply_int16(int64_t rounds) {
  const __m512i a = _mm512_set1_epi16(3);
#if defined(__AVX512VNNI__)
  return run(rounds, a, [&](__m512i sum) { return _mm512_dpwssd_epi32(sum, a, a); });
#else
  // The product depends on the sum, or it would be computed once.
  return run(rounds, a, [&](__m512i sum) { return _mm512_add_epi32(sum, _mm512_madd_epi16(a, sum)); });
#endif
}

#else

int multiply_int16(int64_t rounds) {
  const __m256i a = _mm256_set1_epi16(3);
#if defined(__AVXVNNI__)
  return run(rounds, a, [&](__m256i sum) { return _mm256_dpwssd_avx_epi32(sum, a, a); });
#else
  return run(rounds, a, [&](__m256i sum) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, sum)); });
#endif
}

#endif

#if defined(__AVX512VNNI__)
constexpr double kBytes = 64;
int multiply_int8(int64_t rounds) {
  const __m512i a = _mm512_set1_epi8(3);
  return run(rounds, a, [&](__m512i sum) { return _mm512_dpbusd_epi32(sum, a, a); });
}
#elif defined(__AVXVNNI__)
constexpr double kBytes = 32;
int multiply_int8(int64_t rounds) {
  const __m256i a = _mm256_set1_epi8(3);
  return run(rounds, a, [&](__m256i sum) { return _mm256_dpbusd_avx_epi32(sum, a, a); });
}
#else
constexpr double kBytes = 0;
constexpr int (*multiply_int8)(int64_t) = nullptr;
#endif

#if defined(__AMX_BF16__)
constexpr double kBf16Flops = 2.0 * kTileSums * kTileRows * kTileRows * kTileDepth;
/// Of zeros, which take no less time: the four sums of two tiles by two.
int multiply_bf16(int64_t rounds) {
  int32_t part[kTileRows * kTileRows];
  configure_tiles(tile_config(2, kTileRows));
  for (int64_t i = 0; i < rounds; ++i) {
    tile_multiply<0, 4, 6>();
    tile_multiply<1, 4, 7>();
    tile_multiply<2, 5, 6>();
    tile_multiply<3, 5, 7>();
  }
  tile_store<3>(part, kTileRowBytes);
  release_tiles();
  return part[0];
}
#elif defined(__AVX512BF16__)
constexpr double kBf16Flops = kSums * 2.0 * 2 * kLanes;
int multiply_bf16(int64_t rounds) {
  const __m512bh a = _mm512_cvtne2ps_pbh(set1(0.5F), set1(0.25F));
  return run(rounds, set1(1.0F), [&](Vec sum) { return _mm512_dpbf16_ps(sum, a, a); });
}
#else
constexpr double kBf16Flops = 0;
constexpr int (*multiply_bf16)(int64_t) = nullptr;
#endif

}  // namespace

const SpeedTable kSpeed = {
    sum_words,
    {multiply_f32, multiply_bf16, multiply_int16, multiply_int8},
    {kSums * 2.0 * kLanes, kBf16Flops, kSums * 2.0 * 2 * kLanes, kSums * 2.0 * kBytes}};

}  // namespace orrery::kernels::ORRERY_ISA
