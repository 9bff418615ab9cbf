// Finding tokens of one row by rank or by mass in the order of preference. A cluster of kBlocks blocks owns
// the row, or one block; each has a contiguous slice of it (sample_row.cuh). Every function is called by all
// threads of the cluster with the same arguments, unless it says "of the first block".
//
// The survey notes the best token of each piece of the row. The k-th of these bounds the k-th of all, and a
// piece whose best is beyond what is looked for is not read again: of a row of 501 pieces the best 50 tokens
// lie in some 60. Passes over the row are calls: a kernel has several of each, and there are eight kernels.
//
// A search narrows a range of codes: the blocks count tokens (and their mass) of kBins equal parts of the
// range, block r adds up share r of the bins of all blocks, and the first block finds the bin that the
// target lies in. It ends when the tokens left fit kSort; those are gathered in the first block and sorted.
// Counts and fixed-point masses are integers, and sorted codes are distinct: nothing depends on the order
// in which threads come. Six rounds narrow any range to single codes; real rows take one or two.
#pragma once

#include "kernels/cuda/device/sort.cuh"
#include "kernels/cuda/sample_survey.cuh"

namespace orrery::kernels::cuda {

/// What the block that has a piece notes of it, there.
template <int kBlocks, class T>
__device__ inline T of_piece(T* noted, int piece, const Cut& cut) {
  if constexpr (kBlocks == 1) return noted[piece];
  return in_block<kBlocks>(noted, piece / cut.in_block)[piece % cut.in_block];
}
template <int kBlocks>
__device__ inline uint64_t best_of(int piece, const Cut& cut, SampleShared<kBlocks>& shared) {
  return of_piece<kBlocks>(shared.best, piece, cut);
}

/// Of the first warp, by the first block after a survey with sums: log of the sum of e^logit. The pieces'
/// sums are added by fixed threads in a fixed order, whatever blocks they lie in.
template <int kBlocks>
__device__ inline double log_of_sum(const Cut& cut, float largest, SampleShared<kBlocks>& shared) {
  double sum = 0;
  for (int piece = static_cast<int>(threadIdx.x); piece < cut.pieces; piece += kSampleThreads) {
    const uint64_t best = best_of(piece, cut, shared);
    if (best == ~uint64_t{0}) continue;
    const double weight = exp(static_cast<double>(logit_of(key_in(best))) - static_cast<double>(largest));
    sum += weight * static_cast<double>(of_piece<kBlocks>(shared.sums, piece, cut));
  }
  sum = block_reduce(sum, 0.0, Plus{}, shared.reduce_sums);
  return threadIdx.x < kWarp ? largest + log(sum) : 0.0;
}

/// Mass of the tokens whose weight is not below `least`.
template <int kBlocks, class T>
__device__ __noinline__ uint64_t mass_from(const LogitRow<kBlocks, T>& row, const Softmax& softmax,
                                           float least, SampleShared<kBlocks>& shared) {
  uint64_t mass = 0;
  row.each([](int) { return true; },
           [&](uint32_t key, uint64_t) {
             const float weight = softmax.weight(key);
             if (!(weight < least)) mass += __float2ull_rz(weight * softmax.unit);
           });
  return cluster_sum(mass, shared);
}

struct Target {
  bool by_rank;  // else by mass
  uint64_t at;   // the first token with so many tokens, or so much mass, up to and with it; >= 1
};

__device__ inline int bin_shift(const Bracket& bracket) {
  return max(0, 64 - __clzll(static_cast<long long>(bracket.hi - bracket.lo)) - kBinBits);
}

/// Of this block's tokens in the bracket. Mass is added in two words with a carry: shared memory adds 32
/// bits.
template <int kBlocks, class T>
__device__ inline void fill_bins(const LogitRow<kBlocks, T>& row, const Softmax& softmax, bool masses,
                                 const Bracket& bracket, SampleShared<kBlocks>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kSampleThreads)
    shared.count[i] = shared.low[i] = shared.high[i] = 0;
  __syncthreads();
  const int shift = bin_shift(bracket);
  row.each([&](int piece) { return shared.best[piece] <= bracket.hi; },
           [&](uint32_t key, uint64_t code) {
             if (code < bracket.lo || code > bracket.hi) return;
             const auto bin = static_cast<int>((code - bracket.lo) >> shift);
             atomicAdd(&shared.count[bin], 1U);
             const uint64_t mass = masses ? softmax.mass(key) : 0;
             if (mass == 0) return;
             const auto low = static_cast<uint32_t>(mass);
             const uint32_t old = atomicAdd(&shared.low[bin], low);
             const uint32_t high = static_cast<uint32_t>(mass >> 32) + (old + low < old ? 1U : 0U);
             if (high != 0) atomicAdd(&shared.high[bin], high);
           });
}

