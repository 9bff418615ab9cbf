// One row of logits as the blocks that own it read it: never stored, read again from L2 where a search needs
// it.
//   A warp reads groups of 256 ids: a lane has 8 of them, 16 bytes at a time, in ascending order. Groups
//   follow each other in pieces, of which there are at most 1,024, and a warp owns a piece. What a group and
//   a piece are depends on the vocabulary alone, so that sums over them have the same bits however many
//   blocks share a row and wherever it lies. Block r has pieces [r, r + 1) * in_block; its warps take them in
//   turn, with 32 to 128 bytes of a lane in flight.
// Where penalties or a bias change logits, that is done on the way: a token whose bit in `marks` is set may
// be among the recent ones, and the warp counts how often.
#pragma once

#include <cuda_fp16.h>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/sample_softmax.cuh"
#include "kernels/sample.h"

namespace orrery::kernels::cuda {

constexpr int kSampleThreads = 512;
constexpr int kSampleWarps = kSampleThreads / kWarp;
constexpr int kGroup = 256;
constexpr int kLaneIds = kGroup / kWarp;
constexpr int kMostPieces = 1024;
constexpr int kMarkWords = 2048;  // one bit for each id modulo 65,536

/// How a row is cut.
struct Cut {
  int vocabulary, in_piece, pieces, in_block;  // ids; groups; all of them; pieces of a block
};

inline Cut cut_of(int64_t vocabulary, int blocks) {
  const auto groups = static_cast<int>((vocabulary + kGroup - 1) / kGroup);
  const int in_piece = (groups + kMostPieces - 1) / kMostPieces;
  const int pieces = (groups + in_piece - 1) / in_piece;
  return {static_cast<int>(vocabulary), in_piece, pieces, (pieces + blocks - 1) / blocks};
}

/// A group of a row, of which a lane holds kLaneIds clean logits; -infinity beyond the end.
struct TokenGroup {
  int number, piece;  // in the row; in the block
  bool begins_piece;
  float x[kLaneIds];
};

/// Rows in clusters are so few that a multiprocessor has one block, with twice the registers.
template <int kBlocks>
constexpr bool kAlone = kBlocks > 1;

/// T: float, or uint16_t for f16 and bf16, which share their kernels.
template <int kBlocks, class T>
struct LogitRow {
  static constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  static constexpr int kLoads = kLaneIds / kVector;
  static constexpr int kAhead = kAlone<kBlocks> ? 4 : 2;  // groups whose loads are in flight

  const T* logits;
  Cut cut;
  int first_piece, pieces;  // of this block
  bool aligned;             // to 16 bytes
  DType dtype;
  const Sample::Request* request;  // in shared memory
  const uint32_t* marks;           // in shared memory; null: no penalties
  bool changes;                    // whether logits are read with penalties and bias
  mutable int gathers = 0;         // so far (gather of sample_select.cuh)

  __device__ float widened(T x) const { return widened(x, dtype); }
  static __device__ float widened(float x, DType) { return x; }
  static __device__ float widened(uint16_t bits, DType dtype) {
    return dtype == DType::bf16 ? __uint_as_float(static_cast<uint32_t>(bits) << 16)
                                : __half2float(__ushort_as_half(bits));
  }
  /// -infinity.
  __device__ T nothing() const {
    if constexpr (sizeof(T) == 4) return -INFINITY;
    return dtype == DType::bf16 ? 0xFF80 : 0xFC00;
  }
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
  /// Of a lane's element; 64 bits, as ids beyond the end may not have 31.
  static __device__ int64_t id_of(int group, int j) {
    return static_cast<int64_t>(group) * kGroup + j / kVector * (kWarp * kVector) + lane() * kVector +
           j % kVector;
  }

  __device__ int groups_of_warp() const {
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    return pieces > warp ? (pieces - warp + kSampleWarps - 1) / kSampleWarps * cut.in_piece : 0;
  }

  /// 16 bytes of logits from id `first` on, those that are there.
  __device__ uint4 one_by_one(int64_t first) const {
    T values[kVector];
#pragma unroll
    for (int j = 0; j < kVector; ++j) values[j] = first + j < cut.vocabulary ? logits[first + j] : nothing();
    uint4 raw;
    memcpy(&raw, values, sizeof raw);
    return raw;
  }

