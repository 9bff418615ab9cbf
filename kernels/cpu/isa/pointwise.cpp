// Norms, pointwise functions, row softmax and narrowing on float32 rows: formulas in norm.h, elementwise.h.
//   layout: contiguous rows, any alignment      accumulation: float32 lanes (kLanes partial sums)
//   one call is one thread's work; preconditions: sizes >= 1, weight present
//   traffic: a source is read once from memory (norms and softmax read it again from cache), dst written once
#include "kernels/cpu/isa/pointwise.h"

#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/isa/simd_math.h"
#include "kernels/half.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

/// x = src + residual, written to row.sum if wanted, else to row.dst so that the second pass reads one array.
const float* residual_add(const NormRow& row) {
  if (row.residual == nullptr && row.sum == nullptr) return row.src;
  float* x = row.sum != nullptr ? row.sum : row.dst;
  each_vector(row.cols, [&](auto read, auto write) {
    write(x, row.residual != nullptr ? read(row.src) + read(row.residual) : read(row.src));
  });
  return x;
}

/// Sum of (x - centre)^2.
float squares(const float* x, int64_t cols, float centre) {
  const Vec middle = set1(centre);
  Vec total[4] = {set1(0.0F), set1(0.0F), set1(0.0F), set1(0.0F)};
  int64_t c = 0;
  for (; c + 4 * kLanes <= cols; c += 4 * kLanes) {
    for (int i = 0; i < 4; ++i) {
      const Vec d = load(x + c + i * kLanes) - middle;
      total[i] = fma(d, d, total[i]);
    }
  }
  float rest = 0;
  for (; c + kLanes <= cols; c += kLanes) {
    const Vec d = load(x + c) - middle;
    total[0] = fma(d, d, total[0]);
  }
  for (; c < cols; ++c) rest += (x[c] - centre) * (x[c] - centre);
  return sum((total[0] + total[1]) + (total[2] + total[3])) + rest;
}

float total_of(const float* x, int64_t cols) {
  Vec total = set1(0.0F);
  each_vector(cols, [&](auto read, auto) { total = total + read(x); });
  return sum(total);
}

void rms_norm(const NormRow& row) {
  const float* x = residual_add(row);
  const float mean = squares(x, row.cols, 0.0F) / static_cast<float>(row.cols);
  const Vec factor = set1(1.0F / __builtin_sqrtf(mean + row.eps));
  each_vector(row.cols, [&](auto read, auto write) { write(row.dst, read(x) * factor * read(row.weight)); });
}

void layer_norm(const NormRow& row) {
  const float* x = residual_add(row);
  const auto cols = static_cast<float>(row.cols);
  const float mean = total_of(x, row.cols) / cols;
  const float variance = squares(x, row.cols, mean) / cols;
  const Vec factor = set1(1.0F / __builtin_sqrtf(variance + row.eps));
  const Vec middle = set1(mean);
  if (row.bias == nullptr) {
    each_vector(row.cols, [&](auto read, auto write) {
      write(row.dst, (read(x) - middle) * factor * read(row.weight));
    });
  } else {
    each_vector(row.cols, [&](auto read, auto write) {
      write(row.dst, fma((read(x) - middle) * factor, read(row.weight), read(row.bias)));
    });
  }
}

template <class F>
void map(const float* a, float* dst, int64_t n, F f) {
  each_vector(n, [&](auto read, auto write) { write(dst, f(read(a))); });
}

template <class F>
void zip(const float* a, const float* b, float* dst, int64_t n, F f) {
  each_vector(n, [&](auto read, auto write) { write(dst, f(read(a), read(b))); });
}

