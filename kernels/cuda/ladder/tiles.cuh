// What the steps from cuda.tma on share: tiles of bf16 that the card's engine for tiles (TMA) brings to where
// the products of four warps (wgmma) read them, on cards of capability 9.0.
//   A block owns 128 x 256 elements of c and walks over k in parts of 64; each of its two groups of four
//   warps multiplies 64 x 256 of them, in 128 registers of a thread. Four parts lie in shared memory, in a
//   ring:
//     a      [128 rows][64 steps of k]       b      four slices of [64 steps of k][64 columns]
//     out    of each group two times [64 rows][32 columns] of c on their way out
//   Rows have 128 bytes, swizzled as TMA writes and wgmma reads them (device/warpgroup.cuh). Of a ring's
//   stage one barrier tells that its part has come (full), one that it may be overwritten (empty). A product
//   of a group, 64 x 256 x 16, reads 10 KB of shared memory in the 128 cycles that it takes, of the 16 KB
//   that could be read: with 128 columns it would be 12. A part is 48 KB for 4.2 million operations. Beyond
//   the edges TMA brings zeros and writes nothing, so that no thread looks at them. requires  n and k
//   multiples of 8, operands at multiples of 16 bytes
#pragma once

#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/tile_copy.cuh"
#include "kernels/cuda/device/warpgroup.cuh"
#include "kernels/cuda/ladder/tensor.cuh"
#include "kernels/cuda/tensor_map.h"

namespace orrery::kernels::cuda::ladder {

constexpr int kTileRows = 128, kTileCols = 256, kTileDepth = 64;
constexpr int kGroups = 2, kGroupThreads = 128, kGroupRows = kTileRows / kGroups;
constexpr int kSlices = kTileCols / 64;
constexpr int kRing = 4;  // stages
constexpr int kOutCols = 32;
constexpr int kPartOfA = kTileRows * 128, kSliceBytes = kTileDepth * 128;
constexpr int kPartBytes = kPartOfA + kSlices * kSliceBytes;
constexpr int kOutBytes = kGroupRows * 128;
// Where b lies along k, as (n, k), a part of it is [256 columns][128 bytes of k], of which each block of a
// cluster of two brings half for both.
constexpr int kShareCols = kTileCols / 2, kShareBytes = kShareCols * 128;
constexpr size_t kRingShared = 1024 + kRing * kPartBytes + 2 * kGroups * kOutBytes + 2 * kRing * 8;

// Of a thread: 65,536 registers are shared by three groups, one of which brings tiles.
constexpr int kBringerRegisters = 40, kMultiplierRegisters = 232;
constexpr int kSpecialisedThreads = (1 + kGroups) * kGroupThreads;

/// The matrices as TMA sees them.
struct TileMaps {
  CUtensorMap a, b, c;
};

/// A matrix of elements of so many bytes, for boxes of so many rows of 128 bytes.
inline CUtensorMap matrix_map(CUtensorMapDataType type, size_t element, const void* data, int rows, int cols,
                              int box_rows) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t apart[] = {sizes[0] * element};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / element), static_cast<cuuint32_t>(box_rows)};
  return make_tensor_map(type, data, sizes, apart, box);
}

inline TileMaps make_maps(const Operands<__nv_bfloat16>& o) {
  return {matrix_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, o.a, o.m, o.k, kTileRows),
          matrix_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, o.b, o.k, o.n, kTileDepth),
          matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, o.c, o.m, o.n, kGroupRows)};
}

inline Operands<__nv_bfloat16> halves_of(const MatmulLadder::Args& args) {
  const auto o = operands_of<__nv_bfloat16>(args);
  require_aligned(is_aligned(o.a) && is_aligned(o.b) && is_aligned(o.c));
  return o;
}

/// `supports` of the steps with tiles of one type.
template <DType kType>
std::string without_tiles(const MatmulLadder::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.dtype != kType)
    return "matrices of " + std::string(name_of(problem.dtype)) + "; it multiplies " +
           std::string(name_of(kType));
  if (std::string reason = without_warpgroups(machine.card); !reason.empty()) return reason;
  const DType stored_along_n = kType == DType::f8_e4m3 ? DType::f32 : kType;  // c alone has rows of n
  for (const auto& [row, dtype] : {std::pair{problem.n, stored_along_n}, std::pair{problem.k, kType}})
    if (const int64_t each = 16 / dtype_info(dtype).block_bytes; row % each != 0)
      return "rows of " + std::to_string(row) + " " + std::string(name_of(dtype)) +
             "; copies of tiles take multiples of " + std::to_string(each) + " (16 bytes)";
  return without_shared(kRingShared, machine.card);
}

/// A tile of c by its first row and column, and the parts of k that are added to it.
struct Piece {
  int row, col;
  int first, end;
};

