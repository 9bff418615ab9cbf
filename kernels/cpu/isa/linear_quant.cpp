// Quantised sums for few tokens: dst[t, r] = sum_k dequantised(weight[r, k]) * dequantised(activation[t, k]).
//   weight rows as stored (all block formats), activations 16-bit records (two int8 halves), or 8-bit ones
//   (one half; where there is VNNI);
//   integer products and sums inside a block (32 or 256 columns) are exact, blocks are summed in float32. One
//   call is one thread's rows, walked one after the other with prefetch, so that memory is read linearly; up
//   to kGroup tokens are multiplied while a row's blocks are in registers, further tokens while it is in L1.
//   A token's sum depends on no other token. Four rows' lanes are summed together by one transpose. traffic:
//   weights once
#include "kernels/cpu/isa/linear_rows256_k.h"
#include "kernels/cpu/isa/linear_rows512_k.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int kGroup = 4;  // tokens

#if defined(ORRERY_ISA_AVX512)
/// The sums of four vectors.
ORRERY_INLINE __m128 sum4(const __m512 (&x)[4]) {
  const __m512 low = _mm512_add_ps(_mm512_unpacklo_ps(x[0], x[1]), _mm512_unpackhi_ps(x[0], x[1]));
  const __m512 high = _mm512_add_ps(_mm512_unpacklo_ps(x[2], x[3]), _mm512_unpackhi_ps(x[2], x[3]));
  const __m512 all = _mm512_add_ps(_mm512_shuffle_ps(low, high, _MM_SHUFFLE(1, 0, 1, 0)),
                                   _mm512_shuffle_ps(low, high, _MM_SHUFFLE(3, 2, 3, 2)));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
#else
ORRERY_INLINE __m128 sum4(const __m256 (&x)[4]) {
  const __m256 all = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
  return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}
#endif

/// Rows r .. r + 3 of `tokens` tokens; only the first `rows` of them exist. The four share one copy of a
/// row's code, where each its own would take eight times as long to compile and run no faster: a row's sums
/// are stored once.
template <class Format, int tokens>
void group(const QuantShare& share, const auto& acts, int64_t r, float* dst) {
  const int64_t rows = share.end - r;
  Vec sums[tokens][4];
#pragma GCC unroll 1
  for (int i = 0; i < 4; ++i) {
    Vec row[tokens];
    if (i < rows) {
      Format::template row<tokens>(share.matrix + static_cast<size_t>(r + i) * share.row_bytes, acts,
                                   share.cols, row);
    } else {
#pragma GCC unroll 16
      for (int t = 0; t < tokens; ++t) row[t] = set1(0.0F);
    }
#pragma GCC unroll 16
    for (int t = 0; t < tokens; ++t) sums[t][i] = row[t];
  }
#pragma GCC unroll 16
  for (int t = 0; t < tokens; ++t) {
    const __m128 totals = sum4(sums[t]);
    if (rows >= 4) {
      _mm_storeu_ps(dst + t * share.dst_stride, totals);
    } else {
      float total[4];
      _mm_storeu_ps(total, totals);
      std::memcpy(dst + t * share.dst_stride, total, static_cast<size_t>(rows) * sizeof(float));
    }
  }
}

template <int halves, class Format>
void all_rows(const QuantShare& share) {
  const ActivationLayout layout = activation_layout(activation_block(share.weight), share.cols, halves);
  for (int64_t r = share.begin; r < share.end; r += 4) {
    for (int64_t t = 0; t < share.tokens; t += kGroup) {
      const Activations<halves> acts{share.activations + static_cast<size_t>(t) * layout.bytes, layout.bytes,
                                     layout};
      float* dst = share.dst + t * share.dst_stride + (r - share.begin);
      switch (share.tokens - t) {
        case 1:
          group<Format, 1>(share, acts, r, dst);
          break;
        case 2:
          group<Format, 2>(share, acts, r, dst);
          break;
        case 3:
          group<Format, 3>(share, acts, r, dst);
          break;
        default:
          group<Format, kGroup>(share, acts, r, dst);
          break;
      }
    }
  }
}

template <int halves>
void rows_of(const QuantShare& share) {
  switch (share.weight) {
    case DType::q4_0:
      return all_rows<halves, Blocks32<Q4_0>>(share);
    case DType::q4_1:
      return all_rows<halves, Blocks32<Q4_1>>(share);
    case DType::q8_0:
      return all_rows<halves, Blocks32<Q8_0>>(share);
    case DType::q4_k:
      return all_rows<halves, Q4_K>(share);
    case DType::q6_k:
      return all_rows<halves, Q6_K>(share);
    case DType::q5_0:
      return all_rows<halves, Blocks32<Q5_0>>(share);
    case DType::q5_1:
      return all_rows<halves, Blocks32<Q5_1>>(share);
    case DType::iq4_nl:
      return all_rows<halves, Blocks32<IQ4_NL>>(share);
    case DType::mxfp4:
      return all_rows<halves, Blocks32<MXFP4>>(share);
    case DType::q2_k:
      return all_rows<halves, Q2_K>(share);
    case DType::q3_k:
      return all_rows<halves, Q3_K>(share);
    case DType::q5_k:
      return all_rows<halves, Q5_K>(share);
    case DType::iq4_xs:
      return all_rows<halves, IQ4_XS>(share);
    default:
      return;  // supports() lets nothing else through
  }
}

}  // namespace

void linear_quant_rows(const QuantShare& share) {
#if defined(__AVXVNNI__) || defined(__AVX512VNNI__)
  if (share.halves == 1) return rows_of<1>(share);
#endif
  rows_of<2>(share);
}

}  // namespace orrery::kernels::ORRERY_ISA
