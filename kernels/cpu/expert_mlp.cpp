// Rows of ExpertMlp, fastest first. Tokens are grouped by expert; each expert's group runs through two rows
// of Linear that read its matrices as stored, gate and up as one:
//   order: the (token, j) pairs sorted by expert          inner[i] = act(gate_e src[token]) * up_e src[token]
//   part[i] = down_e inner[i]                             dst[t] = sum_j weights[t, j] * part[place of (t,
//   j)] workspace: order, its inverse and the groups' begins; the gathered src and the inner rows of one
//   group;
//     part (tokens * active, width); the workspace of Linear
//   traffic: each matrix that some token needs, once; the others are not touched
#include "kernels/moe.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/linear_rows.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

constexpr size_t align64(size_t bytes) { return (bytes + 63) / 64 * 64; }

Linear::Problem gate_up_problem(const ExpertMlp::Problem& problem) {
  Linear::Problem linear;
  linear.tokens = problem.tokens;
  linear.cols = problem.width;
  linear.segments[0] = {problem.inner, problem.gate};
  linear.segments[1] = {problem.inner, problem.up};
  linear.segment_count = 2;
  linear.epilogue = problem.activation;
  linear.precision = problem.precision;
  return linear;
}

Linear::Problem down_problem(const ExpertMlp::Problem& problem) {
  Linear::Problem linear;
  linear.tokens = problem.tokens;
  linear.cols = problem.inner;
  linear.segments[0] = {problem.width, problem.down};
  linear.precision = problem.precision;
  return linear;
}

/// The fastest row that reads weights as stored: packing every expert would hold them twice.
const Row<Linear>& linear_row(const Linear::Problem& problem, const Machine& machine) {
  const std::span<const Row<Linear>> rows = linear_rows();
  const auto fits = [&](const Row<Linear>& row) {
    return row.packing == nullptr && row.supports(problem, machine).empty();
  };
  const auto found = std::find_if(rows.begin(), rows.end(), fits);
  return found == rows.end() ? rows.back() : *found;
}

size_t linear_workspace(const Linear::Problem& problem, const Machine& machine, int threads) {
  const Row<Linear>& row = linear_row(problem, machine);
  return row.workspace ? row.workspace(problem, machine, threads) : 0;
}

/// The parts of the workspace.
struct Scratch {
  int32_t* order;   // (tokens * active) pairs by expert
  int32_t* places;  // (tokens * active) where a pair is in `order`
  int32_t* begins;  // (experts + 1) of the groups in `order`
  float *rows, *inner, *parts;
  std::byte* linear;
  size_t bytes;

  Scratch(const ExpertMlp::Problem& problem, const Machine& machine, int threads, std::byte* base)
      : bytes(0) {
    const auto take = [&](int64_t count, size_t each) {
      std::byte* at = base + bytes;
      bytes += align64(static_cast<size_t>(count) * each);
      return at;
    };
    const int64_t pairs = problem.tokens * problem.active;
    order = reinterpret_cast<int32_t*>(take(pairs, sizeof(int32_t)));
    places = reinterpret_cast<int32_t*>(take(pairs, sizeof(int32_t)));
    begins = reinterpret_cast<int32_t*>(take(problem.experts + 1, sizeof(int32_t)));
    rows = reinterpret_cast<float*>(take(problem.tokens * problem.width, sizeof(float)));
    inner = reinterpret_cast<float*>(take(problem.tokens * problem.inner, sizeof(float)));
    parts = reinterpret_cast<float*>(take(pairs * problem.width, sizeof(float)));
    linear = base + bytes;
    bytes += std::max(linear_workspace(gate_up_problem(problem), machine, threads),
                      linear_workspace(down_problem(problem), machine, threads));
  }
};

size_t workspace(const ExpertMlp::Problem& problem, const Machine& machine, int threads) {
  return Scratch(problem, machine, threads, nullptr).bytes;
}

/// Sorts the pairs by expert, those of one expert by token.
void group(const ExpertMlp::Args& args, const Scratch& scratch) {
  const int64_t pairs = args.tokens * args.problem.active, experts = args.problem.experts;
  std::fill_n(scratch.begins, experts + 1, 0);
  for (int64_t i = 0; i < pairs; ++i) ++scratch.begins[args.experts[i] + 1];
  std::partial_sum(scratch.begins, scratch.begins + experts + 1, scratch.begins);
  for (int64_t i = 0; i < pairs; ++i) {
    const int32_t place = scratch.begins[args.experts[i]]++;
    scratch.order[place] = static_cast<int32_t>(i);
    scratch.places[i] = place;
  }
  std::copy_backward(scratch.begins, scratch.begins + experts, scratch.begins + experts + 1);
  scratch.begins[0] = 0;
}

