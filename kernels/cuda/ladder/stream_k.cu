// Step 15, cuda.stream_k: the last wave of tiles is shared out by parts of k.
//   Changed  tiles that do not fill a wave are laid end to end, and their parts cut into runs of equal
//            length, one for each cluster. A run ends in one tile and begins the next, so that several
//            clusters have sums of a tile: who has its end adds up what the others wrote to the workspace,
//            and writes c.
//   Faster   288 tiles on 132 multiprocessors take two waves and a fifth instead of three.
//   Limit    each of them writes or reads 128 KB of sums twice over, which takes as long as some parts; so a
//            wave that is nearly full stays whole, and the row is then cuda.cluster. And a sum is cut where
//            its tile is: other tiles beside it, or another card, give other last bits, though every call
//            gives the same ones: what is added to what does not depend on who comes first.
// What others wait for comes first in a cluster's work, then its whole tiles, then what it finishes itself;
// and it waits for clusters of lower numbers only, which the card starts before it.
//   workspace: a flag for each group of each block, cleared before the kernel; then the sums of each block,
//   [group][4 sums][thread]
#include <algorithm>

#include "kernels/cuda/ladder/tiles.cuh"

namespace orrery::kernels::cuda::ladder {
namespace {

constexpr int kCluster = 2;      // blocks
constexpr int kLeastParts = 16;  // of a run, and what it has to save: 128 KB go out and in meanwhile

struct Work {
  enum Kind : uint8_t { whole, begun, finished };
  Piece piece;
  Kind kind;
  int first_helper;  // clusters from here to one's own have sums of what is finished
};

struct Schedule {
  TileOrder<kCluster> order;
  int clusters;
  int whole;    // tiles; those behind are cut up
  int run = 0;  // parts of them that a cluster has

  Schedule(const MatmulLadder::Problem& problem, const CardMachine& card)
      : order(problem), clusters(std::max(card.multiprocessors / kCluster, 1)), whole(order.count()) {
    const int left = order.count() % clusters, parts = left * order.parts;
    const int each = std::max((parts + clusters - 1) / clusters, kLeastParts);
    if (left == 0 || each + kLeastParts > order.parts) {
      clusters = std::min(clusters, order.count());
      return;
    }
    whole -= left;
    run = each;
    if (whole == 0) clusters = (parts + run - 1) / run;
  }

  int blocks() const { return clusters * kCluster; }
  size_t flag_bytes() const {
    return (static_cast<size_t>(blocks() * kGroups) * sizeof(unsigned) + 255) / 256 * 256;
  }
  size_t workspace() const {
    if (run == 0) return 0;
    return flag_bytes() + static_cast<size_t>(blocks()) * kTileRows * kTileCols * sizeof(float);
  }

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  /// Works of a cluster, of which some are empty.
  __device__ int works(int cluster) const { return 2 + (whole - cluster + clusters - 1) / clusters; }

