// The kernels of row cuda.dense around the product (linear_dense.cu):
//   prepare   src (tokens, cols) f32 to (tokens, cols) of the product's type. f16: times a power of two per
//             token that brings its largest magnitude to 2^13 to 2^14, whose inverse goes to unscale
//             (tokens); a block owns a token. bf16, f32: a thread owns 8 elements.
//   widen     rows of a weight matrix to f16 or f32; a thread owns a lane of a group (32 weights), or an
//             element of f16 and bf16
//   finish    dst = act(out[0] * unscale + bias[0]) [* (out[1] * unscale + bias[1])]; a thread owns 4
//   columns,
//             or 1; dst is f32 or bf16, and may be an out
//   cols is a multiple of 8. 16 bytes are read and written at a time where addresses allow it.
//   Bytes moved: prepare 4 + element, f16 4 more (from cache); widen the stored weight + element; finish 4
//   per element of each out and of dst.
#pragma once

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/half_planes.cuh"
#include "kernels/cuda/device/linear_group.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/device/vectors.cuh"
#include "kernels/cuda/linear_rows.h"
#include "kernels/cuda/packed_types.h"

namespace orrery::kernels::cuda::dense {

/// What the product multiplies.
enum class Form : uint8_t { f16, bf16, f32 };

constexpr int64_t element_bytes(Form form) { return form == Form::f32 ? 4 : 2; }

constexpr int kThreads = 256;

// ---- prepare ----

struct Prepare {
  const float* src;
  void* dst;
  float* unscale;  // f16 only
  int64_t src_stride, cols, tokens;
};

__device__ inline void load_eight(const float* src, bool wide, float (&x)[8]) {
  if (wide) {
    *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(src);
    *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<const float4*>(src + 4);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = src[i];
}

/// Two numbers, rounded, side by side.
__device__ inline uint32_t pair_of(__half*, float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}
__device__ inline uint32_t pair_of(__nv_bfloat16*, float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

/// `dst` is a multiple of 8 elements into 256-byte aligned memory.
template <class T>
__device__ inline void store_eight(T* dst, const float (&x)[8]) {
  if constexpr (sizeof(T) == 4) {
    reinterpret_cast<float4*>(dst)[0] = {x[0], x[1], x[2], x[3]};
    reinterpret_cast<float4*>(dst)[1] = {x[4], x[5], x[6], x[7]};
  } else {
    *reinterpret_cast<uint4*>(dst) = {pair_of(dst, x[0], x[1]), pair_of(dst, x[2], x[3]),
                                      pair_of(dst, x[4], x[5]), pair_of(dst, x[6], x[7])};
  }
}

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads) convert_kernel(const Prepare p) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const auto eights = static_cast<uint32_t>(p.cols / 8);
  const uint32_t item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= eights * static_cast<uint32_t>(p.tokens)) return;
  const uint32_t token = item / eights, eight = item - token * eights;
  float x[8];
  load_eight(p.src + token * p.src_stride + eight * 8, kWide, x);
  store_eight(static_cast<T*>(p.dst) + static_cast<int64_t>(item) * 8, x);
}

template <bool kWide>
__global__ void __launch_bounds__(kThreads) scale_kernel(const Prepare p) {
  __shared__ float shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t token = blockIdx.x;
  const float* src = p.src + token * p.src_stride;
  const int64_t step = static_cast<int64_t>(blockDim.x) * 8;
  float x[8];
  float most = 0.0F;
  for (int64_t k = threadIdx.x * int64_t{8}; k < p.cols; k += step) {
    load_eight(src + k, kWide, x);
#pragma unroll
    for (int i = 0; i < 8; ++i) most = fmaxf(most, fabsf(x[i]));
  }
  const int exponent = scale_exponent(block_reduce(most, 0.0F, Larger{}, shared));
  const float scale = power_of_two(exponent);
  if (threadIdx.x == 0) p.unscale[token] = power_of_two(-exponent);
  for (int64_t k = threadIdx.x * int64_t{8}; k < p.cols; k += step) {
    if (p.cols > step) load_eight(src + k, kWide, x);  // else it is still there
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] *= scale;
    store_eight(static_cast<__half*>(p.dst) + token * p.cols + k, x);
  }
}

