// Linear, the oracle: weights dequantised by their definition, products and sums in float64, one rounding to
// float32.
//   Threads own rows of each segment; a thread's workspace is two dequantised rows.
//   Traffic: weights once, src once per weight row.
#include "kernels/cpu/linear_rows.h"
#include "kernels/ref/activation.h"

namespace orrery::kernels {
namespace {

const std::byte* weight_row(const Linear::Args& args, int segment, int64_t row) {
  const size_t bytes = row_bytes(args.problem.segments[segment].weight, args.problem.cols).value_or(0);
  return static_cast<const std::byte*>(args.operands[segment].weight) + static_cast<size_t>(row) * bytes;
}

double dot(const float* a, const float* b, int64_t cols) {
  double sum = 0.0;
  for (int64_t k = 0; k < cols; ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  return sum;
}

double bias_at(const Linear::Args& args, int segment, int64_t row) {
  const float* bias = args.operands[segment].bias;
  return args.problem.segments[segment].bias && bias != nullptr ? static_cast<double>(bias[row]) : 0.0;
}

void plain_rows(const Linear::Args& args, int segment, ThreadTeam::Range rows, float* weights) {
  const int64_t cols = args.problem.cols;
  const Linear::Operand& operand = args.operands[segment];
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    dequantise_row(args.problem.segments[segment].weight, weight_row(args, segment, row), cols, weights);
    for (int64_t t = 0; t < args.tokens; ++t) {
      const double sum = dot(args.src + t * args.src_stride, weights, cols) + bias_at(args, segment, row);
      operand.dst[t * operand.dst_stride + row] =
          static_cast<float>(activate<ref::Math>(activation_of(args.problem.epilogue), sum));
    }
  }
}

void gated_rows(const Linear::Args& args, ThreadTeam::Range rows, float* gate, float* up) {
  const int64_t cols = args.problem.cols;
  const Linear::Operand& operand = args.operands[0];
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    dequantise_row(args.problem.segments[0].weight, weight_row(args, 0, row), cols, gate);
    dequantise_row(args.problem.segments[1].weight, weight_row(args, 1, row), cols, up);
    for (int64_t t = 0; t < args.tokens; ++t) {
      const float* x = args.src + t * args.src_stride;
      const double g = activate<ref::Math>(activation_of(args.problem.epilogue),
                                           dot(x, gate, cols) + bias_at(args, 0, row));
      const double u = dot(x, up, cols) + bias_at(args, 1, row);
      operand.dst[t * operand.dst_stride + row] = static_cast<float>(g * u);
    }
  }
}

}  // namespace

std::string linear_refusal(const Linear::Problem& problem) {
  if (problem.segment_count < 1 || problem.segment_count > Linear::kMaxSegments) {
    return "a linear has 1 to 4 segments, not " + std::to_string(problem.segment_count);
  }
  if (problem.cols < 1 || problem.tokens < 1) return "no columns or no tokens";
  for (int s = 0; s < problem.segment_count; ++s) {
    const Linear::Segment& segment = problem.segments[s];
    if (segment.rows < 1) return "segment " + std::to_string(s) + " has no rows";
    if (!row_bytes(segment.weight, problem.cols)) {
      return std::to_string(problem.cols) + " columns are no multiple of a " +
             std::string(name_of(segment.weight)) + " block";
    }
  }
  if (!is_gated(problem.epilogue)) return "";
  if (problem.segment_count != 2) return "a gated epilogue takes two segments";
  if (problem.segments[0].rows != problem.segments[1].rows) return "gate and up differ in rows";
  return "";
}

namespace ref {

std::string linear_supports(const Linear::Problem& problem, const Machine&) {
  return linear_refusal(problem);
}

size_t linear_workspace(const Linear::Problem& problem, const Machine&, int threads) {
  return 2 * static_cast<size_t>(problem.cols) * sizeof(float) * static_cast<size_t>(threads);
}

void linear(const Linear::Args& args, const Launch& launch) {
  auto* scratch = reinterpret_cast<float*>(launch.workspace);
  const bool gated = is_gated(args.problem.epilogue);
  for (int s = 0; s < (gated ? 1 : args.problem.segment_count); ++s) {
    launch.team->run(args.problem.segments[s].rows, 1, [&](ThreadTeam::Range rows, int thread) {
      float* first = scratch + 2 * args.problem.cols * thread;
      if (gated) {
        gated_rows(args, rows, first, first + args.problem.cols);
      } else {
        plain_rows(args, s, rows, first);
      }
    });
  }
}

}  // namespace ref
}  // namespace orrery::kernels