/// This block's share of the bins, over all blocks, into the first block.
template <int kBlocks>
__device__ inline void add_up_bins(SampleShared<kBlocks>& shared) {
  constexpr int kShare = kBins / kBlocks;
  const int first = cluster_rank<kBlocks>() * kShare;
  for (int i = static_cast<int>(threadIdx.x); i < kShare; i += kSampleThreads) {
    const int bin = first + i;
    uint32_t count = 0;
    uint64_t mass = 0;
    for (int rank = 0; rank < kBlocks; ++rank) {
      count += *in_block<kBlocks>(&shared.count[bin], rank);
      mass += static_cast<uint64_t>(*in_block<kBlocks>(&shared.high[bin], rank)) << 32;
      mass += *in_block<kBlocks>(&shared.low[bin], rank);
    }
    *in_block<kBlocks>(&shared.all_count[bin], 0) = count;
    *in_block<kBlocks>(&shared.all_mass[bin], 0) = mass;
  }
}

/// Of the first block: the bin that holds the target becomes shared.bracket.
template <int kBlocks>
__device__ inline void pick_bin(const Target& target, const Bracket& bracket, SampleShared<kBlocks>& shared) {
  const int first = static_cast<int>(threadIdx.x) * kEach;
  uint64_t count = 0;
  uint64_t mass = 0;
  for (int i = 0; i < kEach; ++i) {
    count += shared.all_count[first + i];
    mass += shared.all_mass[first + i];
  }
  count = bracket.count_before + block_sum_before(count, shared.reduce);
  mass = bracket.mass_before + block_sum_before(mass, shared.reduce);
  const int shift = bin_shift(bracket);
  for (int i = 0; i < kEach; ++i) {
    const uint64_t here = shared.all_count[first + i];
    const uint64_t mass_here = shared.all_mass[first + i];
    const uint64_t before = target.by_rank ? count : mass;
    if (before < target.at && target.at <= before + (target.by_rank ? here : mass_here)) {
      const uint64_t lo = bracket.lo + (static_cast<uint64_t>(first + i) << shift);
      const uint64_t hi = lo + ((uint64_t{1} << shift) - 1);
      shared.bracket = {lo, Smaller64{}(hi, bracket.hi), here, count, mass};
    }
    count += here;
    mass += mass_here;
  }
}

__device__ inline Bracket whole(const Survey& all) { return {all.best, all.worst, all.count, 0, 0}; }

/// One round: the part of the bracket that holds the target.
template <int kBlocks, class T>
__device__ __noinline__ Bracket narrow(const LogitRow<kBlocks, T>& row, const Softmax& softmax, bool masses,
                                       const Target& target, const Bracket& bracket,
                                       SampleShared<kBlocks>& shared) {
  fill_bins(row, softmax, masses, bracket, shared);
  cluster_sync<kBlocks>();
  add_up_bins(shared);
  cluster_sync<kBlocks>();
  if (cluster_rank<kBlocks>() == 0) pick_bin(target, bracket, shared);
  cluster_sync<kBlocks>();
  return *in_block<kBlocks>(&shared.bracket, 0);  // the next call writes it after two more cluster_sync
}

/// Of the first block: shared.codes[0, count) in ascending order.
template <int kBlocks>
__device__ inline void sort_codes(int count, SampleShared<kBlocks>& shared) {
  block_sort(shared.codes, count, kSampleThreads);
}

/// The counter of a gather, of the first block. There are three, as blocks may still read the one before
/// while this one counts.
template <int kBlocks, class T>
__device__ inline uint32_t* next_counter(const LogitRow<kBlocks, T>& row, SampleShared<kBlocks>& shared) {
  const int turn = row.gathers % 3, next = (row.gathers + 1) % 3;
  ++row.gathers;
  if (threadIdx.x == 0) shared.gathered[next] = 0;
  return in_block<kBlocks>(&shared.gathered[turn], 0);
}

/// Those of a lane's logits that are tokens of codes lo to hi, of which `least` is the lowest logit, to the
/// codes.
template <int kBlocks, class T>
__device__ inline void gather_group(int number, const float (&x)[kLaneIds], uint64_t lo, uint64_t hi,
                                    float least, uint32_t* gathered, uint64_t* codes) {
#pragma unroll
  for (int j = 0; j < kLaneIds; ++j) {
    if (!(x[j] >= least)) continue;  // lower ones need no code to be told from what is wanted
    const uint64_t code = code_of(key_of(clean_logit(x[j])), LogitRow<kBlocks, T>::id_of(number, j));
    if (code < lo || code > hi) continue;
    const uint32_t place = atomicAdd(gathered, 1U);
    if (place < kSort) codes[place] = code;
  }
}

