// Launches attention of single queries (attention_decode.cuh): how many blocks share a query's keys.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/attention_decode.cuh"
#include "kernels/cuda/attention_paths.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kPortableCluster = 8;
constexpr int64_t kWantedBlocks = 256;       // about two for each multiprocessor
constexpr size_t kSharedLimit = 110 * 1024;  // so that two fit into one

template <class... Params>
void launch_clusters(const Launch& on, void (*kernel)(Params...), dim3 grid, unsigned threads, size_t shared,
                     std::type_identity_t<Params>... args) {
  if (shared > kPlainShared)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "asking for shared memory");
  if (grid.x > kPortableCluster)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
          "asking for clusters of 16 blocks");
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = grid.x;
  attributes[1].val.clusterDim.y = 1;
  attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream_of(on);
  config.attrs = attributes;
  config.numAttrs = 2;
  check(cudaLaunchKernelEx(&config, kernel, args...), "starting a kernel");
}

/// Blocks of a cluster: enough to keep the device busy, no more than the longest keys have work for.
int cluster_blocks(int64_t clusters, int64_t max_length) {
  const int64_t keys = decode::kUnit * decode::kWarps;
  int64_t groups = decode::kGroups;
  if (max_length > 0) groups = std::min(groups, (max_length + keys - 1) / keys);
  int blocks = 1;
  while (blocks < groups && blocks * 2 * clusters <= std::max<int64_t>(kWantedBlocks, 2 * clusters))
    blocks *= 2;
  return blocks;
}

template <DType kKv, int kDim>
void start(const Attention::Args& args, const Launch& launch, Singles which) {
  const Attention::Problem& problem = args.problem;
  const int64_t group = problem.heads / problem.kv_heads;
  const auto rows = static_cast<int>(std::min<int64_t>(group, decode::kRows));
  const int64_t columns = problem.kv_heads * ((group + decode::kRows - 1) / decode::kRows);
  const int64_t queries = which == Singles::all_tokens ? problem.tokens : args.ragged.sequences;
  int blocks = cluster_blocks(queries * columns, args.ragged.max_length);
  while (blocks < decode::kGroups && decode::shared_bytes<kKv, kDim>(rows, blocks) > kSharedLimit)
    blocks *= 2;
  const dim3 grid(blocks, static_cast<unsigned>(queries), static_cast<unsigned>(columns));
  launch_clusters(launch, decode::attend<kKv, kDim>, grid, decode::kThreads,
                  decode::shared_bytes<kKv, kDim>(rows, blocks), args, Logit::of(args),
                  which == Singles::lone_tokens);
}

template <DType kKv>
void start(const Attention::Args& args, const Launch& launch, Singles which) {
  if (args.problem.head_dim <= 64) return start<kKv, 64>(args, launch, which);
  if (args.problem.head_dim <= 128) return start<kKv, 128>(args, launch, which);
  start<kKv, 256>(args, launch, which);
}

}  // namespace

void attend_singles(const Attention::Args& args, const Launch& launch, Singles which) {
  if (args.problem.kv == DType::bf16) return start<DType::bf16>(args, launch, which);
  start<DType::f16>(args, launch, which);
}

}  // namespace orrery::kernels::cuda
