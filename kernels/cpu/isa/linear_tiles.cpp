// Quantised sums for many tokens (AVX-512 VNNI): the same sums as linear_quant.cpp, in another order of
// float32 adds.
//   A panel of 32 weight rows is unpacked once (linear_panel.h, linear_panel_k.h) and stays in L2; then tiles
//   of kTileTokens x 32 rows: an inner step is two loads, one broadcast a token and two vpdpbusd a token.
//   Integer sums start at minus offset times the sum of the activations, so the weights' offset costs
//   nothing. Weight scales are applied per sub-block, activation scales per block of 32 or 256. One call is
//   one thread's rows. A token's sum depends on no other token. traffic: weights once; activations (cols
//   bytes a token) once per panel, from cache
#include "kernels/cpu/isa/linear_panel_k.h"
#include "kernels/cpu/isa/linear_rows.h"

namespace orrery::kernels::ORRERY_ISA {

#if defined(ORRERY_ISA_AVX512)
namespace {

constexpr int kTileTokens =
    6;  // 12 int32 and 12 block sums of 32 registers; totals of 256 columns spill, cheaply

template <int tokens>
struct Sums {
  __m512 v[tokens][2];
};

/// sum += u8 weights times one half of the activations, `groups` x 4 columns from column 4 * group on.
template <int tokens, int groups>
ORRERY_INLINE void dot_half(const Panel& panel, const int8_t* const (&x)[tokens], int64_t group,
                            __m512i (&sum)[tokens][2]) {
#pragma GCC unroll 16
  for (int g = 0; g < groups; ++g) {
    const __m512i w0 = _mm512_loadu_si512(panel.bytes + (group + g) * 128);
    const __m512i w1 = _mm512_loadu_si512(panel.bytes + (group + g) * 128 + 64);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      int four;
      std::memcpy(&four, x[t] + 4 * (group + g), sizeof four);
      const __m512i pairs = _mm512_set1_epi32(four);
      sum[t][0] = _mm512_dpbusd_epi32(sum[t][0], w0, pairs);
      sum[t][1] = _mm512_dpbusd_epi32(sum[t][1], w1, pairs);
    }
  }
}

/// Minus the sum of sub-block `sub` of the activations.
template <class Format>
ORRERY_INLINE int32_t negated_sum(const auto& acts, int t, int64_t sub) {
  const int32_t* sums = acts.negated(t);  // of 16 columns in records of 256, else of 32
  if constexpr (Format::kWide && Format::kSub == 32) return sums[2 * sub] + sums[2 * sub + 1];
  return sums[sub];
}

/// Integer sums of one sub-block: 256 * high + low, less the weights' offset times the sum of the
/// activations.
template <class Format, int tokens, int halves>
ORRERY_INLINE void dot(const Panel& panel, const Activations<halves>& acts, int64_t sub,
                       __m512i (&sum)[tokens][2]) {
  constexpr int kGroups = Format::kSub / 4;
  const int8_t* high[tokens];
  const int8_t* low[tokens];
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
    high[t] = acts.high(t);
    low[t] = acts.low(t);
    sum[t][0] = sum[t][1] = _mm512_setzero_si512();
  }
  if constexpr (halves == 2) dot_half<tokens, kGroups>(panel, high, kGroups * sub, sum);
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
    __m512i offset = _mm512_setzero_si512();
    if constexpr (Format::kOffsetShift > 0) {
      offset = _mm512_slli_epi32(_mm512_set1_epi32(negated_sum<Format>(acts, t, sub)), Format::kOffsetShift);
    }
    sum[t][0] = _mm512_add_epi32(_mm512_slli_epi32(sum[t][0], 8), offset);
    sum[t][1] = _mm512_add_epi32(_mm512_slli_epi32(sum[t][1], 8), offset);
  }
  dot_half<tokens, kGroups>(panel, low, kGroups * sub, sum);
}