void apply(PointFunction function, const float* a, const float* b, float* dst, int64_t n, float factor) {
  switch (function) {
    case PointFunction::add:
      return zip(a, b, dst, n, [](Vec x, Vec y) { return x + y; });
    case PointFunction::mul:
      return zip(a, b, dst, n, [](Vec x, Vec y) { return x * y; });
    case PointFunction::scale:
      return map(a, dst, n, [factor](Vec x) { return x * set1(factor); });
    default:
      break;
  }
  const auto epilogue = static_cast<Epilogue>(static_cast<int>(function) + 1);  // they come in its order
  with_activation(activation_of(epilogue), [&](auto constant) {
    constexpr Activation kActivation = decltype(constant)::value;
    if (is_gated(epilogue))
      zip(a, b, dst, n, [](Vec x, Vec y) { return activated<kActivation, Math>(x) * y; });
    else
      map(a, dst, n, [](Vec x) { return activated<kActivation, Math>(x); });
  });
}

float largest_of(const float* x, int64_t n) {
  Vec best = set1(-__builtin_inff());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) best = max(best, load(x + i));
  float result = largest(best);
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

void softmax(const float* src, float* dst, int64_t cols) {
  const float top = largest_of(src, cols);
  if (top == -__builtin_inff()) {  // a row of -inf
    for (int64_t c = 0; c < cols; ++c) dst[c] = 0.0F;
    return;
  }
  Vec total = set1(0.0F);
  const Vec shift = set1(top);
  int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) {
    const Vec weight = exp(load(src + c) - shift);
    store(dst + c, weight);
    total = total + weight;
  }
  if (c < cols) {  // lanes behind the row would add e^(0 - top)
    store_part(dst + c, exp(load_part(src + c, cols - c) - shift), cols - c);
    total = total + load_part(dst + c, cols - c);
  }
  const Vec factor = set1(1.0F / sum(total));
  map(dst, dst, cols, [factor](Vec x) { return x * factor; });
}

void l2_normalise(const float* src, float* dst, int64_t cols) {
  const float norm = __builtin_sqrtf(squares(src, cols, 0.0F));
  const Vec factor = set1(1.0F / (norm > 1e-12F ? norm : 1e-12F));
  map(src, dst, cols, [factor](Vec x) { return x * factor; });
}

/// Halves away from zero, as std::round.
ORRERY_INLINE Vec round_away(Vec x) {
  const Vec even = round(x);
  return select(equal(x - even, copy_sign(set1(0.5F), x)), even + copy_sign(set1(1.0F), x), even);
}

/// A block of 32: d = largest / 127 as f16, then the numbers; NaN for d where one is not finite.
void narrow_block(const float* src, std::byte* block) {
  Vec most = set1(0.0F);
  Vec probe = set1(0.0F);  // 0 * x: NaN for NaN and infinity
  for (int i = 0; i < 32; i += kLanes) {
    most = max(abs(load(src + i)), most);
    probe = fma(load(src + i), set1(0.0F), probe);
  }
  const bool finite = sum(probe) == 0.0F;
  const float d = finite ? largest(most) / 127.0F : __builtin_nanf("");
  const float inverse = d >= __FLT_MIN__ ? 1.0F / d : 0.0F;
  const uint16_t half = f16_from_float(d);
  __builtin_memcpy(block, &half, sizeof half);
  for (int i = 0; i < 32; i += kLanes) {
    const Vec numbers = finite ? round_away(load(src + i) * set1(inverse)) : set1(0.0F);
    store_i8(block + 2 + i, numbers);
  }
}

void narrow(KvFormat to, const float* src, void* dst, int64_t n) {
  if (to == KvFormat::f32) {
    __builtin_memcpy(dst, src, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  if (to == KvFormat::q8_0) {
    auto* block = static_cast<std::byte*>(dst);
    for (int64_t i = 0; i < n; i += 32, block += 34) narrow_block(src + i, block);
    return;
  }
  auto* out = static_cast<uint16_t*>(dst);
  const auto put = [to](void* at, Vec x) { to == KvFormat::f16 ? store_f16(at, x) : store_bf16(at, x); };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) put(out + i, load(src + i));
  if (i < n) {
    uint16_t part[kLanes];
    put(part, load_part(src + i, n - i));
    __builtin_memcpy(out + i, part, static_cast<size_t>(n - i) * sizeof(uint16_t));
  }
}

}  // namespace

const PointwiseTable kPointwise = {rms_norm, layer_norm, apply, softmax, l2_normalise, narrow};

}  // namespace orrery::kernels::ORRERY_ISA
