// Row cuda.matvec: what it takes, and how its kernel (linear_matvec.cuh) is launched.
#include <algorithm>

#include "kernels/cuda/linear_matvec.cuh"
#include "kernels/cuda/linear_rows.h"
#include "kernels/cuda/packed_types.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {
namespace {

using namespace matvec;

Family family_of(DType dtype) {
  return is_packed(dtype) ? Family::packed : dtype == DType::f16 ? Family::f16 : Family::bf16;
}

int warps_of(int64_t groups) { return static_cast<int>(std::clamp<int64_t>(groups, 4, kMostWarps)); }

Shared shared_of(const Linear::Problem& problem, int64_t tokens) {
  const int64_t groups = blocks_of(problem.cols, kGroup);
  return Shared(static_cast<int>(groups), static_cast<int>(tokens),
                planes_of(family_of(problem.segments[0].weight)), warps_of(groups));
}

Matvec params_of(const Linear::Args& args) {
  const Linear::Problem& problem = args.problem;
  Matvec p{};
  p.gated = is_gated(problem.epilogue);
  p.part_count = p.gated ? 1 : problem.segment_count;
  for (int s = 0; s < p.part_count; ++s) {
    const auto i = static_cast<size_t>(s);
    const Linear::Segment& segment = problem.segments[i];
    Part& part = p.parts[s];
    for (int k = 0; k < (p.gated ? 2 : 1); ++k) {
      const Linear::Operand& operand = args.operands[i + static_cast<size_t>(k)];
      part.weight[k] = static_cast<const uint8_t*>(operand.weight);
      part.bias[k] = problem.segments[i + static_cast<size_t>(k)].bias ? operand.bias : nullptr;
    }
    part.dst = args.operands[i].dst;
    part.dst_stride = args.operands[i].dst_stride;
    part.stride = weight_stride(problem, s);
    part.at = packed_row(segment.weight, problem.cols);
    part.rows = static_cast<int>(segment.rows);
    part.dtype = segment.weight;
    part.first_tile = p.tiles;
    p.tiles += static_cast<int>(blocks_of(segment.rows, p.gated ? 8 : 16));
  }
  p.tokens = static_cast<int>(args.tokens);
  p.cols = static_cast<int>(problem.cols);
  p.groups = static_cast<int>(blocks_of(problem.cols, kGroup));
  p.src = args.src;
  p.src_stride = args.src_stride;
  p.src_aligned = is_aligned(args.src, 16) && args.src_stride % 4 == 0;
  p.epilogue = problem.epilogue;
  return p;
}

using Kernel = void (*)(const Matvec);

/// The type of all weights; kMixed where they differ, and for the dense families.
DType only_type(const Linear::Problem& problem) {
  const DType first = problem.segments[0].weight;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (dtype != first || !is_packed(dtype)) return kMixed;
  }
  return first;
}

Kernel kernel_of(Family family, DType only) {
  if (family == Family::f16) return matvec_kernel<Family::f16, kMixed>;
  if (family == Family::bf16) return matvec_kernel<Family::bf16, kMixed>;
  if (only == kMixed) return matvec_kernel<Family::packed, kMixed>;
  return with_packed_type(
      only, [](auto type) -> Kernel { return matvec_kernel<Family::packed, decltype(type)::value>; });
}

/// Tokens of one launch: as many as shared memory holds src of, evenly spread over the launches; 0: not even
/// one.
int64_t launch_tokens(const Linear::Problem& problem, int64_t tokens, const CardMachine& card) {
  int64_t most = std::min<int64_t>(tokens, kMostTokens);
  while (most > 0 && static_cast<size_t>(shared_of(problem, most).total) > card.shared_per_block) --most;
  return most == 0 ? 0 : blocks_of(tokens, blocks_of(tokens, most));
}

void run_tokens(const Linear::Args& args, const Launch& launch) {
  const Matvec p = params_of(args);
  const Family family = family_of(args.problem.segments[0].weight);
  const DType only = only_type(args.problem);
  const auto shared = static_cast<size_t>(shared_of(args.problem, args.tokens).total);
  const CardMachine& card = current_card();
  const int on_each = shared > shared_of_each(card, kBlocksPerSm) ? 1 : blocks_per_sm(family, only);
  const int blocks = std::min(p.tiles, card.multiprocessors * on_each);
  launch_kernel(launch, kernel_of(family, only), dim3(static_cast<unsigned>(blocks)),
                dim3(static_cast<unsigned>(warps_of(p.groups) * 32)), shared, p);
}

}  // namespace

std::string supports_matvec(const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  if (!problem.aligned) return kUnalignedWeights;
  const DType first = problem.segments[0].weight;
  int64_t rows = 0;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (!is_packed(dtype) && dtype != DType::f16 && dtype != DType::bf16)
      return std::string(name_of(dtype)) + " weights; this row reads quantised blocks, f16 and bf16";
    if (family_of(dtype) != family_of(first) || (is_gated(problem.epilogue) && dtype != first))
      return mixed_text(first, dtype);
    rows += problem.segments[static_cast<size_t>(s)].rows;
  }
  const int64_t most = crossover_of(problem, machine.card).matvec;
  if (problem.tokens > most)
    return tokens_text(problem.tokens) + "; walking rows pays up to " + std::to_string(most);
  if (!is_packed(first) && problem.cols % 8 != 0)
    return std::to_string(problem.cols) + " columns; 16-byte loads take multiples of 8";
  constexpr int64_t kMost = int64_t{1} << 30;  // 32-bit sizes of rows, tiles and shared memory
  if (rows > kMost || problem.cols > kMost / 4096 || launch_tokens(problem, 1, machine.card) == 0)
    return std::to_string(problem.cols) + " columns exceed shared memory";
  return "";
}

void run_matvec(const Linear::Args& args, const Launch& launch) {
  require_aligned(weights_are_aligned(args));
  if (args.tokens == 0) return;
  const int64_t step = launch_tokens(args.problem, args.tokens, current_card());
  for (int64_t begin = 0; begin < args.tokens; begin += step) {
    Linear::Args part = args;
    part.tokens = std::min(step, args.tokens - begin);
    part.src += begin * args.src_stride;
    for (Linear::Operand& operand : part.operands)
      if (operand.dst != nullptr) operand.dst += begin * operand.dst_stride;
    run_tokens(part, launch);
  }
}

}  // namespace orrery::kernels::cuda