/// gather of logits with penalties and bias.
template <int kBlocks, class T>
__device__ __noinline__ int gather_changed(const LogitRow<kBlocks, T>& row, uint64_t lo, uint64_t hi,
                                           SampleShared<kBlocks>& shared) {
  uint32_t* gathered = next_counter(row, shared);
  uint64_t* codes = in_block<kBlocks>(shared.codes, 0);
  const float least = logit_of(key_in(hi));
  row.groups([&](int piece) { return shared.best[piece] <= hi; },
             [&](TokenGroup& group) {
               row.clean(group);
               gather_group<kBlocks, T>(group.number, group.x, lo, hi, least, gathered, codes);
             });
  cluster_sync<kBlocks>();
  return static_cast<int>(*gathered);
}

/// gather of the row's own logits. Which pieces are wanted is listed first, so that all warps have as many.
template <int kBlocks, class T>
__device__ __noinline__ int gather_own(const LogitRow<kBlocks, T>& row, uint64_t lo, uint64_t hi,
                                       SampleShared<kBlocks>& shared) {
  using Row = LogitRow<kBlocks, T>;
  constexpr int kRound = Row::kLoads * kSampleThreads;
  constexpr int kRounds =
      kComingBytes / kComingGroups * (kComingGroups - 1) / (kRound * static_cast<int>(sizeof(uint4)));
  static_assert(offsetof(SampleShared<kBlocks>, codes) - offsetof(SampleShared<kBlocks>, count) >=
                kRounds * kRound * sizeof(uint4));
  uint32_t* const gathered = next_counter(row, shared);
  uint64_t* const codes = in_block<kBlocks>(shared.codes, 0);
  if (threadIdx.x == 0) shared.wanted_count = 0;
  __syncthreads();
  for (int piece = static_cast<int>(threadIdx.x); piece < row.pieces; piece += kSampleThreads)
    if (shared.best[piece] <= hi)
      shared.wanted[atomicAdd(&shared.wanted_count, 1U)] = static_cast<uint16_t>(piece);
  __syncthreads();

  const float least = logit_of(key_in(hi));
  const int in_piece = row.cut.in_piece, first_piece = row.first_piece;
  const int groups = static_cast<int>(shared.wanted_count) * in_piece;
  uint4* const own = coming(shared) + threadIdx.x;
  const Source<kBlocks, T> source(row);
  const auto group_of = [&](int number) {
    if (in_piece == 1) return first_piece + shared.wanted[number];
    return (first_piece + shared.wanted[number / in_piece]) * in_piece + number % in_piece;
  };
#pragma unroll 1
  for (int at = static_cast<int>(threadIdx.x) / kWarp; at < groups; at += kRounds * kSampleWarps) {
    const int left = (groups - at + kSampleWarps - 1) / kSampleWarps;
    const int rounds = left < kRounds ? left : kRounds;
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) source.bring(group_of(at + i * kSampleWarps), own + i * kRound);
    end_of_copies();
    wait_for_copies();
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
      float x[kLaneIds];
      source.take(own + i * kRound, x);
      gather_group<kBlocks, T>(group_of(at + i * kSampleWarps), x, lo, hi, least, gathered, codes);
    }
  }
  cluster_sync<kBlocks>();
  return static_cast<int>(*gathered);
}

/// The tokens of codes lo to hi into shared.codes of the first block, in no order; those beyond kSort are
/// counted only. Returns how many there are. The cluster has met since the first block read its codes.
template <int kBlocks, class T>
__device__ inline int gather(const LogitRow<kBlocks, T>& row, uint64_t lo, uint64_t hi,
                             SampleShared<kBlocks>& shared) {
  return row.changes ? gather_changed(row, lo, hi, shared) : gather_own(row, lo, hi, shared);
}

/// Threads of the first block that own sorted tokens, kEach of each: whole warps, which meet by themselves.
__device__ inline int owners_of(int count) { return (count + kEach * kWarp - 1) / (kEach * kWarp) * kWarp; }
__device__ inline void owners_meet(int owners) { asm volatile("bar.sync 1, %0;" ::"r"(owners) : "memory"); }

/// By the owners: running sums of the mass of the sorted tokens into all_mass.
template <int kBlocks>
__device__ inline void sum_sorted(int count, const Softmax& softmax, SampleShared<kBlocks>& shared) {
  const int first = static_cast<int>(threadIdx.x) * kEach, owners = owners_of(count);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  uint64_t mine[kEach];
  uint64_t own = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    mine[i] = first + i < count ? softmax.mass(key_in(shared.codes[first + i])) : 0;
    own += mine[i];
  }
  uint64_t sum = own;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const uint64_t below = __shfl_up_sync(kWholeWarp, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == kWarp - 1) shared.reduce[warp] = sum;
  owners_meet(owners);
  sum -= own;
  for (int w = 0; w < warp; ++w) sum += shared.reduce[w];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    sum += mine[i];
    shared.all_mass[first + i] = sum;
  }
  owners_meet(owners);
}