/// Blocks of 32: total += d_w d_x dot (+ m d_x sum).
template <class Format, int tokens>
ORRERY_INLINE void block32(const Panel& panel, const auto& acts, int64_t b, Sums<tokens>& total) {
  __m512i sum[tokens][2];
  dot<Format>(panel, acts, b, sum);
#pragma GCC unroll 16
  for (int h = 0; h < 2; ++h) {
    const __m512 scale = _mm512_loadu_ps(panel.scales + 32 * b + 16 * h);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      const __m512 scaled = _mm512_mul_ps(scale, _mm512_set1_ps(acts.scales(t)[2 * b]));
      total.v[t][h] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[t][h]), scaled, total.v[t][h]);
    }
    if constexpr (Format::kOffsetShift == 0) {
      const __m512 min = _mm512_loadu_ps(reinterpret_cast<const float*>(panel.mins) + 32 * b + 16 * h);
#pragma GCC unroll 16
      for (int t = 0; t < tokens; ++t) {
        total.v[t][h] = _mm512_fmadd_ps(min, _mm512_set1_ps(acts.scales(t)[2 * b + 1]), total.v[t][h]);
      }
    }
  }
}

/// The mins of one block of 256: block -= m * sum_s n_s (sum of the activations of s), the integer part
/// exact.
template <class Format, int tokens, int halves>
ORRERY_INLINE void mins256(const Panel& panel, int64_t cols, const Activations<halves>& acts, int64_t b,
                           Sums<tokens>& block) {
  constexpr int kPairs = 128 / Format::kSub;
  const auto* factors = min_factors<Format>(panel, cols);
#pragma GCC unroll 16
  for (int h = 0; h < 2; ++h) {
    const __m512 factor = _mm512_loadu_ps(factors + 32 * b + 16 * h);
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) {
      const auto half = [&](__m512i sum, const int16_t* sums) __attribute__((always_inline)) {
#pragma GCC unroll 16
        for (int pair = 0; pair < kPairs; ++pair) {
          int two;
          std::memcpy(&two, sums + 2 * (kPairs * b + pair), sizeof two);
          const __m512i mins = _mm512_loadu_si512(panel.mins + (kPairs * b + pair) * 128 + 64 * h);
          sum = _mm512_dpwssd_epi32(sum, mins, _mm512_set1_epi32(two));
        }
        return sum;
      };
      const auto sums = [&](int term) __attribute__((always_inline)) {
        return Format::kSub == 16 ? acts.sums16(term) : acts.sums32(term);
      };
      __m512i sum = _mm512_setzero_si512();
      if constexpr (halves == 2) sum = _mm512_slli_epi32(half(sum, sums(2 * t)), 8);
      sum = half(sum, sums(halves * t + halves - 1));
      block.v[t][h] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), factor, block.v[t][h]);
    }
  }
}

/// Blocks of 256: block = sum over sub-blocks of d s dot (- mins), then total += d_x block.
template <class Format, int tokens>
ORRERY_INLINE void block256(const Panel& panel, int64_t cols, const auto& acts, int64_t b,
                            Sums<tokens>& total) {
  constexpr int kSubs = 256 / Format::kSub;
  Sums<tokens> block;
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) block.v[t][0] = block.v[t][1] = _mm512_setzero_ps();
  for (int64_t s = kSubs * b; s < kSubs * (b + 1); ++s) {
    __m512i sum[tokens][2];
    dot<Format>(panel, acts, s, sum);
#pragma GCC unroll 16
    for (int h = 0; h < 2; ++h) {
      const __m512 scale = _mm512_loadu_ps(panel.scales + 32 * s + 16 * h);
#pragma GCC unroll 16
      for (int t = 0; t < tokens; ++t) {
        block.v[t][h] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[t][h]), scale, block.v[t][h]);
      }
    }
  }
  if constexpr (Format::kOffsetShift == 0) mins256<Format>(panel, cols, acts, b, block);
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
    const __m512 scale = _mm512_set1_ps(acts.scales(t)[b]);
#pragma GCC unroll 16
    for (int h = 0; h < 2; ++h) total.v[t][h] = _mm512_fmadd_ps(block.v[t][h], scale, total.v[t][h]);
  }
}

