// Products of a warp on the tensor cores (mma.sync), and how their operands come from shared memory.
//   m16n8k16, lane = 4 g + c:
//   A: a0 (row g, k 2c..), a1 (g + 8, 2c..), a2 (g, 8 + 2c..), a3 (g + 8, 8 + 2c..)
//   B: b0 (k 2c.., column g), b1 (8 + 2c.., g)
//   C: c0, c1 (row g, columns 2c, 2c + 1), c2, c3 (g + 8)
// Products are exact, sums f32, cut off.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/dtype.h"

namespace orrery::kernels::cuda {

/// Four matrices of 8 rows of 16 bytes; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline uint4 load_matrices(uint32_t at) {
  uint4 x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(at)
               : "memory");
  return x;
}
/// Each turned: its elements are of 16 bits.
__device__ inline uint4 load_transposed(uint32_t at) {
  uint4 x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(at)
               : "memory");
  return x;
}

/// c += a b of f16 or bf16.
template <DType kType>
__device__ inline void multiply_halves(float (&c)[4], const uint4& a, uint32_t b0, uint32_t b1) {
  if constexpr (kType == DType::f16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

/// Two numbers of f16 or bf16, rounded; the first has the lower bits.
template <DType kType>
__device__ inline uint32_t pack_halves(float low, float high) {
  if constexpr (kType == DType::f16) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  }
}

}  // namespace orrery::kernels::cuda
