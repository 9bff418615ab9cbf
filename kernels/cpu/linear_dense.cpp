// Rows cpu.<isa>.dot: float32 arithmetic on weights as stored, or dequantised panel by panel. Memory bound
// for a few tokens; exact for every type, so that it also serves the exact mode of quantised weights.
//   workspace per thread: up half of a gated panel, one dequantised panel
#include "kernels/cpu/linear_share.h"

namespace orrery::kernels {
namespace {

SharePlan dense_plan(int64_t tokens) {
  if (tokens <= 8) return {16, 1024};
  return {kDensePanel, kDensePanel};
}

/// Floats per thread.
int64_t thread_floats(const Linear::Problem& problem, int64_t tokens) {
  bool dequantise = false;
  for (int s = 0; s < problem.segment_count; ++s) dequantise |= !is_dense(problem.segments[s].weight);
  return up_scratch(problem, tokens, dense_plan(tokens)) +
         (dequantise ? (kDensePanel * problem.cols + 15) / 16 * 16 : 0);
}

std::string supports(CpuFeatures needed, const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  if (std::string reason = missing(needed, machine); !reason.empty()) return reason;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[s].weight;
    if (!is_dense(dtype) && !is_quantised(dtype) && !is_f8(dtype))
      return std::string(name_of(dtype)) + " weights have no fast path";
  }
  return "";
}

size_t workspace(const Linear::Problem& problem, int threads) {
  const int64_t floats = std::max(thread_floats(problem, problem.tokens),
                                  thread_floats(problem, std::min<int64_t>(problem.tokens, 8)));
  return static_cast<size_t>(floats) * sizeof(float) * static_cast<size_t>(threads);
}

void run(const LinearTable& table, const Linear::Args& args, const Launch& launch) {
  const int64_t floats = thread_floats(args.problem, args.tokens);
  const SharePlan plan = dense_plan(args.tokens);
  const int64_t up_floats = up_scratch(args.problem, args.tokens, plan);
  split_rows(args, launch, plan.grain, [&](int segment, ThreadTeam::Range rows, int thread) {
    float* up = reinterpret_cast<float*>(launch.workspace) + floats * thread;
    const auto sum = [&](const SumTarget& target) {
      const DType dtype = args.problem.segments[target.segment].weight;
      table.dense({.weight = dtype,
                   .matrix = static_cast<const std::byte*>(args.operands[target.segment].weight),
                   .row_bytes = row_bytes(dtype, args.problem.cols).value_or(0),
                   .cols = args.problem.cols,
                   .src = args.src,
                   .src_stride = args.src_stride,
                   .tokens = args.tokens,
                   .dst = target.dst,
                   .dst_stride = target.dst_stride,
                   .begin = target.begin,
                   .end = target.end,
                   .scratch = up + up_floats,
                   .dequantise = dequantise_row});
    };
    finish_rows(args, table, segment, rows, plan.panel, up, sum);
  });
}

}  // namespace

std::string supports_dot_avx512(const Linear::Problem& p, const Machine& m) {
  return supports(kAvx512, p, m);
}
std::string supports_dot_avx2(const Linear::Problem& p, const Machine& m) { return supports(kAvx2, p, m); }
size_t dot_workspace(const Linear::Problem& p, const Machine&, int threads) { return workspace(p, threads); }
void run_dot_avx512(const Linear::Args& args, const Launch& launch) { run(avx512::kLinear, args, launch); }
void run_dot_avx2(const Linear::Args& args, const Launch& launch) { run(avx2::kLinear, args, launch); }

}  // namespace orrery::kernels
