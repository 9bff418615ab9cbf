// Launches attention by Fastmax (attention_fastmax.cuh).
#include <algorithm>

#include "kernels/cuda/attention_fastmax.cuh"
#include "kernels/cuda/attention_paths.h"
#include "kernels/cuda/attention_shapes.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int64_t kTokensAtOnce = 16;  // whose chunks lie in the workspace

/// function.operator()<kKv, kDim>() of the type of the keys and of the least head that holds the problem's.
template <class Function>
void with_shape(const Attention::Problem& problem, Function&& function) {
  with_keys(problem, [&]<DType kKv>() {
    if (problem.head_dim <= 32) return function.template operator()<kKv, 32>();
    if (problem.head_dim <= 64) return function.template operator()<kKv, 64>();
    if (problem.head_dim <= 128) return function.template operator()<kKv, 128>();
    function.template operator()<kKv, 256>();
  });
}

int64_t tokens_at_once(const Attention::Problem& problem) { return std::min(problem.tokens, kTokensAtOnce); }

void attend_rows(const Attention::Args& args, const Launch& launch, int least) {
  with_shape(args.problem, [&]<DType kKv, int kDim>() {
    const dim3 grid(tile_bound(args, fastmax::kRows), static_cast<unsigned>(args.problem.kv_heads));
    launch_kernel(launch, fastmax::attend<kKv, kDim>, grid, dim3(fastmax::kThreads),
                  fastmax::shared_bytes(kDim, fastmax::kRows), args, least);
  });
}

/// Rounds of chunks, of some tokens at a time.
void attend_tokens(const Attention::Args& args, const Launch& launch, Singles which) {
  const Attention::Problem& problem = args.problem;
  const bool by_sequence = which == Singles::lone_tokens;
  const int64_t count = by_sequence ? args.ragged.sequences : problem.tokens;
  const int64_t chunks = (args.ragged.max_length + fastmax::kChunk - 1) / fastmax::kChunk;
  const int64_t group = problem.heads / problem.kv_heads;
  const auto columns = static_cast<unsigned>(problem.kv_heads * ((group + kTokenHeads - 1) / kTokenHeads));
  const auto heads = static_cast<unsigned>(problem.heads);
  const fastmax::Parts parts{.at = reinterpret_cast<float*>(launch.workspace),
                             .heads = static_cast<int>(problem.heads),
                             .dim = static_cast<int>(problem.head_dim),
                             .tokens = static_cast<int>(tokens_at_once(problem))};
  for (int64_t first = 0; first < count; first += parts.tokens) {
    const auto tokens = static_cast<unsigned>(std::min<int64_t>(parts.tokens, count - first));
    for (int64_t begin = 0; begin < chunks; begin += fastmax::kRound) {
      const fastmax::TokenRound round{.first = static_cast<int>(first),
                                      .by_sequence = by_sequence,
                                      .round = static_cast<int>(begin / fastmax::kRound)};
      const auto width = static_cast<unsigned>(std::min<int64_t>(fastmax::kRound, chunks - begin));
      with_shape(problem, [&]<DType kKv, int kDim>() {
        launch_kernel(launch, fastmax::attend_chunk<kKv, kDim>, dim3(width, tokens, columns),
                      dim3(fastmax::kThreads), fastmax::shared_bytes(kDim, kTokenHeads), args, round, parts);
      });
      launch_kernel(launch, fastmax::join_chunks, dim3(heads, tokens), dim3(fastmax::kThreads), 0, args,
                    round, parts);
    }
  }
}

}  // namespace

size_t fastmax_shared_bytes(const Attention::Problem& problem) {
  size_t bytes = 0;
  with_shape(problem, [&]<DType, int kDim>() {
    bytes = fastmax::shared_bytes(kDim, std::max(fastmax::kRows, kTokenHeads));
  });
  return bytes;
}

size_t fastmax_workspace(const Attention::Problem& problem) {
  return sizeof(float) * fastmax::Parts::floats(problem.heads, problem.head_dim, tokens_at_once(problem));
}

void attend_fastmax(const Attention::Args& args, const Launch& launch, int64_t few_tokens) {
  if (args.ragged.max_length <= 0) return attend_rows(args, launch, 1);
  if (args.problem.tokens <= few_tokens) return attend_tokens(args, launch, Singles::all_tokens);
  attend_rows(args, launch, 2);
  attend_tokens(args, launch, Singles::lone_tokens);
}

}  // namespace orrery::kernels::cuda