inline void prepare(Form form, const Prepare& p, const Launch& launch) {
  const bool wide = is_aligned(p.src, 16) && p.src_stride % 4 == 0;
  if (form == Form::f16) {
    const int64_t threads = std::min<int64_t>(blocks_of(p.cols / 8, kWarp) * kWarp, kThreads);
    return launch_kernel(launch, wide ? scale_kernel<true> : scale_kernel<false>,
                         dim3(static_cast<unsigned>(p.tokens)), dim3(static_cast<unsigned>(threads)), 0, p);
  }
  const auto kernel = form == Form::f32 ? (wide ? convert_kernel<float, true> : convert_kernel<float, false>)
                      : wide            ? convert_kernel<__nv_bfloat16, true>
                                        : convert_kernel<__nv_bfloat16, false>;
  launch_kernel(launch, kernel, dim3(static_cast<unsigned>(blocks_of(p.tokens * p.cols / 8, kThreads))),
                dim3(kThreads), 0, p);
}

// ---- widen ----

struct Widen {
  const uint8_t* src;  // row 0 of the slab
  void* dst;           // (rows, cols)
  int64_t src_stride, rows, cols;
};

template <class T>
__device__ inline void store_four(T* dst, const float* w);
template <>
__device__ inline void store_four<float>(float* dst, const float* w) {
  *reinterpret_cast<float4*>(dst) = make_float4(w[0], w[1], w[2], w[3]);
}
template <>
__device__ inline void store_four<__half>(__half* dst, const float* w) {
  const __half2 low = __floats2half2_rn(w[0], w[1]), high = __floats2half2_rn(w[2], w[3]);
  uint2 bits;
  bits.x = *reinterpret_cast<const uint32_t*>(&low);
  bits.y = *reinterpret_cast<const uint32_t*>(&high);
  *reinterpret_cast<uint2*>(dst) = bits;
}

template <DType dtype, class T>
__global__ void __launch_bounds__(kThreads) widen_packed_kernel(const Widen p) {
  pdl_wait();
  const PackedRow at = packed_row(dtype, p.cols);
  const int64_t lanes = at.groups * 4;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= p.rows * lanes) return;
  const int64_t row = item / lanes, group = item % lanes / 4;
  const int t = static_cast<int>(item % 4);
  float w[32];
  lane_weights<dtype>(p.src + row * p.src_stride, at, group, t, w);
  T* dst = static_cast<T*>(p.dst) + row * p.cols + group * kGroup;
#pragma unroll
  for (int n = 0; n < 32; n += 4) {
    const int k = column_of(t, n / 8, n / 4 % 2, 0);
    if (group * kGroup + k < p.cols) store_four<T>(dst + k, w + n);
  }
}

template <DType dtype>
__global__ void __launch_bounds__(kThreads) widen_stored_kernel(const Widen p) {
  pdl_wait();
  const int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= p.rows * p.cols) return;
  static_cast<float*>(p.dst)[item] = stored_at<dtype>(p.src + item / p.cols * p.src_stride, item % p.cols);
}

using WidenKernel = void (*)(const Widen);

template <class T>
WidenKernel widen_packed(DType dtype) {
  return with_packed_type(
      dtype, [](auto type) -> WidenKernel { return widen_packed_kernel<decltype(type)::value, T>; });
}

void widen(DType dtype, Form form, const Widen& p, const Launch& launch) {
  const bool packed = is_packed(dtype);
  const int64_t items = p.rows * (packed ? packed_row(dtype, p.cols).groups * 4 : p.cols);
  const WidenKernel kernel =
      packed                ? (form == Form::f32 ? widen_packed<float>(dtype) : widen_packed<__half>(dtype))
      : dtype == DType::f16 ? widen_stored_kernel<DType::f16>
                            : widen_stored_kernel<DType::bf16>;
  launch_kernel(launch, kernel, dim3(static_cast<unsigned>(blocks_of(items, kThreads))), dim3(kThreads), 0,
                p);
}

