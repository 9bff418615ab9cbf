// Row cuda.tiles: what it takes, and how its kernels (linear_tiles.cuh) are launched.
#include <algorithm>
#include <utility>

#include "kernels/cuda/linear_rows.h"
#include "kernels/cuda/linear_tiles.cuh"
#include "kernels/cuda/packed_types.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {
namespace {

using namespace linear_tiles;

constexpr int kLeastUnits = 2;  // of a block
constexpr int kMostLayThreads = 1024;
constexpr int64_t kMostExactTokens = 8;  // with more, src is rounded to f16

/// function.operator()<Shape>() of the shape for a plan's tokens. To 8 tokens, which a draft's verification
/// brings, nothing is rounded that cuda.matvec does not round.
template <class Function>
auto with_shape(int64_t tokens, const CardMachine& card, Function&& function) {
  if (tokens <= kMostExactTokens) return function.template operator()<Shape<1, 1, 2, 3, 4>>();
  if (tokens <= 16) return function.template operator()<Shape<2, 1, 1, 2, 4>>();
  if (tokens <= 32) return function.template operator()<Shape<4, 2, 1, 1, 4>>();
  using Deep = Shape<8, 1, 1, 1, 4>;
  if (Deep::kShared <= card.shared_per_block) return function.template operator()<Deep>();
  return function.template operator()<Shape<8, 1, 1, 1, 3>>();
}

/// Blocks of a slice. Slices run beside each other, so each has its share of the card.
template <class S>
int most_blocks(const Linear::Problem& problem, int multiprocessors) {
  const auto slices = static_cast<int>(blocks_of(problem.tokens, S::kTokens));
  return std::max(1, multiprocessors * S::kBlocks / slices);
}

constexpr int64_t align256(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Where things lie in the workspace; depends on problem and card alone, so that smaller calls fit.
template <class S>
struct Scratch {
  int64_t src = 0, unscale = 0, partial = 0, total = 0;

  Scratch(const Linear::Problem& problem, const CardMachine& card) {
    const int64_t slices = blocks_of(problem.tokens, S::kTokens);
    int64_t at = 0;
    const auto take = [&](int64_t bytes) { return std::exchange(at, at + align256(bytes)); };
    src = take(slices * blocks_of(problem.cols, kGroup) * S::kGroupBytes);
    unscale = take(slices * S::kTokens * 4);
    partial = take(slices * 2 * most_blocks<S>(problem, card.multiprocessors) * S::kPairs * 32 *
                   static_cast<int64_t>(sizeof(float4)));
    total = at;
  }
};

template <class S>
class Call {
 public:
  Call(const Linear::Args& args, const Launch& launch)
      : args_(args), launch_(launch), at_(args.problem, current_card()) {}

  void run() {
    lay();
    bool done[Linear::kMaxSegments] = {};
    for (int s = 0; s < args_.problem.segment_count; ++s)
      if (!done[s]) run_type(args_.problem.segments[static_cast<size_t>(s)].weight, done);
  }

 private:
  std::byte* at(int64_t offset) const { return launch_.workspace + offset; }
  int groups() const { return static_cast<int>(blocks_of(args_.problem.cols, kGroup)); }
  unsigned slices() const { return static_cast<unsigned>(blocks_of(args_.tokens, S::kTokens)); }

  void lay() {
    const bool wide = is_aligned(args_.src) && args_.src_stride % 4 == 0;
    const int threads = std::min(groups() * 32, kMostLayThreads);
    launch_kernel(launch_, wide ? lay_kernel<S, true> : lay_kernel<S, false>, dim3(slices() * S::kTokens),
                  dim3(static_cast<unsigned>(threads)), 0,
                  Lay{.src = args_.src,
                      .dst = reinterpret_cast<uint8_t*>(at(at_.src)),
                      .unscale = reinterpret_cast<float*>(at(at_.unscale)),
                      .src_stride = args_.src_stride,
                      .cols = static_cast<int>(args_.problem.cols),
                      .groups = groups(),
                      .tokens = static_cast<int>(args_.tokens)});
  }

  Part part(int s, int first_tile) const {
    const Linear::Problem& problem = args_.problem;
    Part part{};
    for (int k = 0; k < (is_gated(problem.epilogue) ? 2 : 1); ++k) {
      const auto i = static_cast<size_t>(s + k);
      part.weight[k] = static_cast<const uint8_t*>(args_.operands[i].weight);
      part.bias[k] = problem.segments[i].bias ? args_.operands[i].bias : nullptr;
    }
    part.dst = args_.operands[static_cast<size_t>(s)].dst;
    part.dst_stride = args_.operands[static_cast<size_t>(s)].dst_stride;
    part.rows = static_cast<int>(problem.segments[static_cast<size_t>(s)].rows);
    part.first_tile = first_tile;
    return part;
  }

  /// All segments of a type, which are marked as done.
  void run_type(DType dtype, bool (&done)[Linear::kMaxSegments]) {
    const Linear::Problem& problem = args_.problem;
    Tiles p{};
    p.at = packed_row(dtype, problem.cols);
    p.src = reinterpret_cast<const uint8_t*>(at(at_.src));
    p.unscale = reinterpret_cast<const float*>(at(at_.unscale));
    p.partial = reinterpret_cast<float4*>(at(at_.partial));
    p.groups = groups();
    p.tokens = static_cast<int>(args_.tokens);
    p.epilogue = problem.epilogue;
    p.gated = is_gated(problem.epilogue);
    int tiles = 0;
    for (int s = 0; s < problem.segment_count; ++s) {
      if (problem.segments[static_cast<size_t>(s)].weight != dtype || std::exchange(done[s], true)) continue;
      if (p.gated && s == 1) break;  // part of the first
      const Part& added = p.parts[p.part_count++] = part(s, tiles);
      tiles += static_cast<int>(blocks_of(added.rows, p.gated ? S::kRows / 2 : S::kRows));
    }
    const int units = tiles * p.groups;
    p.blocks = std::clamp(units / kLeastUnits, 1, most_blocks<S>(problem, current_card().multiprocessors));
    p.units_each = units / p.blocks;
    p.blocks_of_more = units % p.blocks;
    multiply(dtype, p);
  }

  void multiply(DType dtype, const Tiles& p) {
    const auto blocks = static_cast<unsigned>(p.blocks);
    const auto kernel =
        with_packed_type(dtype, [](auto type) { return tiles_kernel<decltype(type)::value, S>; });
    launch_kernel(launch_, kernel, dim3(blocks, slices()), dim3(kThreads), S::kShared, p);
    for (int block = 1; block < p.blocks; ++block) {
      if (p.first_unit(block) % p.groups == 0) continue;
      return launch_kernel(launch_, finish_kernel<S>, dim3(blocks - 1, S::kPairs / kWarps, slices()),
                           dim3(kThreads), 0, p);
    }
  }

  const Linear::Args& args_;
  const Launch& launch_;
  Scratch<S> at_;
};

}  // namespace

std::string supports_tiles(const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  if (!problem.aligned) return kUnalignedWeights;
  if (std::string reason = too_coarse(problem.precision, Rounded::f16); !reason.empty()) return reason;
  int64_t rows = 0;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (!is_packed(dtype)) return std::string(name_of(dtype)) + " weights; this row reads quantised blocks";
    if (is_gated(problem.epilogue) && dtype != problem.segments[0].weight)
      return mixed_text(problem.segments[0].weight, dtype);
    rows += problem.segments[static_cast<size_t>(s)].rows;
  }
  const int64_t most = crossover_of(problem, machine.card).tiles;
  if (problem.tokens > most) return tokens_text(problem.tokens) + "; tiles pay up to " + std::to_string(most);
  constexpr int64_t kMost = int64_t{1} << 30;  // 32-bit counts of units and columns
  if (problem.cols > kMost || rows > kMost / blocks_of(problem.cols, kGroup))
    return std::to_string(rows) + " x " + std::to_string(problem.cols) + " weights; too many for one pass";
  return "";
}

Rounding tiles_rounding(const Linear::Problem& problem, int) {
  return {.activations = problem.tokens > kMostExactTokens ? Rounded::f16 : Rounded::no};
}

size_t tiles_workspace(const Linear::Problem& problem, const Machine& machine, int) {
  return with_shape(problem.tokens, machine.card,
                    [&]<class S>() { return static_cast<size_t>(Scratch<S>(problem, machine.card).total); });
}

void run_tiles(const Linear::Args& args, const Launch& launch) {
  require_aligned(weights_are_aligned(args));
  if (args.tokens == 0) return;
  with_shape(args.problem.tokens, current_card(), [&]<class S>() { Call<S>(args, launch).run(); });
}

}  // namespace orrery::kernels::cuda
