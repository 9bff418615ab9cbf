#include "kernels/cpu/element_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/half.h"

namespace orrery::kernels {
namespace {

template <DType dtype, class To>
To loaded(Element<dtype> element) {
  if constexpr (dtype == DType::f16) return static_cast<To>(float_from_f16(element));
  if constexpr (dtype == DType::bf16) return static_cast<To>(float_from_bf16(element));
  return static_cast<To>(element);
}

/// Towards zero, held to the range; NaN gives 0.
template <class To>
To whole(float value) {
  constexpr auto low = static_cast<float>(std::numeric_limits<To>::min());
  constexpr auto high = static_cast<float>(std::numeric_limits<To>::max());  // of i32 and i64 one more
  if (!(value >= low)) return std::isnan(value) ? To{0} : std::numeric_limits<To>::min();
  if (value >= high) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <DType dtype, class From>
Element<dtype> stored(From value) {
  if constexpr (dtype == DType::boolean) return static_cast<uint8_t>(value != From{0});
  if constexpr (dtype == DType::f16) return f16_from_float(static_cast<float>(value));
  if constexpr (dtype == DType::bf16) return bf16_from_float(static_cast<float>(value));
  if constexpr (is_integer(dtype) && std::is_same_v<From, float>) return whole<Element<dtype>>(value);
  return static_cast<Element<dtype>>(value);
}

template <class To>
void load_any(DType dtype, const void* src, int64_t stride, int64_t n, To* dst) {
  with_element(dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    const auto* from = static_cast<const Element<kType>*>(src);
    if (stride == 1)
      for (int64_t i = 0; i < n; ++i) dst[i] = loaded<kType, To>(from[i]);
    else if (stride == 0)
      std::fill_n(dst, n, loaded<kType, To>(*from));
    else
      for (int64_t i = 0; i < n; ++i) dst[i] = loaded<kType, To>(from[i * stride]);
  });
}

template <class From>
void store_any(DType dtype, const From* src, int64_t n, void* dst, int64_t stride) {
  with_element(dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    auto* to = static_cast<Element<kType>*>(dst);
    if (stride == 1)
      for (int64_t i = 0; i < n; ++i) to[i] = stored<kType>(src[i]);
    else
      for (int64_t i = 0; i < n; ++i) to[i * stride] = stored<kType>(src[i]);
  });
}

}  // namespace

void load_run(DType dtype, const void* src, int64_t stride, int64_t n, float* dst) {
  load_any(dtype, src, stride, n, dst);
}
void load_run(DType dtype, const void* src, int64_t stride, int64_t n, int64_t* dst) {
  load_any(dtype, src, stride, n, dst);
}
void store_run(DType dtype, const float* src, int64_t n, void* dst, int64_t stride) {
  store_any(dtype, src, n, dst, stride);
}
void store_run(DType dtype, const int64_t* src, int64_t n, void* dst, int64_t stride) {
  store_any(dtype, src, n, dst, stride);
}

}  // namespace orrery::kernels
