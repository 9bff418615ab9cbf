// Launches attention of single queries (attention_decode.cuh): how many blocks share a query's keys.
#include <algorithm>

#include "kernels/cuda/attention_decode.cuh"
#include "kernels/cuda/attention_paths.h"
#include "kernels/cuda/attention_shapes.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int64_t kQueriesAtOnce = 64;  // whose groups lie in the workspace

/// Query heads of a block, and sets of them.
struct Columns {
  int rows;
  int64_t count;
  explicit Columns(const Attention::Problem& problem) {
    const int64_t group = problem.heads / problem.kv_heads;
    rows = static_cast<int>(std::min<int64_t>(group, decode::kRows));
    count = problem.kv_heads * ((group + decode::kRows - 1) / decode::kRows);
  }
};

int64_t queries_of(const Attention::Args& args, Singles which) {
  return which == Singles::all_tokens ? args.problem.tokens : args.ragged.sequences;
}

/// Groups that keys of at most `max_length` can have; 0: not known.
int64_t groups_of(int64_t max_length) {
  const int64_t keys = decode::kUnit * decode::kWarps;
  return max_length > 0 ? std::min<int64_t>(decode::kGroups, (max_length + keys - 1) / keys)
                        : decode::kGroups;
}

/// Blocks of a cluster: enough to keep the device busy, no more than the longest keys have work for.
int cluster_blocks(int64_t clusters, int64_t max_length, const CardMachine& card) {
  const TileConfig& config = config_of(card);
  const int64_t wanted = static_cast<int64_t>(card.multiprocessors) * config.decode_blocks;
  const int64_t most = std::min<int64_t>(groups_of(max_length), config.cluster_blocks);
  int blocks = 1;
  while (blocks < most && blocks * 2 * clusters <= std::max(wanted, 2 * clusters)) blocks *= 2;
  return std::min(blocks, config.cluster_blocks);
}

}  // namespace

size_t cluster_shared_bytes(const Attention::Problem& problem, const CardMachine& card) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    return decode::shared_bytes<kKv, kDim>(Columns(problem).rows,
                                           std::max(1, config_of(card).cluster_blocks));
  });
}

void attend_singles(const Attention::Args& args, const Launch& launch, Singles which) {
  with_head(args.problem, [&]<DType kKv, int kDim>() {
    const CardMachine& card = current_card();
    const Columns columns(args.problem);
    const int64_t queries = queries_of(args, which);
    const auto shared = [&](int blocks) { return decode::shared_bytes<kKv, kDim>(columns.rows, blocks); };
    int blocks = cluster_blocks(queries * columns.count, args.ragged.max_length, card);
    while (blocks < config_of(card).cluster_blocks && shared(blocks) > shared_of_each(card, 2)) blocks *= 2;
    const auto cluster = static_cast<unsigned>(blocks);
    const dim3 grid(cluster, static_cast<unsigned>(queries), static_cast<unsigned>(columns.count));
    launch_clusters(launch, decode::attend<kKv, kDim>, cluster, grid, dim3(decode::kThreads), shared(blocks),
                    args, Logit::of(args), which == Singles::lone_tokens);
  });
}

size_t group_shared_bytes(const Attention::Problem& problem) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    return decode::shared_bytes<kKv, kDim>(Columns(problem).rows, decode::kGroups);
  });
}

size_t split_workspace(const Attention::Problem& problem) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    const Columns columns(problem);
    const int64_t groups = std::min(problem.tokens, kQueriesAtOnce) * columns.count * decode::kGroups;
    return static_cast<size_t>(groups) * decode::Part<kDim>::floats(columns.rows) * sizeof(float);
  });
}

void attend_singles_split(const Attention::Args& args, const Launch& launch, Singles which) {
  with_head(args.problem, [&]<DType kKv, int kDim>() {
    const Columns columns(args.problem);
    const bool by_sequence = which == Singles::lone_tokens;
    auto* parts = reinterpret_cast<float*>(launch.workspace);
    const int64_t queries = queries_of(args, which), step = std::min(args.problem.tokens, kQueriesAtOnce);
    for (int64_t first = 0; first < queries; first += step) {
      const dim3 grid(static_cast<unsigned>(groups_of(args.ragged.max_length)),
                      static_cast<unsigned>(std::min(step, queries - first)),
                      static_cast<unsigned>(columns.count));
      launch_kernel(launch, decode::attend_group<kKv, kDim>, grid, dim3(decode::kThreads),
                    decode::shared_bytes<kKv, kDim>(columns.rows, decode::kGroups), args, Logit::of(args),
                    by_sequence, static_cast<int>(first), columns.rows, parts);
      launch_kernel(launch, decode::join_groups<kDim>, dim3(1, grid.y, grid.z), dim3(decode::kThreads), 0,
                    args, by_sequence, static_cast<int>(first), columns.rows, parts);
    }
  });
}

}  // namespace orrery::kernels::cuda