// ---- finish ----

struct Finish {
  const float* out[2] = {};  // (tokens, rows); the second when gated
  const float* bias[2] = {};
  const float* unscale[2] = {};  // null: 1
  void* dst;
  DType dst_type;  // f32, bf16
  int64_t out_stride[2] = {};
  int64_t dst_stride, rows, tokens;
};

template <class Vector>
__device__ inline Vector finished(const Finish& p, int i, uint32_t token, uint32_t column) {
  const float unscale = p.unscale[i] != nullptr ? p.unscale[i][token] : 1.0F;
  const auto bias =
      p.bias[i] != nullptr ? *reinterpret_cast<const Vector*>(p.bias[i] + column) : filled<Vector>(0.0F);
  const auto out = *reinterpret_cast<const Vector*>(p.out[i] + token * p.out_stride[i] + column);
  return map([=](float x, float b) { return fmaf(x, unscale, b); }, out, bias);
}

__device__ inline void store(float* dst, float x) { *dst = x; }
__device__ inline void store(float* dst, float4 x) { *reinterpret_cast<float4*>(dst) = x; }
__device__ inline void store(__nv_bfloat16* dst, float x) { *dst = __float2bfloat16_rn(x); }
__device__ inline void store(__nv_bfloat16* dst, float4 x) {
  *reinterpret_cast<uint2*>(dst) = {pair_of(dst, x.x, x.y), pair_of(dst, x.z, x.w)};
}

template <class T, class Vector, Epilogue kEpilogue>
__global__ void __launch_bounds__(kThreads) finish_kernel(const Finish p) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  constexpr uint32_t kWidth = sizeof(Vector) / sizeof(float);
  const auto vectors = static_cast<uint32_t>(p.rows) / kWidth;
  const uint32_t item = blockIdx.x * kThreads + threadIdx.x;
  if (item >= vectors * static_cast<uint32_t>(p.tokens)) return;
  const uint32_t token = item / vectors, column = (item - token * vectors) * kWidth;
  Vector value = map([](float x) { return activate(kEpilogue, x); }, finished<Vector>(p, 0, token, column));
  if constexpr (is_gated(kEpilogue))
    value = map([](float x, float y) { return x * y; }, value, finished<Vector>(p, 1, token, column));
  store(static_cast<T*>(p.dst) + token * p.dst_stride + column, value);
}

template <class T, class Vector>
auto finish_kernel_of(Epilogue epilogue) {
  return with_activation(activation_of(epilogue), [&](auto constant) {
    constexpr Activation kActivation = decltype(constant)::value;
    return is_gated(epilogue) ? finish_kernel<T, Vector, epilogue_of(kActivation, true)>
                              : finish_kernel<T, Vector, epilogue_of(kActivation)>;
  });
}

template <class T>
void finish_as(Epilogue epilogue, const Finish& p, const Launch& launch) {
  bool wide = p.rows % 4 == 0 && is_aligned(p.dst, 4 * sizeof(T)) && p.dst_stride % 4 == 0;
  for (int i = 0; i < 2; ++i)
    wide = wide && is_aligned(p.out[i], 16) && p.out_stride[i] % 4 == 0 && is_aligned(p.bias[i], 16);
  const int64_t items = p.tokens * (wide ? p.rows / 4 : p.rows);
  launch_kernel(launch, wide ? finish_kernel_of<T, float4>(epilogue) : finish_kernel_of<T, float>(epilogue),
                dim3(static_cast<unsigned>(blocks_of(items, kThreads))), dim3(kThreads), 0, p);
}

inline void finish(Epilogue epilogue, const Finish& p, const Launch& launch) {
  if (p.dst_type == DType::bf16) return finish_as<__nv_bfloat16>(epilogue, p, launch);
  finish_as<float>(epilogue, p, launch);
}

}  // namespace orrery::kernels::cuda::dense
