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
int most_groups(int64_t max_length) {
  if (max_length <= 0) return decode::kGroups;
  return decode::groups_of(static_cast<int>(std::min<int64_t>(max_length, 1 << 20)));
}

/// Blocks of a cluster: as many as the longest keys have groups, if there may be so many.
int cluster_blocks(int64_t max_length, const CardMachine& card) {
  int blocks = 1;
  while (blocks < most_groups(max_length)) blocks *= 2;
  return std::min(blocks, config_of(card).cluster_blocks);
}

/// Whether each block of so many clusters finds a multiprocessor for itself: clusters do not go across the
/// card's parts, so that some are left over. Where blocks share one while others idle, joining the groups by
/// a second kernel costs less.
bool have_room(int64_t clusters, int blocks, const CardMachine& card) {
  return 8 * clusters * blocks <= int64_t{7} * card.multiprocessors;
}

/// function.operator()<kSets>() of the sets that so many rows take.
template <class Function>
void with_sets(int rows, Function&& function) {
  if (rows > decode::kSetRows) return function.template operator()<2>();
  function.template operator()<1>();
}

}  // namespace

size_t cluster_shared_bytes(const Attention::Problem& problem, const CardMachine& card) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    return decode::shared_bytes<kKv, kDim>(Columns(problem).rows,
                                           decode::kGroups / std::max(1, config_of(card).cluster_blocks));
  });
}

void attend_singles(const Attention::Args& args, const Launch& launch, Singles which) {
  with_head(args.problem, [&]<DType kKv, int kDim>() {
    const Columns columns(args.problem);
    const int64_t queries = queries_of(args, which);
    const int blocks = cluster_blocks(args.ragged.max_length, current_card());
    if (!have_room(queries * columns.count, blocks, current_card()))
      return attend_singles_split(args, launch, which);
    const auto cluster = static_cast<unsigned>(blocks);
    const dim3 grid(cluster, static_cast<unsigned>(queries), static_cast<unsigned>(columns.count));
    with_sets(columns.rows, [&]<int kSets>() {
      launch_clusters(launch, decode::attend<kKv, kDim, kSets>, cluster, grid, dim3(decode::kThreads),
                      decode::shared_bytes<kKv, kDim>(columns.rows, decode::kGroups / blocks), args,
                      Logit::of(args), which == Singles::lone_tokens);
    });
  });
}

size_t group_shared_bytes(const Attention::Problem& problem) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    return decode::shared_bytes<kKv, kDim>(Columns(problem).rows, 0);
  });
}

size_t split_workspace(const Attention::Problem& problem) {
  return with_head(problem, [&]<DType kKv, int kDim>() {
    const Columns columns(problem);
    const int64_t groups = std::min(problem.tokens, kQueriesAtOnce) * columns.count * decode::kGroups;
    return static_cast<size_t>(groups) * decode::group_floats<kDim>(columns.rows) * sizeof(float);
  });
}

void attend_singles_split(const Attention::Args& args, const Launch& launch, Singles which) {
  with_head(args.problem, [&]<DType kKv, int kDim>() {
    const Columns columns(args.problem);
    const bool by_sequence = which == Singles::lone_tokens;
    auto* groups = reinterpret_cast<float*>(launch.workspace);
    const int64_t queries = queries_of(args, which), step = std::min(args.problem.tokens, kQueriesAtOnce);
    for (int64_t first = 0; first < queries; first += step) {
      const dim3 grid(static_cast<unsigned>(most_groups(args.ragged.max_length)),
                      static_cast<unsigned>(std::min(step, queries - first)),
                      static_cast<unsigned>(columns.count));
      with_sets(columns.rows, [&]<int kSets>() {
        launch_kernel(launch, decode::attend_group<kKv, kDim, kSets>, grid, dim3(decode::kThreads),
                      decode::shared_bytes<kKv, kDim>(columns.rows, 0), args, Logit::of(args), by_sequence,
                      static_cast<int>(first), columns.rows, groups);
      });
      const dim3 elements(static_cast<unsigned>(tiles_of(int64_t{columns.rows} * kDim, decode::kThreads)),
                          grid.y, grid.z);
      launch_kernel(launch, decode::join_groups<kDim>, elements, dim3(decode::kThreads), 0, args, by_sequence,
                    static_cast<int>(first), columns.rows, groups);
    }
  });
}

}  // namespace orrery::kernels::cuda
