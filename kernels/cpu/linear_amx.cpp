// Row cpu.amx_bf16.tiles: dense weights, packed as cpu.onednn.bf16 packs them, times bf16 tokens by tiles.
//   src may be stored rounded and is then read in place, else all threads first round it in the workspace;
//   dst may be stored so too
//   Threads own whole panels of 64 rows. Many tokens go by in blocks that stay in L2 while the panels pass.
//   workspace: src as bf16 when it comes as f32, then each thread's sums
#include "kernels/cpu/linear_share.h"
#include "kernels/cpu/storage.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;  // of tokens: half of the L2 that each core with AMX has

/// Of equal blocks that L2 holds.
int64_t block_tokens(int64_t tokens, int64_t cols) {
  constexpr int64_t kStep = 64;
  const int64_t most = std::max<int64_t>(kStep, kBlockBytes / (2 * cols) / kStep * kStep);
  const int64_t blocks = (tokens + most - 1) / most;
  return ((tokens + blocks - 1) / blocks + kStep - 1) / kStep * kStep;
}

/// Bytes of src as bf16, where it is not stored so.
size_t rounded_bytes(const Linear::Problem& problem, int64_t tokens) {
  if (problem.src == DType::bf16) return 0;
  return (static_cast<size_t>(tokens * problem.cols) * sizeof(uint16_t) + 63) / 64 * 64;
}

/// The tokens as bf16.
struct Source {
  const uint16_t* tokens;
  int64_t stride;  // elements
};

Source source_of(const Linear::Args& args, const Launch& launch) {
  if (args.problem.src == DType::bf16) return {reinterpret_cast<const uint16_t*>(args.src), args.src_stride};
  const int64_t cols = args.problem.cols;
  auto* rounded = reinterpret_cast<uint16_t*>(launch.workspace);
  split_tokens(args, launch, [&](ThreadTeam::Range tokens) {
    for (int64_t t = tokens.begin; t < tokens.end; ++t)
      avx512::kLinear.to_bf16(args.src + t * args.src_stride, cols, rounded + t * cols);
  });
  return {rounded, cols};
}

/// All rows of all segments times the tokens of a call that fit L2.
void multiply(const Linear::Args& args, Source source, const Launch& launch, size_t scratch_at) {
  const bool gated = is_gated(args.problem.epilogue);
  const auto panels = [&](int segment, int64_t row) {
    return static_cast<const uint16_t*>(args.operands[segment].weight) + row * args.problem.cols;
  };
  split_rows(args, launch, kTiledPanel, [&](int segment, ThreadTeam::Range rows, int thread) {
    LinearFinish finish = finish_of(args, segment, rows.begin, rows.end - rows.begin);
    finish.dst = element_of(args.operands[segment].dst, args.problem.dst, rows.begin);
    finish.rounded = args.problem.dst == DType::bf16;
    amx_bf16::linear_tiled(
        {.src = source.tokens,
         .src_stride = source.stride,
         .cols = args.problem.cols,
         .weight = panels(segment, rows.begin),
         .up = gated ? panels(1, rows.begin) : nullptr,
         .finish = finish,
         .finish_block = avx512::kLinear.finish,
         .scratch = reinterpret_cast<float*>(launch.workspace + scratch_at) + thread * kTiledScratch});
  });
}

}  // namespace

std::string supports_amx(const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = blocked_bf16_refusal(problem); !reason.empty()) return reason;
  return missing(kAmxBf16, machine);
}

size_t amx_workspace(const Linear::Problem& problem, const Machine&, int threads) {
  return rounded_bytes(problem, problem.tokens) +
         static_cast<size_t>(kTiledScratch * threads) * sizeof(float);
}

void run_amx(const Linear::Args& args, const Launch& launch) {
  const Source source = source_of(args, launch);
  const int64_t most = block_tokens(args.tokens, args.problem.cols);
  Linear::Args block = args;
  for (int64_t t = 0; t < args.tokens; t += most) {
    block.tokens = std::min(most, args.tokens - t);
    for (int s = 0; s < args.problem.segment_count; ++s) {
      const Linear::Operand& whole = args.operands[s];
      block.operands[s].dst =
          whole.dst == nullptr ? nullptr : element_of(whole.dst, args.problem.dst, t * whole.dst_stride);
    }
    multiply(block, {source.tokens + t * source.stride, source.stride}, launch,
             rounded_bytes(args.problem, args.tokens));
  }
}

}  // namespace orrery::kernels
