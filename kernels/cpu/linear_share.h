// How the rows of Linear split a call: units of `grain` weight rows, counted through all segments (gated:
// through the gate's rows, each with its partner of the up matrix), go to the threads in contiguous chunks; a
// chunk is summed and finished panel by panel, so that the epilogue reads from cache.
#pragma once

#include <algorithm>

#include "kernels/cpu/isa/linear.h"
#include "kernels/cpu/linear_rows.h"

namespace orrery::kernels {

/// Where one sum goes: rows [begin, end) of a segment, all tokens.
struct SumTarget {
  int segment;
  int64_t begin, end;
  float* dst;  // of row `begin`
  int64_t dst_stride;
};

/// What a chunk has at least, some microseconds of work: what a claim costs is lost in it.
constexpr int64_t kLeastElements = 8192;  // of src
constexpr int64_t kLeastProducts = 32768;

struct SharePlan {
  int64_t grain;  // rows; a chunk begins at a multiple
  int64_t panel;  // rows that are summed before they are finished, a multiple of grain
};

/// Floats of scratch that finish_rows needs per thread: the up half of a gated panel.
inline int64_t up_scratch(const Linear::Problem& problem, int64_t tokens, const SharePlan& plan) {
  if (!is_gated(problem.epilogue)) return 0;
  return (tokens * std::min(plan.panel, problem.segments[0].rows) + 15) / 16 * 16;
}

inline LinearFinish finish_of(const Linear::Args& args, int segment, int64_t begin, int64_t count) {
  const auto bias = [&](int s) {
    const float* all = args.problem.segments[s].bias ? args.operands[s].bias : nullptr;
    return all == nullptr ? nullptr : all + begin;
  };
  LinearFinish finish{};
  finish.function = args.problem.epilogue;
  finish.dst = args.operands[segment].dst + begin;
  finish.dst_stride = args.operands[segment].dst_stride;
  finish.src = finish.dst;
  finish.src_stride = finish.dst_stride;
  finish.bias = bias(segment);
  if (is_gated(args.problem.epilogue)) finish.up_bias = bias(1);
  finish.tokens = args.tokens;
  finish.count = count;
  return finish;
}

/// Rows [begin, end) of a segment, panel by panel. sum(SumTarget) writes plain sums.
template <class Sum>
void finish_rows(const Linear::Args& args, const LinearTable& table, int segment, ThreadTeam::Range rows,
                 int64_t panel, float* up, Sum& sum) {
  for (int64_t r = rows.begin; r < rows.end; r += panel) {
    const int64_t end = std::min(r + panel, rows.end);
    LinearFinish finish = finish_of(args, segment, r, end - r);
    sum(SumTarget{segment, r, end, finish.dst, finish.dst_stride});
    if (is_gated(args.problem.epilogue)) {
      sum(SumTarget{1, r, end, up, end - r});
      finish.up = up;
      finish.up_stride = end - r;
    }
    table.finish(finish);
  }
}

/// Calls body(tokens) for all tokens on the team's threads: what is done to src before rows are summed.
template <class Body>
void split_tokens(const Linear::Args& args, const Launch& launch, Body&& body) {
  const int64_t least = std::max<int64_t>(1, kLeastElements / args.problem.cols);
  launch.team->run(args.tokens, least, [&](ThreadTeam::Range tokens, int) { body(tokens); });
}

/// Calls body(segment, rows, tokens, thread) for the rows of all units and every block of so many tokens, on
/// the team's threads. Those of one block follow each other.
template <class Body>
void split_blocks(const Linear::Args& args, const Launch& launch, int64_t grain, int64_t block, Body&& body) {
  const bool gated = is_gated(args.problem.epilogue);
  const int segments = gated ? 1 : args.problem.segment_count;
  const auto units_of = [&](int s) { return (args.problem.segments[s].rows + grain - 1) / grain; };
  int64_t units = 0;
  for (int s = 0; s < segments; ++s) units += units_of(s);
  const int64_t blocks = (args.tokens + block - 1) / block;
  const int64_t unit_cost = grain * args.problem.cols * std::min(block, args.tokens) * (gated ? 2 : 1);
  const int64_t least = std::max<int64_t>(1, kLeastProducts / unit_cost);
  const auto rows_of = [&](ThreadTeam::Range share, ThreadTeam::Range tokens, int thread) {
    int64_t first = 0;  // unit at which segment s begins
    for (int s = 0; s < segments; first += units_of(s), ++s) {
      const int64_t begin = std::max<int64_t>(share.begin - first, 0) * grain;
      const int64_t end = std::min((share.end - first) * grain, args.problem.segments[s].rows);
      if (begin < end) body(s, ThreadTeam::Range{begin, end}, tokens, thread);
    }
  };
  launch.team->run(blocks * units, least, [&](ThreadTeam::Range chunk, int thread) {
    for (int64_t at = chunk.begin, end = 0; at < chunk.end; at = end) {
      const int64_t i = at / units;
      end = std::min((i + 1) * units, chunk.end);
      rows_of({at - i * units, end - i * units}, {i * block, std::min((i + 1) * block, args.tokens)}, thread);
    }
  });
}

/// Calls body(segment, rows, thread) for the rows of all units, each with all tokens.
template <class Body>
void split_rows(const Linear::Args& args, const Launch& launch, int64_t grain, Body&& body) {
  split_blocks(args, launch, grain, std::max<int64_t>(args.tokens, 1),
               [&](int segment, ThreadTeam::Range rows, ThreadTeam::Range, int thread) {
                 body(segment, rows, thread);
               });
}

}  // namespace orrery::kernels
