// Dropout, residual add and norm of one row, and its gradients: formulas in dropout_norm.h.
//   layout: contiguous rows of f32, f16 or bf16, any alignment      accumulation: float64 lanes
//   one call is one thread's work; preconditions: cols >= 1; src of any of the types, x of that or f32,
//   residual of either's
//   The mask of a row is made first, kLanes groups of four columns at a time. Deviations are taken from the
//   rounded mean, and their own mean corrects it.
//   traffic: a source is read once from memory (twice more from cache), results are written once
#include "kernels/cpu/isa/dropout_norm.h"

#include "kernels/cpu/isa/dropout_mask.h"
#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

#if defined(ORRERY_ISA_AVX512)
ORRERY_INLINE void add_to(double* sums, Vec x) {
  _mm512_storeu_pd(sums, _mm512_loadu_pd(sums) + _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
  _mm512_storeu_pd(sums + kWideLanes,
                   _mm512_loadu_pd(sums + kWideLanes) + _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
}
/// To the nearest, halves to even.
ORRERY_INLINE void to_bytes(Vec x, int8_t* bytes) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x)));
}
#else
ORRERY_INLINE void add_to(double* sums, Vec x) {
  _mm256_storeu_pd(sums, _mm256_loadu_pd(sums) + _mm256_cvtps_pd(_mm256_castps256_ps128(x)));
  _mm256_storeu_pd(sums + kWideLanes,
                   _mm256_loadu_pd(sums + kWideLanes) + _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
}
ORRERY_INLINE void to_bytes(Vec x, int8_t* bytes) {
  const __m256i whole = _mm256_cvtps_epi32(x);
  const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes), _mm_packs_epi16(halves, halves));
}
#endif

// ---- elements ----

/// kLanes columns from `at` on, or the last ones of a row.
template <bool kPart>
struct Piece {
  int64_t at, count;

  ORRERY_INLINE Vec floats(const float* src) const {
    if constexpr (kPart) return load_part(src + at, count);
    return load(src + at);
  }
  ORRERY_INLINE void put_floats(float* dst, Vec x) const {
    if constexpr (kPart) return store_part(dst + at, x, count);
    store(dst + at, x);
  }
  template <DType kType>
  ORRERY_INLINE Vec read(const void* src) const {
    const auto* halves = static_cast<const uint16_t*>(src) + at;
    if constexpr (kType == DType::f32) return floats(static_cast<const float*>(src));
    if constexpr (kType == DType::f16) return kPart ? load_part_f16(halves, count) : load_f16(halves);
    if constexpr (kType == DType::bf16) return kPart ? load_part_bf16(halves, count) : load_bf16(halves);
  }
  template <DType kType>
  ORRERY_INLINE void write(void* dst, Vec x) const {
    if constexpr (kType == DType::f32) {
      put_floats(static_cast<float*>(dst), x);
    } else {
      auto* halves = static_cast<uint16_t*>(dst) + at;
      uint16_t part[kLanes];
      uint16_t* to = kPart ? part : halves;
      if constexpr (kType == DType::f16)
        store_f16(to, x);
      else
        store_bf16(to, x);
      if constexpr (kPart) std::memcpy(halves, part, static_cast<size_t>(count) * sizeof(uint16_t));
    }
  }
  /// Zeros after the end of the row.
  ORRERY_INLINE Vec inside(Vec x) const {
    if constexpr (kPart) return select(lanes_between(0, count), x, set1(0.0F));
    return x;
  }
  ORRERY_INLINE void add_floats(double* sums, Vec x) const {
    if constexpr (kPart) {
      float part[kLanes];
      store(part, x);
      for (int64_t i = 0; i < count; ++i) sums[at + i] += static_cast<double>(part[i]);
    } else {
      add_to(sums + at, x);
    }
  }
};

template <class Body>
ORRERY_INLINE void each_piece(int64_t cols, Body&& body) {
  int64_t at = 0;
  for (; at + kLanes <= cols; at += kLanes) body(Piece<false>{at, kLanes});
  if (at < cols) body(Piece<true>{at, cols - at});
}

template <DType kType>
ORRERY_INLINE Vec rounded(Vec x) {
  if constexpr (kType == DType::f32) return x;
  uint16_t halves[kLanes];
  Piece<false>{0, kLanes}.template write<kType>(halves, x);
  return Piece<false>{0, kLanes}.template read<kType>(halves);
}

/// What stays of elements, times its factor; 0 where that is 0, whatever the element is.
template <class Part>
ORRERY_INLINE Vec kept_of(const DropoutRow& row, Part piece, Vec x) {
  if (!row.drops) return x * set1(row.kept);
  const Vec factor = piece.floats(row.factors);
  return select(equal(factor, set1(0.0F)), set1(0.0F), x * factor);
}

