// The first pass over one row: what there is, and the best token of each piece of it. Logits as they lie come
// by way of shared memory that is idle then (Source, which the gather of sample_select.cuh takes too), those
// with penalties and bias by registers. Called as sample_select.cuh says.
#pragma once

#include <cstddef>

#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/sample_shared.cuh"

namespace orrery::kernels::cuda {

/// Of one lane of the warp that owns the piece: joins what its groups have.
template <int kBlocks>
__device__ inline void note_group(int piece, bool begins, uint64_t code, float sum,
                                  SampleShared<kBlocks>& shared) {
  const uint64_t before = begins ? ~uint64_t{0} : shared.best[piece];
  if (before != ~uint64_t{0} && code != ~uint64_t{0}) {
    const float old = logit_of(key_in(before)), now = logit_of(key_in(code)), largest = fmaxf(old, now);
    sum = shared.sums[piece] * expf(old - largest) + sum * expf(now - largest);
  } else if (before != ~uint64_t{0}) {
    sum = shared.sums[piece];
  }
  shared.best[piece] = Smaller64{}(before, code);
  shared.sums[piece] = sum;
}

/// The larger number, or NaN where one is NaN.
__device__ inline float larger_or_nan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}

/// What one thread finds in a survey.
struct Found {
  uint32_t count = 0;
  float lowest = FLT_MAX;
  bool finite = false;

  /// Makes the logits of a lane clean and returns the largest.
  __device__ float add(float (&x)[kLaneIds]) {
    float most = -INFINITY;
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j) {
      finite |= fabsf(x[j]) <= FLT_MAX;
      x[j] = clean_logit(x[j]);
      most = fmaxf(most, x[j]);
    }
    add_clean(x);
    return most;
  }
  __device__ void add_clean(const float (&x)[kLaneIds]) {
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j)
      if (x[j] != -INFINITY) {
        ++count;
        lowest = fminf(lowest, x[j]);
      }
  }
};

/// By the warp: notes the best token of a group and with `sums` its sum. Of a lane's logits x, which are
/// clean but for -0 in place of 0, `most` is the largest.
template <int kBlocks, class T>
__device__ inline void survey_group(int number, int piece, bool begins, const float (&x)[kLaneIds],
                                    float most, bool sums, SampleShared<kBlocks>& shared) {
  int place = kLaneIds - 1;
#pragma unroll
  for (int j = kLaneIds - 2; j >= 0; --j) place = x[j] == most ? j : place;
  const uint32_t key = key_of(most + 0.0F), largest = __reduce_max_sync(kWholeWarp, key);
  const auto own = static_cast<uint32_t>(LogitRow<kBlocks, T>::id_of(number, place));
  const uint32_t id = __reduce_min_sync(kWholeWarp, key == largest ? own : 0xFFFFFFFFU);
  float sum = 0;
  if (sums && largest != 0) {
    const float top = logit_of(largest);
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j) sum += expf(x[j] - top);
    sum = warp_reduce(sum, Plus{});
  }
  if (LogitRow<kBlocks, T>::lane() == 0)
    note_group(piece, begins, largest != 0 ? code_of(largest, id) : ~uint64_t{0}, sum, shared);
}

/// Logits of the groups that follow, of which a thread reads only what it had brought: no barrier. Of float32
/// so many for each warp, or one less beside the codes.
constexpr int kComingGroups = 4;
constexpr int kComingBytes = kComingGroups * kGroup * sizeof(float) * kSampleWarps;
template <int kBlocks>
__device__ inline uint4* coming(SampleShared<kBlocks>& shared) {
  static_assert(offsetof(SampleShared<kBlocks>, bracket) - offsetof(SampleShared<kBlocks>, count) >=
                kComingBytes);
  return reinterpret_cast<uint4*>(shared.count);
}

/// The groups of a warp, in turn.
struct WarpGroups {
  int group, piece, part = 0;  // in the row; in the block; of the piece

  __device__ WarpGroups(int first_piece, int in_piece) : piece(static_cast<int>(threadIdx.x) / kWarp) {
    group = (first_piece + piece) * in_piece;
  }
  __device__ void advance(int in_piece) {
    ++group;
    if (++part < in_piece) return;
    part = 0;
    piece += kSampleWarps;
    group += (kSampleWarps - 1) * in_piece;
  }
};

/// A row's own logits, by way of shared memory, so that those in flight need no registers. Nothing of it is
/// in local memory, as a LogitRow is where it is handed to a function.
template <int kBlocks, class T>
struct Source {
  using Row = LogitRow<kBlocks, T>;

  const Row& row;
  const T* logits;
  int whole;  // groups that can be copied
  DType dtype;

  __device__ explicit Source(const Row& from)
      : row(from),
        logits(from.logits),
        whole(from.aligned ? from.cut.vocabulary / kGroup : 0),
        dtype(from.dtype) {}

