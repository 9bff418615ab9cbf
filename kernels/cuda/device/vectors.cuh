// Four floats at a time where the addresses allow it.
#pragma once

#include <cuda_runtime.h>

namespace orrery::kernels::cuda {

template <class Function>
__device__ inline float map(Function function, float a) {
  return function(a);
}
template <class Function>
__device__ inline float4 map(Function function, float4 a) {
  return {function(a.x), function(a.y), function(a.z), function(a.w)};
}
template <class Function>
__device__ inline float map(Function function, float a, float b) {
  return function(a, b);
}
template <class Function>
__device__ inline float4 map(Function function, float4 a, float4 b) {
  return {function(a.x, b.x), function(a.y, b.y), function(a.z, b.z), function(a.w, b.w)};
}

__device__ inline float total(float a) { return a; }
__device__ inline float total(float4 a) { return (a.x + a.y) + (a.z + a.w); }

template <class Vector>
__device__ Vector filled(float value);
template <>
__device__ inline float filled<float>(float value) {
  return value;
}
template <>
__device__ inline float4 filled<float4>(float value) {
  return {value, value, value, value};
}

}  // namespace orrery::kernels::cuda