/// Tiles in the order in which blocks take them, or pairs of tiles, one below the other, of clusters of two.
/// In strips of 2,048 rows, column after column: what runs at the same time needs some 2,000 rows of a and
/// columns of b, which the L2 cache holds.
template <int kBlocks>
struct TileOrder {
  static constexpr int kRows = kBlocks * kTileRows, kStrip = 2048 / kRows;
  int down, across, parts;

  explicit TileOrder(const MatmulLadder::Problem& problem, int depth = kTileDepth)
      : down(static_cast<int>((problem.m + kRows - 1) / kRows)),
        across(static_cast<int>((problem.n + kTileCols - 1) / kTileCols)),
        parts(static_cast<int>((problem.k + depth - 1) / depth)) {}
  __host__ __device__ int count() const { return down * across; }
  /// What the block of that rank has of a tile.
  __device__ Piece piece(int index, int rank) const {
    const int first = index / (kStrip * across) * kStrip, rows = min(kStrip, down - first);
    const int rest = index - first * across;
    return {(first + rest % rows) * kRows + rank * kTileRows, rest / rows * kTileCols, 0, parts};
  }
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Sums of a thread: 64 x 256 of a group (device/warpgroup.cuh).
using GroupSums = float[kTileCols / 8][4];

struct Ring {
  uint32_t begin;  // a multiple of 1,024

  __device__ uint32_t a(int stage) const { return begin + static_cast<uint32_t>(stage * kPartBytes); }
  __device__ uint32_t b(int stage) const { return a(stage) + kPartOfA; }
  __device__ uint32_t out(int group, int which) const {
    return a(kRing) + static_cast<uint32_t>((2 * group + which) * kOutBytes);
  }
  __device__ uint32_t full(int stage) const { return out(kGroups, 0) + static_cast<uint32_t>(16 * stage); }
  __device__ uint32_t empty(int stage) const { return full(stage) + 8; }

  /// By one thread. `readers` say that a part is read no more.
  __device__ void make_barriers(int readers) const {
    for (int stage = 0; stage < kRing; ++stage) {
      make_barrier(full(stage), 1);
      make_barrier(empty(stage), readers);
    }
    show_barriers();
  }
};

__device__ inline Ring ring_of_block() {
  extern __shared__ uint4 memory[];
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  return {(begin + 1023) / 1024 * 1024};
}

/// Begins sums += the group's rows of a part of a, times a part of b.
__device__ inline void begin_part(const Ring& ring, int stage, int group, GroupSums& sums) {
  const uint64_t a = descriptor(made_here(ring.a(stage) + static_cast<uint32_t>(group * kGroupRows * 128)));
  const uint64_t b = descriptor(made_here(ring.b(stage)), kSliceBytes);
  before_products();
#pragma unroll
  for (int step = 0; step < kTileDepth / 16; ++step)
    begin_product<DType::bf16, true>(sums, further(a, step * 32), further(b, step * 2048), true);
  end_of_products();
}

/// One thread asks for the parts of tiles, one after the other, as stages become empty. Blocks of a cluster
/// have the same columns of b: each asks for its share of them for all.
template <int kBlocks>
struct Producer {
  const TileMaps& maps;
  Ring ring;
  Stage<kRing> stage;

  __device__ void bring(const Piece& piece) {
    for (int part = piece.first; part < piece.end; ++part) {
      const uint32_t full = ring.full(stage.at);
      const int depth = part * kTileDepth;
      wait_for_phase(ring.empty(stage.at), stage.phase ^ 1);
      arrive_expecting(full, kPartBytes);
      copy_box(ring.a(stage.at), maps.a, depth, piece.row, full);
#pragma unroll
      for (int i = 0; i < kSlices / kBlocks; ++i) {
        const int slice = kBlocks == 1 ? i : cluster_rank() * (kSlices / kBlocks) + i;
        const uint32_t to = ring.b(stage.at) + static_cast<uint32_t>(slice * kSliceBytes);
        if constexpr (kBlocks == 1)
          copy_box(to, maps.b, piece.col + 64 * slice, depth, full);
        else
          copy_box_to((1 << kBlocks) - 1, to, maps.b, piece.col + 64 * slice, depth, full);
      }
      stage.advance();
    }
  }
};

/// One of the groups that multiply.
template <int kBlocks>
struct Consumer {
  static constexpr int kReaders = kBlocks * kGroups * 4;  // a lane of each warp
  Ring ring;
  int group;
  Stage<kRing> stage;

  /// Adds a piece; the products of a part begin before those of the one before are done.
  __device__ void add(const Piece& piece, GroupSums& sums) {
    int before = begin_next(sums);
    for (int part = piece.first + 1; part < piece.end; ++part) {
      const int at = begin_next(sums);
      wait_for_products<1>();
      release(before);
      before = at;
    }
    wait_for_products<0>();
    settle(sums);
    release(before);
  }