/// By the owners of `count` tokens or more: the first sorted token whose running sum reaches `target`, 1 to
/// the last sum.
template <int kBlocks>
__device__ inline int reach(uint64_t target, int count, int owners, SampleShared<kBlocks>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += owners) {
    const uint64_t before = i > 0 ? shared.all_mass[i - 1] : 0;
    if (before < target && target <= shared.all_mass[i]) shared.found = i;
  }
  owners_meet(owners);
  const int found = shared.found;
  owners_meet(owners);
  return found;
}

/// A code that at least `wanted` tokens reach: the best tokens of neighbouring pieces are so many, so the
/// wanted-th of them is one. ~0 where there are too few pieces. The cluster meets.
template <int kBlocks>
__device__ inline uint64_t ceiling_of(uint64_t wanted, const Cut& cut, SampleShared<kBlocks>& shared) {
  // Fewer are sorted sooner, and bound almost as well: 64 of 128 reach about 90 tokens.
  constexpr int kFew = 128;
  const int most = wanted <= kFew / 2 ? kFew : kMostPieces;
  const int together = (cut.pieces + most - 1) / most;
  const int bests = (cut.pieces + together - 1) / together;
  const bool enough = 2 * wanted <= static_cast<uint64_t>(bests);
  if (enough && cluster_rank<kBlocks>() == 0) {
    for (int i = static_cast<int>(threadIdx.x); i < bests; i += kSampleThreads) {
      uint64_t best = ~uint64_t{0};
#pragma unroll
      for (int j = 0; j < kMostPieces / kFew; ++j)
        if (const int piece = i * together + j; j < together && piece < cut.pieces)
          best = Smaller64{}(best, best_of(piece, cut, shared));
      shared.codes[i] = best;
    }
    block_sort(shared.codes, bests, kSampleThreads);
    if (threadIdx.x == 0) shared.ceiling = shared.codes[wanted - 1];
  }
  cluster_sync<kBlocks>();
  if (!enough) return ~uint64_t{0};
  return *in_block<kBlocks>(&shared.ceiling, 0);  // the next call writes it after more of cluster_sync
}

/// The best `wanted` tokens (1 to kSort / 2, and not more than there are) are shared.codes[0, wanted) of the
/// first block. `all` is of the last survey.
template <int kBlocks, class T>
__device__ inline void rank_prefix(const LogitRow<kBlocks, T>& row, const Survey& all, uint64_t wanted,
                                   SampleShared<kBlocks>& shared) {
  Bracket bracket = whole(all);
  bracket.hi = Smaller64{}(ceiling_of(wanted, row.cut, shared), all.worst);
  int count = gather(row, all.best, bracket.hi, shared);
  if (count > kSort) {
    bracket.count = static_cast<uint64_t>(count);
    while (bracket.count_before + bracket.count > kSort)
      bracket = narrow(row, Softmax{}, false, {true, wanted}, bracket, shared);
    count = gather(row, all.best, bracket.hi, shared);
  }
  if (cluster_rank<kBlocks>() == 0) sort_codes(count, shared);
}

struct Crossing {
  uint64_t code, mass;  // the token at the target; the mass up to and with it
};

template <int kBlocks, class T>
__device__ inline Crossing cross(const LogitRow<kBlocks, T>& row, const Survey& all, const Softmax& softmax,
                                 const Target& target, SampleShared<kBlocks>& shared) {
  Bracket bracket = whole(all);
  while (bracket.count > kSort) bracket = narrow(row, softmax, true, target, bracket, shared);
  cluster_sync<kBlocks>();  // the first block has read its codes
  const int count = gather(row, bracket.lo, bracket.hi, shared);
  if (cluster_rank<kBlocks>() == 0) {
    sort_codes(count, shared);
    if (const int owners = owners_of(count); static_cast<int>(threadIdx.x) < owners) {
      sum_sorted(count, softmax, shared);
      const int found = target.by_rank ? static_cast<int>(target.at - bracket.count_before) - 1
                                       : reach(target.at - bracket.mass_before, count, owners, shared);
      if (threadIdx.x == 0) {
        shared.answer[0] = shared.codes[found];
        shared.answer[1] = bracket.mass_before + shared.all_mass[found];
      }
    }
  }
  cluster_sync<kBlocks>();
  const uint64_t* answer = in_block<kBlocks>(shared.answer, 0);
  const Crossing crossing{answer[0], answer[1]};
  cluster_sync<kBlocks>();
  return crossing;
}

}  // namespace orrery::kernels::cuda