  /// A lane's logits of a group to to[0], to[kSampleThreads], with the next end_of_copies.
  __device__ void bring(int group, uint4* to) const {
    if (group < whole) {
      const T* const from = logits + Row::id_of(group, 0);
#pragma unroll
      for (int i = 0; i < Row::kLoads; ++i)
        copy_16(static_cast<uint32_t>(__cvta_generic_to_shared(to + i * kSampleThreads)),
                from + i * kWarp * Row::kVector, true);
    } else {
      uint4 raw[Row::kLoads];
#pragma unroll
      for (int i = 0; i < Row::kLoads; ++i) raw[i] = row.one_by_one(Row::id_of(group, i * Row::kVector));
#pragma unroll
      for (int i = 0; i < Row::kLoads; ++i) to[i * kSampleThreads] = raw[i];
    }
  }
  __device__ void take(const uint4* from, float (&x)[kLaneIds]) const {
#pragma unroll
    for (int i = 0; i < Row::kLoads; ++i) {
      const uint4 raw = from[i * kSampleThreads];
      T values[Row::kVector];
      memcpy(values, &raw, sizeof values);
#pragma unroll
      for (int j = 0; j < Row::kVector; ++j) x[i * Row::kVector + j] = Row::widened(values[j], dtype);
    }
  }
};

/// Surveys the row's own logits, with as many groups ahead of a warp as have room. The loop reads nothing
/// from local memory and fits 64 registers: what a group costs beside the loads decides how fast rows are
/// read.
template <int kBlocks, class T>
__device__ inline Found survey_own(const LogitRow<kBlocks, T>& row, bool sums,
                                   SampleShared<kBlocks>& shared) {
  using Row = LogitRow<kBlocks, T>;
  constexpr int kRound = Row::kLoads * kSampleThreads;  // a group of each warp
  constexpr int kRounds = kComingBytes / (kRound * static_cast<int>(sizeof(uint4)));
  uint4* const own = coming(shared) + threadIdx.x;
  const Source<kBlocks, T> source(row);
  const int in_piece = row.cut.in_piece, mine = row.groups_of_warp();
  WarpGroups from(row.first_piece, in_piece), at = from;
  Found found;
#pragma unroll 1
  for (int round = 0; round < mine + kRounds - 1; ++round) {
    if (round < mine) {  // to where the last group taken was
      source.bring(from.group, own + round % kRounds * kRound);
      from.advance(in_piece);
    }
    end_of_copies();  // of nothing too, so that each round has one
    if (round < kRounds - 1) continue;
    wait_for_copies<kRounds - 1>();
    float x[kLaneIds];
    source.take(own + (round + 1) % kRounds * kRound, x);
    float most = x[0], least = x[0];
#pragma unroll
    for (int j = 1; j < kLaneIds; ++j) {
      most = larger_or_nan(most, x[j]);
      least = fminf(least, x[j]);
    }
    if (__all_sync(kWholeWarp, least >= -FLT_MAX && most <= FLT_MAX)) {
      found.count += kLaneIds;
      found.lowest = fminf(found.lowest, least);
      found.finite = true;
    } else {
      most = found.add(x);
    }
    survey_group<kBlocks, T>(at.group, at.piece, at.part == 0, x, most, sums, shared);
    at.advance(in_piece);
  }
  return found;
}

/// One pass over the row, as it lies or changed by penalties and bias: what there is, and of each piece the
/// best token and, with `sums`, the softmax's sum, which only a row as it lies has.
template <bool kChanged, int kBlocks, class T>
__device__ __noinline__ Survey survey(const LogitRow<kBlocks, T>& row, bool sums,
                                      SampleShared<kBlocks>& shared) {
  Found found;
  if constexpr (kChanged) {
    row.groups([](int) { return true; },
               [&](TokenGroup& group) {
                 row.clean(group);
                 found.add_clean(group.x);
                 float most = -INFINITY;
#pragma unroll
                 for (int j = 0; j < kLaneIds; ++j) most = fmaxf(most, group.x[j]);
                 survey_group<kBlocks, T>(group.number, group.piece, group.begins_piece, group.x, most, false,
                                          shared);
               });
  } else {
    found = survey_own(row, sums, shared);
  }
  __syncthreads();
  Survey mine{~uint64_t{0}, 0, found.count, found.finite};
  for (int piece = static_cast<int>(threadIdx.x); piece < row.pieces; piece += kSampleThreads)
    mine.best = Smaller64{}(mine.best, shared.best[piece]);
  if (mine.count > 0) mine.worst = code_of(key_of(found.lowest + 0.0F), ~0U);
  return cluster_survey(mine, shared);
}

}  // namespace orrery::kernels::cuda
