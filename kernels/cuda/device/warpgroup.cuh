// Products of four warps that read shared memory themselves (wgmma), of cards of capability 9.0: 64 rows by
// kCols columns over 16 steps of k, f16 or bf16 (of others further down), sums f32. They run beside the
// threads, in groups that end in order.
//   sums of a lane: warp w of the four has rows 16 w to 16 w + 15, as mma.sync has them (tensor_core.cuh), 8
//   columns after 8 columns; a factor in registers lies likewise
//   In shared memory rows have 128 bytes, chunk i (16 bytes) of row r at i ^ r % 8, from a multiple of 1,024
//   bytes on:
//   along k  [row][64 steps of k]: 16 steps are 32 bytes, what comes after 64 lies elsewhere
//   turned   [k][64 columns]: 16 steps are 2,048 bytes, the next 64 columns lie `leading` bytes further on
// Registers that products write or read are not looked at until a wait and settle().
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "kernels/dtype.h"
#include "kernels/machine.h"

namespace orrery::kernels::cuda {

/// Empty where the card has these products and the file was compiled for them (CMakeLists.txt names those
/// that are), else the reason.
inline std::string without_warpgroups(const CardMachine& card) {
  if (card.capability != 90) return "needs products of four warps, which cards of capability 9.0 have";
#ifdef ORRERY_CUDA_90A
  return {};
#else
  return "the module was built without code for 9.0's own instructions (architecture 90a)";
#endif
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

constexpr int kGroupBytes = 8 * 128;  // of 8 rows

/// Where an operand begins; `leading` bytes from 64 columns to the next of one that is turned.
__device__ inline uint64_t descriptor(uint32_t from, int leading = 16) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  const auto field = [](uint32_t bytes) { return static_cast<uint64_t>((bytes & 0x3FFFFU) >> 4); };
  return field(from) | field(static_cast<uint32_t>(leading)) << 16 | field(kGroupBytes) << 32 | kSwizzle128;
}

/// So many bytes further on.
__device__ inline uint64_t further(uint64_t descriptor, int bytes) {
  return descriptor + static_cast<uint64_t>(bytes >> 4);
}
/// The same address, which the compiler takes for a new one: descriptors are cheaper made than kept.
__device__ inline uint32_t made_here(uint32_t address) {
  asm volatile("" : "+r"(address));
  return address;
}

/// Registers of sums may be given to products from here on.
__device__ inline void before_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_of_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Returns when all groups of products but the last kLeft are done.
template <int kLeft>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
/// What the thread has written can be read by products that begin after the next barrier.
__device__ inline void show_to_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Keeps the compiler from using sums before the wait that it stands after.
template <int kBlocks>
__device__ inline void settle(float (&sums)[kBlocks][4]) {
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(sums[n][i])::"memory");
}

#define ORRERY_SUMS_1(n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define ORRERY_SUMS_2(n) ORRERY_SUMS_1(n), ORRERY_SUMS_1(n + 1)
#define ORRERY_SUMS_8(n) ORRERY_SUMS_2(n), ORRERY_SUMS_2(n + 2), ORRERY_SUMS_2(n + 4), ORRERY_SUMS_2(n + 6)
#define ORRERY_SUMS_64 ORRERY_SUMS_8(0)
#define ORRERY_SUMS_96 ORRERY_SUMS_64, ORRERY_SUMS_2(8), ORRERY_SUMS_2(10)
#define ORRERY_SUMS_128 ORRERY_SUMS_64, ORRERY_SUMS_8(8)
#define ORRERY_SUMS_256 ORRERY_SUMS_128, ORRERY_SUMS_8(16), ORRERY_SUMS_8(24)

#define ORRERY_NUMBERS_64                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ORRERY_NUMBERS_96 \
  ORRERY_NUMBERS_64       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define ORRERY_NUMBERS_128                                                           \
  ORRERY_NUMBERS_64                                                                  \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ORRERY_NUMBERS_256                                                                       \
  ORRERY_NUMBERS_128                                                                             \
  ", "                                                                                           \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// An instruction for each width, type and kind of a: c (64 x cols) += a b, or = a b where `adds` is false.
#define ORRERY_PRODUCT(cols, type, a, b, flag, turned, ...)                                                  \
  asm volatile("{.reg .pred add; setp.ne.u32 add, " flag                                                     \
               ", 0;"                                                                                        \
               "wgmma.mma_async.sync.aligned.m64n" #cols "k16.f32." type "." type " {" ORRERY_NUMBERS_##cols \
               "}, " a ", " b ", add, 1, 1, " turned ";}"                                                    \
               : ORRERY_SUMS_##cols                                                                          \
               : __VA_ARGS__, "l"(b_at), "r"(static_cast<uint32_t>(adds)), "n"(kTurned ? 1 : 0))
#define ORRERY_PRODUCT_OF_SHARED(cols, type, a, b, flag, turned) \
  ORRERY_PRODUCT(cols, type, a, b, flag, "0, " turned, "l"(a_at))