/// Of a row whose mean was taken already.
struct RowMoments {
  float centre, shift, inverse;  // x - mean is (x - centre) - shift; inverse: 1 / sqrt(var + eps)

  ORRERY_INLINE Vec y(Vec x) const { return ((x - set1(centre)) - set1(shift)) * set1(inverse); }
};
RowMoments moments_of(bool layer, float centre, double first, double second, int64_t cols, float eps) {
  const auto count = static_cast<double>(cols);
  const double shift = layer ? first / count : 0.0;
  const double variance = second / count - shift * shift;
  const double held = (variance > 0 || variance != variance ? variance : 0.0) + static_cast<double>(eps);
  return {centre, static_cast<float>(shift), static_cast<float>(1.0 / __builtin_sqrt(held))};
}

/// Returns the factor of the row.
float quantise(const float* row, int64_t cols, int8_t* quantised) {
  Vec most = set1(0.0F), odd = set1(0.0F);  // odd: NaN once an element is no finite number
  each_piece(cols, [&](auto piece) {
    const Vec x = piece.inside(piece.floats(row));
    most = max(abs(x), most);
    odd = odd + (x - x);
  });
  const float largest_of_row = largest(most);
  if (sum(odd) != 0.0F) {
    std::memset(quantised, 0, static_cast<size_t>(cols));
    return __builtin_nanf("");
  }
  const Vec factor = set1(largest_of_row > 0 ? 127.0F / largest_of_row : 0.0F);
  each_piece(cols, [&](auto piece) {
    int8_t bytes[kLanes];
    to_bytes(piece.floats(row) * factor, bytes);
    std::memcpy(quantised + piece.at, bytes, static_cast<size_t>(piece.count));
  });
  return largest_of_row / 127.0F;
}

// ---- rows ----

template <DType kSrc, DType kX, bool kParallel>
void forward_as(const DropoutNormRow& row) {
  const int64_t cols = row.cols;
  const bool residual_as_x = row.residual_type == kX;
  if (row.src != nullptr) mask_row(row.dropout, cols);
  if (kParallel && row.src2 != nullptr) mask_row(row.dropout2, cols);
  Wide total = wide_set1(0.0);
  each_piece(cols, [&](auto piece) {
    Vec x = set1(0.0F);
    if (row.src != nullptr) {
      x = kept_of(row.dropout, piece, piece.template read<kSrc>(row.src));
      if (row.colscale != nullptr) x = x * piece.floats(row.colscale);
    }
    if (kParallel && row.src2 != nullptr)
      x = x + kept_of(row.dropout2, piece, piece.template read<kSrc>(row.src2));
    if (row.residual != nullptr)
      x = x +
          (residual_as_x ? piece.template read<kX>(row.residual) : piece.template read<kSrc>(row.residual));
    x = rounded<kX>(x);
    if (row.residual_out != nullptr) piece.template write<kX>(row.residual_out, x);
    piece.put_floats(row.x, x);
    total = total + widen_halves(piece.inside(x));
  });
  if (row.out == nullptr && row.quantised == nullptr && (!kParallel || row.out2 == nullptr)) return;
  const float centre = row.layer ? static_cast<float>(wide_sum(total) / static_cast<double>(cols)) : 0.0F;
  Wide first = wide_set1(0.0), second = wide_set1(0.0);
  each_piece(cols, [&](auto piece) {
    const Vec away = piece.inside(piece.floats(row.x) - set1(centre));
    first = first + widen_halves(away);
    second = second + widen_halves(away * away);
  });
  const RowMoments moments = moments_of(row.layer, centre, wide_sum(first), wide_sum(second), cols, row.eps);
  each_piece(cols, [&](auto piece) {
    const Vec y = moments.y(piece.floats(row.x));
    if (kParallel && row.out2 != nullptr) {
      Vec out2 = y * piece.floats(row.weight2);
      if (row.bias2 != nullptr) out2 = out2 + piece.floats(row.bias2);
      piece.template write<kSrc>(row.out2, out2);
    }
    Vec out = y * piece.floats(row.weight);
    if (row.bias != nullptr) out = out + piece.floats(row.bias);
    if (row.out != nullptr) piece.template write<kSrc>(row.out, out);
    if (row.quantised != nullptr) piece.put_floats(row.x, out);
  });
  if (row.quantised != nullptr) *row.scale = quantise(row.x, cols, row.quantised);
}