  __device__ Work work(int i, int cluster, int rank) const {
    if (i > 0 && i < works(cluster) - 1)
      return {order.piece(cluster + (i - 1) * clusters, rank), Work::whole, cluster};
    const int begin = cluster * run, end = min(begin + run, (order.count() - whole) * order.parts);
    if (begin >= end) return {};
    // A run is shorter than a tile: it meets one, and perhaps the next.
    const int tile = begin / order.parts, tile_end = (tile + 1) * order.parts;
    Work work{order.piece(whole + tile, rank), Work::finished, tile * order.parts / run};
    work.piece.first = begin - tile * order.parts;
    if (i > 0) return end >= tile_end ? work : Work{};
    if (end == tile_end) return {};
    work.kind = Work::begun;
    if (end > tile_end) {
      work.piece = order.piece(whole + tile + 1, rank);
      work.piece.end = end - tile_end;
    } else {
      work.piece.end = end - tile * order.parts;
    }
    return work;
  }
#endif
};

/// Where blocks leave sums for each other.
struct Exchange {
  unsigned* flags;
  float4* sums;
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline float4* sums_of(const Exchange& exchange, int block, int group) {
  return exchange.sums + (block * kGroups + group) * (kTileCols / 8 * kGroupThreads) +
         threadIdx.x % kGroupThreads;
}

__device__ void leave(const Exchange& exchange, const Consumer<kCluster>& consumer, int block,
                      const GroupSums& sums) {
  float4* to = sums_of(exchange, block, consumer.group);
#pragma unroll
  for (int n = 0; n < kTileCols / 8; ++n)
    to[n * kGroupThreads] = {sums[n][0], sums[n][1], sums[n][2], sums[n][3]};
  __threadfence();
  consumer.meet_group();
  if (consumer.is_first())
    asm volatile(
        "st.release.gpu.global.u32 [%0], %1;" ::"l"(exchange.flags + block * kGroups + consumer.group), "r"(1)
        : "memory");
}

__device__ void collect(const Exchange& exchange, const Consumer<kCluster>& consumer, int block,
                        GroupSums& sums) {
  if (consumer.is_first()) {
    unsigned there = 0;
    while (there == 0)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(there)
                   : "l"(exchange.flags + block * kGroups + consumer.group)
                   : "memory");
  }
  consumer.meet_group();
  const float4* from = sums_of(exchange, block, consumer.group);
#pragma unroll
  for (int n = 0; n < kTileCols / 8; ++n) {
    const float4 other = __ldcg(from + n * kGroupThreads);
    sums[n][0] += other.x, sums[n][1] += other.y, sums[n][2] += other.z, sums[n][3] += other.w;
  }
}

__device__ void multiply_tiles(const TileMaps& maps, const Schedule& schedule, const Exchange& exchange) {
  const Ring ring = ring_of_block();
  if (threadIdx.x == 0) ring.make_barriers(Consumer<kCluster>::kReaders);
  pdl_wait();
  cluster_sync();
  const int cluster = static_cast<int>(blockIdx.x) / kCluster, rank = cluster_rank();
  const int works = schedule.works(cluster);
  if (threadIdx.x < kGroupThreads) {
    give_up_registers<kBringerRegisters>();
    Producer<kCluster> producer{maps, ring, {}};
    if (threadIdx.x == 0)
      for (int i = 0; i < works; ++i) producer.bring(schedule.work(i, cluster, rank).piece);
  } else {
    take_registers<kMultiplierRegisters>();
    Consumer<kCluster> consumer{ring, static_cast<int>(threadIdx.x) / kGroupThreads - 1, {}};
    for (int i = 0; i < works; ++i) {
      const Work work = schedule.work(i, cluster, rank);
      if (work.piece.first == work.piece.end) continue;
      GroupSums sums = {};
      consumer.add(work.piece, sums);
      if (work.kind == Work::begun) {
        leave(exchange, consumer, static_cast<int>(blockIdx.x), sums);
        continue;
      }
      if (work.kind == Work::finished)
        for (int helper = work.first_helper; helper < cluster; ++helper)
          collect(exchange, consumer, helper * kCluster + rank, sums);
      consumer.store(maps.c, work.piece, sums);
    }
    consumer.finish();
  }
  __syncwarp();
  cluster_sync();
}

#else
__device__ void multiply_tiles(const TileMaps&, const Schedule&, const Exchange&) {
}  // no card that runs this is given the row
#endif

__global__ void __launch_bounds__(kSpecialisedThreads, 1)
    stream_k_kernel(const __grid_constant__ TileMaps maps, const __grid_constant__ Schedule schedule,
                    const Exchange exchange) {
  multiply_tiles(maps, schedule, exchange);
}

size_t workspace(const MatmulLadder::Problem& problem, const Machine& machine, int) {
  return Schedule(problem, machine.card).workspace();
}

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const Operands<__nv_bfloat16> o = halves_of(args);
  const Schedule schedule(args.problem, current_card());
  Exchange exchange{};
  if (schedule.run > 0) {
    exchange = {reinterpret_cast<unsigned*>(launch.workspace),
                reinterpret_cast<float4*>(launch.workspace + schedule.flag_bytes())};
    check(cudaMemsetAsync(exchange.flags, 0, schedule.flag_bytes(), stream_of(launch)), "clearing flags");
  }
  launch_clusters(launch, stream_k_kernel, kCluster, dim3(static_cast<unsigned>(schedule.blocks())),
                  dim3(kSpecialisedThreads), kRingShared, make_maps(o), schedule, exchange);
}

}  // namespace

Row<MatmulLadder> stream_k_row() {
  return {.name = "cuda.stream_k",
          .device = DeviceKind::cuda,
          .supports = without_tiles<DType::bf16>,
          .run = run,
          .workspace = workspace,
          .arithmetic = Arithmetic::bf16,
          .rounding = tensor_rounding,
          .source = "cuda/ladder/stream_k.cu"};
}

}  // namespace orrery::kernels::cuda::ladder
