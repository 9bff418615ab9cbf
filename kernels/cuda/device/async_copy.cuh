// Copies from global to shared memory that run beside the threads (cp.async), in groups that end in order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery::kernels::cuda {

/// 16 bytes, both addresses multiples of 16; zeros where there is nothing, and `from` is not read then.
__device__ inline void copy_16(uint32_t to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
/// The same by way of the L1 cache, for what is soon read again.
__device__ inline void copy_16_by_cache(uint32_t to, const void* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
__device__ inline void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Returns when all of the thread's groups but the last `kLeft` have arrived.
template <int kLeft = 0>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

}  // namespace orrery::kernels::cuda
