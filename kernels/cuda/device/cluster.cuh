// Clusters of blocks on cards that have them (compute capability 9.0); elsewhere a block is its own cluster.
#pragma once

#include <cooperative_groups.h>

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

/// This block's place in its cluster, and how many blocks that has.
__device__ inline int cluster_rank() {
  int rank = 0;
  ORRERY_HOPPER(rank = static_cast<int>(cooperative_groups::this_cluster().block_rank());)
  return rank;
}
__device__ inline int cluster_blocks() {
  int blocks = 1;
  ORRERY_HOPPER(blocks = static_cast<int>(cooperative_groups::this_cluster().num_blocks());)
  return blocks;
}
/// A barrier of all its threads, behind which they see what others wrote to shared memory.
__device__ inline void cluster_sync() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().sync();
#else
  __syncthreads();
#endif
}
/// The same object in the shared memory of another block of the cluster.
template <class T>
__device__ inline T* in_block(T* mine, int rank) {
  ORRERY_HOPPER(mine = cooperative_groups::this_cluster().map_shared_rank(mine, rank);)
  return mine;
}

}  // namespace orrery::kernels::cuda