  /// body(group) for the groups of the block's pieces that `wanted` takes, by whole warps.
  template <class Wanted, class Body>
  __device__ void groups(Wanted&& wanted, Body&& body) const {
    const int mine = groups_of_warp();
    for (int base = 0; base < mine; base += kWarp) {
      const int number = base + lane();
      unsigned left = __ballot_sync(kWholeWarp, number < mine && wanted(piece_of(number)));
      while (left != 0) {
        int at[kAhead];
        uint4 raw[kAhead][kLoads];
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          at[a] = left != 0 ? base + __ffs(static_cast<int>(left)) - 1 : -1;
          left &= left - 1;
          if (at[a] >= 0) load(group_of(at[a]), raw[a]);
        }
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          if (at[a] < 0) break;
          TokenGroup group{
              group_of(at[a]), piece_of(at[a]), cut.in_piece == 1 || at[a] % cut.in_piece == 0, {}};
#pragma unroll
          for (int j = 0; j < kLaneIds; ++j) {
            T values[kVector];
            memcpy(values, &raw[a][j / kVector], sizeof values);
            group.x[j] = widened(values[j % kVector]);
          }
          body(group);
        }
      }
    }
  }

  /// Makes a group's logits clean, and changes them where that is asked.
  __device__ void clean(TokenGroup& group) const {
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j) group.x[j] = clean_logit(group.x[j]);
    if (!changes) return;
    if (marks != nullptr) penalise(group);
    if (request->bias == nullptr) return;
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j)
      if (const int64_t id = id_of(group.number, j); id < cut.vocabulary)
        group.x[j] = clean_logit(group.x[j] + request->bias[id]);
  }

  /// body(key, code) for each token that is there, of the pieces that `wanted` takes.
  template <class Wanted, class Body>
  __device__ void each(Wanted&& wanted, Body&& body) const {
    groups(wanted, [&](TokenGroup& group) {
      clean(group);
#pragma unroll
      for (int j = 0; j < kLaneIds; ++j)
        if (const uint32_t key = key_of(group.x[j]); key != 0)
          body(key, code_of(key, id_of(group.number, j)));
    });
  }

 private:
  /// Of the block, of the group that is the warp's `number`-th.
  __device__ int piece_of(int number) const {
    const int turn = cut.in_piece == 1 ? number : number / cut.in_piece;
    return static_cast<int>(threadIdx.x) / kWarp + turn * kSampleWarps;
  }
  __device__ int group_of(int number) const {
    const int piece = first_piece + piece_of(number);
    return cut.in_piece == 1 ? piece : piece * cut.in_piece + number % cut.in_piece;
  }

  __device__ void load(int group, uint4 (&raw)[kLoads]) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int64_t first = id_of(group, i * kVector);
      raw[i] = aligned && first + kVector <= cut.vocabulary ? *reinterpret_cast<const uint4*>(logits + first)
                                                            : one_by_one(first);
    }
  }

  __device__ void penalise(TokenGroup& group) const {
#pragma unroll
    for (int j = 0; j < kLaneIds; ++j) {
      const int64_t id = id_of(group.number, j);
      const uint32_t word = marks[id / 32 % kMarkWords];
      const unsigned marked = __ballot_sync(kWholeWarp, id < cut.vocabulary && (word >> (id % 32) & 1U) != 0);
      if (marked != 0) group.x[j] = after_penalties(marked, static_cast<int>(id), group.x[j]);
    }
  }
  /// By the warp, of a logit of each lane; those of the lanes that are marked may change.
  __device__ __noinline__ float after_penalties(unsigned marked, int id, float logit) const {
    for (; marked != 0; marked &= marked - 1) {
      const int owner = __ffs(static_cast<int>(marked)) - 1;
      const int one = __shfl_sync(kWholeWarp, id, owner);
      unsigned seen = 0;
      for (int i = lane(); i < request->recent_count; i += kWarp) seen += request->recent[i] == one ? 1 : 0;
      seen = __reduce_add_sync(kWholeWarp, seen);
      if (lane() == owner && seen != 0) logit = penalised(request->params, logit, static_cast<int64_t>(seen));
    }
    return logit;
  }
};

}  // namespace orrery::kernels::cuda
