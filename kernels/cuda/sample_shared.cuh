// What the blocks of a cluster that own one row share while they look for tokens in it, and how they join
// what each of them found (sample_row.cuh has the row, sample_survey.cuh and sample_select.cuh the search).
#pragma once

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/sample_row.cuh"

namespace orrery::kernels::cuda {

constexpr int kBins = 2048;
constexpr int kBinBits = 11;
constexpr int kSort = 2048;
constexpr int kEach = kBins / kSampleThreads;  // bins or sorted tokens of a thread
static_assert(kSort == kBins && kBins == 1 << kBinBits);

/// Tokens of codes lo to hi, and what comes before lo.
struct Bracket {
  uint64_t lo, hi, count, count_before, mass_before;
};

/// What there is in the whole row.
struct Survey {
  uint64_t best, worst;  // codes; worst has the largest id; of no tokens neither is looked at
  uint32_t count;        // tokens
  bool finite;           // some logit is, before it is cleaned
};

template <int kBlocks>
struct SampleShared {
  uint64_t reduce[kWarp];
  double reduce_sums[kWarp];
  uint64_t slot;  // of this block, read by the others
  Survey of_warps[kSampleWarps], of_block;
  uint64_t best[kMostPieces / kBlocks];  // code of each piece's best token, ~0: it has none
  float sums[kMostPieces / kBlocks];     // of e^(logit - largest of the piece)
  uint32_t marks[kMarkWords];
  // From here to the codes: logits on their way (coming), when nothing else is there.
  alignas(16) uint32_t count[kBins];
  uint32_t low[kBins], high[kBins];  // tokens of this block; mass in two words
  // Of the first block:
  uint32_t all_count[kBins];
  uint64_t all_mass[kBins];  // later the running sums of the sorted tokens' mass
  uint64_t codes[kSort];
  Bracket bracket;
  uint64_t answer[2];
  uint64_t ceiling;
  uint32_t gathered[3];  // by turns
  // Of this block, in gather_own:
  uint32_t wanted_count;
  uint16_t wanted[kMostPieces / kBlocks];  // pieces
  int32_t found;
  Sample::Request request;  // in every block
  Sample::Choice choice;
};

template <int kBlocks>
__device__ inline int cluster_rank() {
  if constexpr (kBlocks > 1) return cluster_rank();
  return 0;
}
template <int kBlocks>
__device__ inline void cluster_sync() {
  if constexpr (kBlocks > 1)
    cluster_sync();
  else
    __syncthreads();
}
template <int kBlocks, class T>
__device__ inline T* in_block(T* mine, int rank) {
  if constexpr (kBlocks > 1) return in_block(mine, rank);
  return mine;
}

struct Smaller64 {
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a < b ? a : b; }
};
struct Larger64 {
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a < b ? b : a; }
};

template <int kBlocks>
__device__ inline uint64_t cluster_sum(uint64_t mine, SampleShared<kBlocks>& shared) {
  mine = block_reduce(mine, uint64_t{0}, Plus{}, shared.reduce);
  if (threadIdx.x == 0) shared.slot = mine;
  cluster_sync<kBlocks>();
  uint64_t all = 0;
  for (int rank = 0; rank < kBlocks; ++rank) all += *in_block<kBlocks>(&shared.slot, rank);
  cluster_sync<kBlocks>();
  return all;
}

/// The best of the codes, and the largest or the sum of what else is found, over a warp. By all its lanes.
__device__ inline Survey warp_survey(const Survey& mine) {
  const uint32_t key = key_in(mine.best), largest = __reduce_max_sync(kWholeWarp, key);
  const uint32_t id = __reduce_min_sync(kWholeWarp, key == largest ? static_cast<uint32_t>(mine.best) : ~0U);
  const auto worst = static_cast<uint32_t>(mine.worst >> 32);
  return {code_of(largest, id), code_of(~__reduce_max_sync(kWholeWarp, worst), ~0U),
          __reduce_add_sync(kWholeWarp, mine.count), __any_sync(kWholeWarp, mine.finite) != 0};
}

/// Joins what the threads found over the cluster. The cluster meets before it is called again.
template <int kBlocks>
__device__ inline Survey cluster_survey(Survey mine, SampleShared<kBlocks>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Survey nothing{~uint64_t{0}, 0, 0, false};
  mine = warp_survey(mine);
  if (lane == 0) shared.of_warps[threadIdx.x / kWarp] = mine;
  __syncthreads();
  mine = warp_survey(lane < kSampleWarps ? shared.of_warps[lane] : nothing);
  if constexpr (kBlocks == 1) return mine;
  if (threadIdx.x == 0) shared.of_block = mine;
  cluster_sync<kBlocks>();
  return warp_survey(lane < kBlocks ? *in_block<kBlocks>(&shared.of_block, lane) : nothing);
}

}  // namespace orrery::kernels::cuda