  /// Writes a tile by way of two places, 32 columns at a time: one is filled while the other one is read.
  __device__ void store(const CUtensorMap& c, const Piece& piece, const GroupSums& sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4, g = lane / 4;
    const int warp_row = static_cast<int>(threadIdx.x) / 32 % 4 * 16;
#pragma unroll
    for (int i = 0; i < kTileCols / kOutCols; ++i) {
      const uint32_t out = ring.out(group, i % 2);
      if (is_first()) wait_for_stores<1>();
      meet_group();
#pragma unroll
      for (int block = 0; block < kOutCols / 8; ++block)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float* from = &sums[i * (kOutCols / 8) + block][2 * half];
          const int chunk = (2 * block + q / 2) ^ g;  // of row g or g + 8
          const auto at = static_cast<uint32_t>((warp_row + g + 8 * half) * 128 + chunk * 16 + q % 2 * 8);
          asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(out + at), "f"(from[0]), "f"(from[1])
                       : "memory");
        }
      show_to_products();
      meet_group();
      if (is_first()) store_box(c, piece.col + i * kOutCols, piece.row + group * kGroupRows, out);
    }
  }

  /// Before the block ends.
  __device__ void finish() const {
    if (is_first()) wait_for_stores<0>();
  }

  /// A stage is read no more.
  __device__ void release(int at) const {
    if constexpr (kBlocks == 1) {
      give_back(ring.empty(at));
    } else {  // to all who write there
      __syncwarp();
      if (threadIdx.x % 32 < kBlocks) arrive_in_block(ring.empty(at), static_cast<int>(threadIdx.x) % 32);
    }
  }

  __device__ bool is_first() const { return threadIdx.x % kGroupThreads == 0; }
  __device__ void meet_group() const { meet(1 + group, kGroupThreads); }

 private:
  /// Begins the products of the next part, and tells its stage.
  __device__ int begin_next(GroupSums& sums) {
    const int at = stage.at;
    wait_for_phase(ring.full(at), stage.phase);
    begin_part(ring, at, group, sums);
    stage.advance();
    return at;
  }
};

/// One thread asks for the parts of a tile where b lies along k, in a cluster of two.
template <int kDepth>
__device__ inline void bring_along_k(const TileMaps& maps, const Ring& ring, const Piece& piece,
                                     Stage<kRing>& stage) {
  const int share = cluster_rank();
  for (int part = piece.first; part < piece.end; ++part) {
    const uint32_t full = ring.full(stage.at);
    wait_for_phase(ring.empty(stage.at), stage.phase ^ 1);
    arrive_expecting(full, kPartBytes);
    copy_box(ring.a(stage.at), maps.a, part * kDepth, piece.row, full);
    copy_box_to(0b11, ring.b(stage.at) + static_cast<uint32_t>(share * kShareBytes), maps.b, part * kDepth,
                piece.col + share * kShareCols, full);
    stage.advance();
  }
}

/// All that a block of a cluster of two does where b lies along k; add(consumer, piece, sums) adds a tile up
/// from parts of kDepth steps of k.
template <int kDepth, class Add>
__device__ inline void multiply_along_k(const TileMaps& maps, const TileOrder<2>& order, const Add& add) {
  const Ring ring = ring_of_block();
  if (threadIdx.x == 0) ring.make_barriers(Consumer<2>::kReaders);
  pdl_wait();
  cluster_sync();  // nobody arrives at a barrier of the other before it is made
  const int clusters = static_cast<int>(gridDim.x) / 2;
  const int cluster = static_cast<int>(blockIdx.x) / 2, rank = cluster_rank();
  if (threadIdx.x < kGroupThreads) {
    give_up_registers<kBringerRegisters>();
    Stage<kRing> stage;
    if (threadIdx.x == 0)
      for (int index = cluster; index < order.count(); index += clusters)
        bring_along_k<kDepth>(maps, ring, order.piece(index, rank), stage);
  } else {
    take_registers<kMultiplierRegisters>();
    Consumer<2> consumer{ring, static_cast<int>(threadIdx.x) / kGroupThreads - 1, {}};
    for (int index = cluster; index < order.count(); index += clusters) {
      const Piece piece = order.piece(index, rank);
      GroupSums sums = {};
      add(consumer, piece, sums);
      consumer.store(maps.c, piece, sums);
    }
    consumer.finish();
  }
  __syncwarp();
  cluster_sync();  // nobody goes while the other may still arrive at its barriers
}

/// Straight from registers: pairs of columns, of which a row has whole ones.
__device__ inline void store_pairs(const Operands<__nv_bfloat16>& o, const Piece& piece, int group,
                                   const GroupSums& sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = piece.row + group * kGroupRows + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int n = 0; n < kTileCols / 8; ++n)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int col = piece.col + 8 * n + lane % 4 * 2;
      if (row + 8 * half < o.m && col < o.n)
        *reinterpret_cast<float2*>(o.c + static_cast<int64_t>(row + 8 * half) * o.n + col) = {
            sums[n][2 * half], sums[n][2 * half + 1]};
    }
}

#endif

}  // namespace orrery::kernels::cuda::ladder
