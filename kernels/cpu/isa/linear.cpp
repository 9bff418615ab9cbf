// Epilogues of Linear and the table of its functions.
//   dst = act(src + bias)       dst = act(src + bias) * (up + up_bias)       (tokens, count) f32; dst f32 or
//   bf16 traffic: src (and up) and dst once, from cache: a share is finished right after it was summed
#include "kernels/cpu/isa/linear.h"

#include "kernels/cpu/isa/linear_parts.h"
#include "kernels/cpu/isa/simd_math.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

/// dst[i] = function(src[i] + bias[i], up[i] + up_bias[i]) for one token; Element: of dst.
template <class Element, class Function>
void finish_token(const LinearFinish& f, int64_t token, Function&& function) {
  const float* src = f.src + token * f.src_stride;
  auto* dst = reinterpret_cast<Element*>(f.dst) + token * f.dst_stride;
  const float* up = f.up == nullptr ? nullptr : f.up + token * f.up_stride;
  each_vector(f.count, [&](auto read, auto write) {
    Vec x = read(src);
    if (f.bias != nullptr) x = x + read(f.bias);
    Vec y = set1(0.0F);
    if (up != nullptr) {
      y = read(up);
      if (f.up_bias != nullptr) y = y + read(f.up_bias);
    }
    write(dst, function(x, y));
  });
}

template <class Function>
void finish_all(const LinearFinish& f, Function&& function) {
  for (int64_t t = 0; t < f.tokens; ++t)
    f.rounded ? finish_token<uint16_t>(f, t, function) : finish_token<float>(f, t, function);
}

}  // namespace

void linear_finish(const LinearFinish& f) {
  if (f.function == Epilogue::none && f.bias == nullptr && f.dst == f.src) return;
  with_activation(activation_of(f.function), [&](auto constant) {
    constexpr Activation kActivation = decltype(constant)::value;
    if (is_gated(f.function))
      finish_all(f, [](Vec x, Vec y) { return activated<kActivation, Math>(x) * y; });
    else
      finish_all(f, [](Vec x, Vec) { return activated<kActivation, Math>(x); });
  });
}

void linear_to_bf16(const float* src, int64_t n, uint16_t* dst) {
  each_vector(n, [&](auto read, auto write) { write(dst, read(src)); });
}

#if defined(ORRERY_ISA_AVX512) && defined(__AVX512VNNI__)
const LinearTable kLinear = {linear_finish,      nullptr,       linear_quantise, linear_quant_rows,
                             linear_quant_tiles, linear_to_bf16};
#elif defined(__AVXVNNI__) || defined(__AVX512VNNI__)
const LinearTable kLinear = {linear_finish,     nullptr, linear_quantise,
                             linear_quant_rows, nullptr, linear_to_bf16};
#elif defined(ORRERY_ISA_AVX512)
const LinearTable kLinear = {linear_finish, linear_dense, linear_quantise, nullptr, nullptr, linear_to_bf16};
#else
const LinearTable kLinear = {linear_finish,     linear_dense, linear_quantise,
                             linear_quant_rows, nullptr,      linear_to_bf16};
#endif

}  // namespace orrery::kernels::ORRERY_ISA