template <DType kSrc, DType kX, bool kParallel>
void backward_as(const DropoutNormBackwardRow& row) {
  const int64_t cols = row.cols;
  const auto count = static_cast<double>(cols);
  const bool masked = row.grad_src != nullptr || row.sum_colscale != nullptr;
  if (masked) mask_row(row.dropout, cols);
  if (kParallel && row.grad_src2 != nullptr) mask_row(row.dropout2, cols);
  const auto grad_of = [&](auto piece) {
    return row.grad_out != nullptr ? piece.template read<kSrc>(row.grad_out) : set1(0.0F);
  };
  const auto weighed = [&](auto piece, Vec grad) {
    const Vec g = piece.floats(row.weight) * grad;
    if (!kParallel || row.grad_out2 == nullptr) return g;
    return g + piece.floats(row.weight2) * piece.template read<kSrc>(row.grad_out2);
  };
  Wide total = wide_set1(0.0);
  if (row.layer)
    each_piece(cols, [&](auto piece) { total = total + widen_halves(piece.template read<kX>(row.x)); });
  const auto centre = static_cast<float>(wide_sum(total) / count);
  Wide first = wide_set1(0.0), second = first, of_g = first, of_g_away = first;
  each_piece(cols, [&](auto piece) {
    const Vec away = piece.inside(piece.template read<kX>(row.x) - set1(centre));
    const Vec g = weighed(piece, grad_of(piece));
    first = first + widen_halves(away);
    second = second + widen_halves(away * away);
    of_g = of_g + widen_halves(g);
    of_g_away = of_g_away + widen_halves(g * away);
  });
  const RowMoments moments = moments_of(row.layer, centre, wide_sum(first), wide_sum(second), cols, row.eps);
  const double g = wide_sum(of_g);
  const double g_y =
      (wide_sum(of_g_away) - static_cast<double>(moments.shift) * g) * static_cast<double>(moments.inverse);
  const Vec m1 = set1(row.layer ? static_cast<float>(g / count) : 0.0F);
  const Vec m2 = set1(static_cast<float>(g_y / count));
  each_piece(cols, [&](auto piece) {
    const Vec y = moments.y(piece.template read<kX>(row.x));
    const Vec grad = grad_of(piece);
    Vec d = (weighed(piece, grad) - m1 - m2 * y) * set1(moments.inverse);
    if (row.grad_residual_out != nullptr) d = d + piece.template read<kX>(row.grad_residual_out);
    if (row.sum_weight != nullptr) piece.add_floats(row.sum_weight, grad * y);
    if (row.sum_bias != nullptr) piece.add_floats(row.sum_bias, grad);
    if (kParallel && row.grad_out2 != nullptr) {
      const Vec grad2 = piece.template read<kSrc>(row.grad_out2);
      if (row.sum_weight2 != nullptr) piece.add_floats(row.sum_weight2, grad2 * y);
      if (row.sum_bias2 != nullptr) piece.add_floats(row.sum_bias2, grad2);
    }
    if (row.grad_residual != nullptr) piece.template write<kX>(row.grad_residual, d);
    if (kParallel && row.grad_src2 != nullptr)
      piece.template write<kSrc>(row.grad_src2, kept_of(row.dropout2, piece, d));
    if (!masked) return;
    Vec of_t = kept_of(row.dropout, piece, d);
    if (row.sum_colscale != nullptr)
      piece.add_floats(row.sum_colscale, select(equal(of_t, set1(0.0F)), set1(0.0F),
                                                of_t * piece.template read<kSrc>(row.src)));
    if (row.grad_src == nullptr) return;
    if (row.colscale != nullptr) of_t = of_t * piece.floats(row.colscale);
    piece.template write<kSrc>(row.grad_src, of_t);
  });
}

template <bool kValue>
struct Flag {
  static constexpr bool kSet = kValue;
};

/// call<src, x, parallel>() for the row's.
template <class Row, class Call>
ORRERY_INLINE void for_types(const Row& row, Call&& call) {
  const bool wide = row.x_type == DType::f32;
  const auto with = [&](auto parallel) {
    constexpr bool kParallel = decltype(parallel)::kSet;
    if (row.src_type == DType::f32) return call.template operator()<DType::f32, DType::f32, kParallel>();
    if (row.src_type == DType::f16)
      return wide ? call.template operator()<DType::f16, DType::f32, kParallel>()
                  : call.template operator()<DType::f16, DType::f16, kParallel>();
    return wide ? call.template operator()<DType::bf16, DType::f32, kParallel>()
                : call.template operator()<DType::bf16, DType::bf16, kParallel>();
  };
  if (row.parallel) return with(Flag<true>{});
  with(Flag<false>{});
}

void forward(const DropoutNormRow& row) {
  for_types(row, [&]<DType kSrc, DType kX, bool kParallel>() { forward_as<kSrc, kX, kParallel>(row); });
}

void backward(const DropoutNormBackwardRow& row) {
  for_types(row, [&]<DType kSrc, DType kX, bool kParallel>() { backward_as<kSrc, kX, kParallel>(row); });
}

}  // namespace

const DropoutNormTable kDropoutNorm = {forward, backward};

}  // namespace orrery::kernels::ORRERY_ISA
