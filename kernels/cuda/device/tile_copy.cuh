// Copies of whole tiles by one thread (TMA), and barriers in shared memory that count bytes (mbarrier), of
// cards of capability 9.0. A barrier has phases, 0 and 1 by turns: it ends one when all have arrived that it
// was made for and all bytes that were announced are there. Who waits for a phase that has not begun, waits
// for the end of the one before: so waiting for phase 1 of a new barrier returns at once.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace orrery::kernels::cuda {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline void make_barrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// By who made barriers, before all threads of the block meet.
__device__ inline void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void arrive_expecting(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void wait_for_phase(uint32_t barrier, unsigned phase) {
  asm volatile(
      "{.reg .pred done;"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
      "@!done bra again;}" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

/// Announces nothing itself: the barrier is to expect the bytes of the whole box, also of what lies beyond
/// the tensor, which becomes zeros. `once`: nobody reads the box again, so the L2 cache may drop it first.
__device__ inline void copy_box(uint32_t to, const CUtensorMap& map, int element, int row, int head,
                                int batch, uint32_t barrier, bool once = false) {
  if (!once) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
        "%5}], [%6];" ::"r"(to),
        "l"(&map), "r"(element), "r"(row), "r"(head), "r"(batch), "r"(barrier)
        : "memory");
    return;
  }
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, "
      "{%2, %3, %4, %5}], [%6], %7;" ::"r"(to),
      "l"(&map), "r"(element), "r"(row), "r"(head), "r"(batch), "r"(barrier), "l"(policy)
      : "memory");
}

/// The same of a matrix; `mask`: of the cluster's blocks that get the box, at the same addresses, and whose
/// barriers at that address count its bytes.
__device__ inline void copy_box(uint32_t to, const CUtensorMap& map, int element, int row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(to),
      "l"(&map), "r"(element), "r"(row), "r"(barrier)
      : "memory");
}
__device__ inline void copy_box_to(uint16_t mask, uint32_t to, const CUtensorMap& map, int element, int row,
                                   uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(element), "r"(row), "r"(barrier), "h"(mask)
      : "memory");
}
/// At the barrier that lies there in another block of the cluster; what the thread wrote need not be seen
/// there (that would be a fence of the whole card).
__device__ inline void arrive_in_block(uint32_t barrier, int rank) {
  asm volatile(
      "{.reg .b32 there;"
      "mapa.shared::cluster.u32 there, %0, %1;"
      "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

/// Begins to write a box of a matrix, of which nothing is written beyond it. What threads put into it they
/// have shown before (show_to_products), and have met.
__device__ inline void store_box(const CUtensorMap& map, int element, int row, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
               "r"(element), "r"(row), "r"(from)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Returns when shared memory is read by all but the last kLeft stores that the thread began.
template <int kLeft>
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

/// Of a ring of tiles the one that comes next, and the phase of its barriers.
template <int kStages>
struct Stage {
  int at = 0;
  unsigned phase = 0;

  __device__ void advance() {
    if (++at < kStages) return;
    at = 0;
    phase ^= 1;
  }
};

/// Each warp says that it reads a tile no more.
__device__ inline void give_back(uint32_t empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(empty);
}

/// Barriers of whole warps, by number: all of `threads` wait, or some only arrive.
__device__ inline void meet(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void pass(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// Registers of each thread of four warps from here on: what some give up others may take.
template <int kCount>
__device__ inline void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

#endif

}  // namespace orrery::kernels::cuda