class Experts {
 public:
  Experts(const ExpertMlp::Args& args, const Launch& launch)
      : args_(args),
        launch_(launch),
        scratch_(args.problem, this_machine(), launch.team->size(), launch.workspace),
        gate_up_row_(linear_row(gate_up_problem(args.problem), this_machine())),
        down_row_(linear_row(down_problem(args.problem), this_machine())) {
    launch_.workspace = scratch_.linear;
    gate_up_.problem = gate_up_problem(args.problem);
    gate_up_.src_stride = args.problem.width;
    gate_up_.operands[0].dst = scratch_.inner;
    gate_up_.operands[0].dst_stride = args.problem.inner;
    down_.problem = down_problem(args.problem);
    down_.src = scratch_.inner;
    down_.src_stride = args.problem.inner;
    down_.operands[0].dst_stride = args.problem.width;
  }

  void run() {
    group(args_, scratch_);
    for (int64_t expert = 0; expert < args_.problem.experts; ++expert)
      if (scratch_.begins[expert] < scratch_.begins[expert + 1]) run_expert(expert);
    combine();
  }

 private:
  void run_expert(int64_t expert) {
    const int64_t begin = scratch_.begins[expert];
    gate_up_.tokens = down_.tokens = scratch_.begins[expert + 1] - begin;
    gate_up_.src = gather(begin, gate_up_.tokens);
    gate_up_.operands[0].weight = args_.gate.of(expert);
    gate_up_.operands[1].weight = args_.up.of(expert);
    gate_up_row_.run(gate_up_, launch_);
    down_.operands[0].weight = args_.down.of(expert);
    down_.operands[0].dst = scratch_.parts + begin * args_.problem.width;
    down_row_.run(down_, launch_);
  }

  const float* row_of(int64_t place) const {
    return args_.src + scratch_.order[place] / args_.problem.active * args_.problem.width;
  }

  /// The src rows of the pairs from `begin` on; a single one is read where it lies.
  const float* gather(int64_t begin, int64_t count) const {
    if (count == 1) return row_of(begin);
    const int64_t width = args_.problem.width;
    split(launch_, count, width, [&](int64_t first, int64_t end, int) {
      for (int64_t i = first; i < end; ++i) std::copy_n(row_of(begin + i), width, scratch_.rows + i * width);
    });
    return scratch_.rows;
  }

  /// In the order of j, so that no result depends on the groups.
  void combine() const {
    const int64_t width = args_.problem.width, active = args_.problem.active;
    split(launch_, args_.tokens, active * width, [&](int64_t first, int64_t end, int) {
      for (int64_t t = first; t < end; ++t) {
        float* dst = args_.dst + t * width;
        std::fill_n(dst, width, 0.0F);
        for (int64_t j = t * active; j < (t + 1) * active; ++j) {
          const float* part = scratch_.parts + scratch_.places[j] * width;
          const float weight = args_.weights[j];
          for (int64_t c = 0; c < width; ++c) dst[c] += weight * part[c];
        }
      }
    });
  }

  const ExpertMlp::Args& args_;
  Launch launch_;
  Scratch scratch_;
  const Row<Linear>&gate_up_row_, &down_row_;
  Linear::Args gate_up_, down_;
};

void run(const ExpertMlp::Args& args, const Launch& launch) { Experts(args, launch).run(); }

/// Of the rows of Linear that it calls: the coarser one's.
Rounding rounding(const ExpertMlp::Problem& problem, int) {
  Rounding coarser;
  for (const Linear::Problem& linear : {gate_up_problem(problem), down_problem(problem)}) {
    const Row<Linear>& row = linear_row(linear, this_machine());
    const Rounding own = row.rounding ? row.rounding(linear, 0) : Rounding{};
    if (coarseness(own.activations) > coarseness(coarser.activations)) coarser = own;
  }
  return coarser;
}

}  // namespace

std::span<const Row<ExpertMlp>> expert_mlp_rows() {
  static const Row<ExpertMlp> rows[] = {
      {.name = "cpu.grouped",
       .supports = on_any_machine<ExpertMlp, ref::legal>,
       .run = run,
       .workspace = workspace,
       .arithmetic = Arithmetic::int16,  // of the linear rows that it calls the fastest
       .rounding = rounding},
      {.name = "cpu.reference",
       .supports = on_any_machine<ExpertMlp, ref::legal>,
       .run = ref::expert_mlp,
       .source = "ref/moe.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