template <class Format, int tokens>
void tile(const Panel& panel, int64_t cols, const auto& acts, int64_t rows, float* dst, int64_t dst_stride) {
  Sums<tokens> total;
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) total.v[t][0] = total.v[t][1] = _mm512_setzero_ps();
  if constexpr (Format::kWide) {
    for (int64_t b = 0; b < cols / 256; ++b) block256<Format, tokens>(panel, cols, acts, b, total);
  } else {
    for (int64_t b = 0; b < cols / 32; ++b) block32<Format, tokens>(panel, acts, b, total);
  }
  const auto mask = static_cast<uint32_t>((uint64_t{1} << rows) - 1);
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
    float* out = dst + t * dst_stride;
    _mm512_mask_storeu_ps(out, static_cast<__mmask16>(mask), total.v[t][0]);
    if (rows > 16) _mm512_mask_storeu_ps(out + 16, static_cast<__mmask16>(mask >> 16), total.v[t][1]);
  }
}

template <int halves, class Format>
void panel_tiles(const QuantShare& share, const Panel& panel, int64_t rows, float* dst) {
  const ActivationLayout layout = activation_layout(activation_block(share.weight), share.cols, halves);
  for (int64_t t = 0; t < share.tokens; t += kTileTokens) {
    const Activations<halves> acts{share.activations + static_cast<size_t>(t) * layout.bytes, layout.bytes,
                                   layout};
    float* out = dst + t * share.dst_stride;
    switch (share.tokens - t) {
      case 1:
        tile<Format, 1>(panel, share.cols, acts, rows, out, share.dst_stride);
        break;
      case 2:
        tile<Format, 2>(panel, share.cols, acts, rows, out, share.dst_stride);
        break;
      case 3:
        tile<Format, 3>(panel, share.cols, acts, rows, out, share.dst_stride);
        break;
      case 4:
        tile<Format, 4>(panel, share.cols, acts, rows, out, share.dst_stride);
        break;
      case 5:
        tile<Format, 5>(panel, share.cols, acts, rows, out, share.dst_stride);
        break;
      default:
        tile<Format, kTileTokens>(panel, share.cols, acts, rows, out, share.dst_stride);
        break;
    }
  }
}

template <int halves, class Format>
void all_panels(const QuantShare& share) {
  const Panel panel = panel_at(share.scratch, share.cols);
  for (int64_t r = share.begin; r < share.end; r += kTilePanel) {
    const int64_t rows = share.end - r < kTilePanel ? share.end - r : kTilePanel;
    for (int lane = 0; lane < kTilePanel; lane += 16) {
      const int64_t first = lane < rows ? r + lane : r;
      const Rows16 sixteen(share.matrix + static_cast<size_t>(first) * share.row_bytes, share.row_bytes,
                           lane < rows ? rows - lane : rows);
      Format::unpack(sixteen, share.cols, panel, lane);
    }
    panel_tiles<halves, Format>(share, panel, rows, share.dst + (r - share.begin));
  }
}

template <int halves>
void tiles_of(const QuantShare& share) {
  switch (share.weight) {
    case DType::q4_0:
      return all_panels<halves, TileQ4_0>(share);
    case DType::q4_1:
      return all_panels<halves, TileQ4_1>(share);
    case DType::q8_0:
      return all_panels<halves, TileQ8_0>(share);
    case DType::q4_k:
      return all_panels<halves, TileQ4_K>(share);
    case DType::q6_k:
      return all_panels<halves, TileQ6_K>(share);
    case DType::q5_0:
      return all_panels<halves, TileQ5_0>(share);
    case DType::q5_1:
      return all_panels<halves, TileQ5_1>(share);
    case DType::iq4_nl:
      return all_panels<halves, TileIQ4_NL>(share);
    case DType::mxfp4:
      return all_panels<halves, TileMXFP4>(share);
    case DType::q2_k:
      return all_panels<halves, TileQ2_K>(share);
    case DType::q3_k:
      return all_panels<halves, TileQ3_K>(share);
    case DType::q5_k:
      return all_panels<halves, TileQ5_K>(share);
    case DType::iq4_xs:
      return all_panels<halves, TileIQ4_XS>(share);
    default:
      return;  // supports() lets nothing else through
  }
}

}  // namespace

void linear_quant_tiles(const QuantShare& share) {
  if (share.halves == 1) return tiles_of<1>(share);
  tiles_of<2>(share);
}

#endif

}  // namespace orrery::kernels::ORRERY_ISA