#define ORRERY_PRODUCT_OF_REGISTERS(cols, type, a, b, flag, turned) \
  ORRERY_PRODUCT(cols, type, a, b, flag, turned, "r"(a_at.x), "r"(a_at.y), "r"(a_at.z), "r"(a_at.w))
#define ORRERY_PRODUCT_OF_TYPE(kind, cols, ...)         \
  if constexpr (kType == DType::f16)                    \
    ORRERY_PRODUCT_OF_##kind(cols, "f16", __VA_ARGS__); \
  else                                                  \
    ORRERY_PRODUCT_OF_##kind(cols, "bf16", __VA_ARGS__)

/// Begins a product of a in shared memory (along k).
template <DType kType, bool kTurned, int kBlocks>
__device__ inline void begin_product(float (&c)[kBlocks][4], uint64_t a_at, uint64_t b_at, bool adds) {
  static_assert(kBlocks == 8 || kBlocks == 12 || kBlocks == 16 || kBlocks == 32);
  if constexpr (kBlocks == 8) {
    ORRERY_PRODUCT_OF_TYPE(SHARED, 64, "%32", "%33", "%34", "%35");
  } else if constexpr (kBlocks == 12) {
    ORRERY_PRODUCT_OF_TYPE(SHARED, 96, "%48", "%49", "%50", "%51");
  } else if constexpr (kBlocks == 16) {
    ORRERY_PRODUCT_OF_TYPE(SHARED, 128, "%64", "%65", "%66", "%67");
  } else {
    ORRERY_PRODUCT_OF_TYPE(SHARED, 256, "%128", "%129", "%130", "%131");
  }
}

/// Of a in registers, packed.
template <DType kType, bool kTurned, int kBlocks>
__device__ inline void begin_product(float (&c)[kBlocks][4], const uint4& a_at, uint64_t b_at, bool adds) {
  static_assert(kBlocks == 8 || kBlocks == 16 || kBlocks == 32);
  if constexpr (kBlocks == 8) {
    ORRERY_PRODUCT_OF_TYPE(REGISTERS, 64, "{%32, %33, %34, %35}", "%36", "%37", "%38");
  } else if constexpr (kBlocks == 16) {
    ORRERY_PRODUCT_OF_TYPE(REGISTERS, 128, "{%64, %65, %66, %67}", "%68", "%69", "%70");
  } else {
    ORRERY_PRODUCT_OF_TYPE(REGISTERS, 256, "{%128, %129, %130, %131}", "%132", "%133", "%134");
  }
}

/// Of TF32 over 8 steps of k: a in registers, as mma.sync has it (rows g and g + 8 of step q, then of step
/// q + 4), b in shared memory along k, where rows of 128 bytes are 32 steps. Bits past TF32's are not looked
/// at.
__device__ inline void begin_tf32_product(float (&c)[32][4], const uint4& a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" ORRERY_NUMBERS_256
               "}, {%128, %129, %130, %131}, %132, 1, 1, 1;"
               : ORRERY_SUMS_256
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b));
}

/// Of e4m3 over 32 steps of k, both in shared memory along k, where rows of 128 bytes are 128 steps. What it
/// adds up keeps some 14 bits (ladder/f8.cu).
template <int kBlocks>
__device__ inline void begin_f8_product(float (&c)[kBlocks][4], uint64_t a, uint64_t b, bool adds) {
  static_assert(kBlocks == 16 || kBlocks == 32);
  if constexpr (kBlocks == 16)
    asm volatile(
        "{.reg .pred add; setp.ne.u32 add, %66, 0;"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" ORRERY_NUMBERS_128
        "}, %64, %65, add, 1, 1;}"
        : ORRERY_SUMS_128
        : "l"(a), "l"(b), "r"(static_cast<uint32_t>(adds)));
  else
    asm volatile(
        "{.reg .pred add; setp.ne.u32 add, %130, 0;"
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" ORRERY_NUMBERS_256
        "}, %128, %129, add, 1, 1;}"
        : ORRERY_SUMS_256
        : "l"(a), "l"(b), "r"(static_cast<uint32_t>(adds)));
}

#undef ORRERY_PRODUCT_OF_TYPE
#undef ORRERY_PRODUCT_OF_REGISTERS
#undef ORRERY_PRODUCT_OF_SHARED
#undef ORRERY_PRODUCT
#undef ORRERY_NUMBERS_256
#undef ORRERY_NUMBERS_128
#undef ORRERY_NUMBERS_96
#undef ORRERY_NUMBERS_64
#undef ORRERY_SUMS_256
#undef ORRERY_SUMS_128
#undef ORRERY_SUMS_96
#undef ORRERY_SUMS_64
#undef ORRERY_SUMS_8
#undef ORRERY_SUMS_2
#undef ORRERY_SUMS_1

#endif

}  // namespace orrery::kernels::cuda
