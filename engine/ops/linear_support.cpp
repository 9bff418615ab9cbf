#include "engine/ops/linear_support.h"

namespace orrery::ops {
namespace {

using kernels::Epilogue;
using kernels::Linear;

constexpr std::string_view kGated = "_mul";

struct Operands {
  Slot bias, dst;
  int64_t stride = 0;
};

Linear::Problem problem_of(LowerContext& context, const graph::Node& node,
                           std::span<const SegmentValues> segments, RowBounds rows) {
  Linear::Problem problem;
  problem.tokens = rows.max;
  problem.min_tokens = rows.min;
  problem.cols = cols_of(context, node.inputs[0]);
  problem.segment_count = static_cast<int>(segments.size());
  problem.epilogue = parse_epilogue(text(node.attributes, "epilogue")).value_or(Epilogue::none);
  problem.precision = context.precision(node);
  problem.src = context.type(node.inputs[0]).dtype;
  problem.dst = context.type(segments[0].dst).dtype;
  for (size_t i = 0; i < segments.size(); ++i) {
    const ValueType& weight = context.type(segments[i].weight);
    problem.segments[i] = {weight.shape.front().constant(), weight.dtype, segments[i].bias.valid()};
  }
  return problem;
}

}  // namespace

std::optional<Epilogue> parse_epilogue(std::string_view name) {
  const bool gated = name.ends_with(kGated);
  if (gated) name.remove_suffix(kGated.size());
  for (const kernels::ActivationInfo& info : kernels::kActivations)
    if (info.name == name && !(gated && info.activation == kernels::Activation::none))
      return kernels::epilogue_of(info.activation, gated);
  return std::nullopt;
}

double epilogue_flops(std::string_view name) {
  const Epilogue epilogue = parse_epilogue(name).value_or(Epilogue::none);
  return kernels::kActivations[static_cast<size_t>(kernels::activation_of(epilogue))].flops +
         (kernels::is_gated(epilogue) ? 1 : 0);
}

std::vector<std::string_view> activation_names() {
  std::vector<std::string_view> names;
  for (const kernels::ActivationInfo& info : kernels::kActivations) names.push_back(info.name);
  return names;
}

Result<Lowered> lower_linear(LowerContext& context, const graph::Node& node,
                             std::span<const SegmentValues> segments) {
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  Linear::Args args;
  args.problem = problem_of(context, node, segments, bounds(context, rows));
  args.src_stride = args.problem.cols;
  ORRERY_ASSIGN(auto chosen, choose<Linear>(context, node, args.problem));
  const kernels::WeightPacking* packing = chosen.row->packing ? chosen.row->packing(args.problem) : nullptr;
  std::array<Operands, Linear::kMaxSegments> operands{};
  for (size_t i = 0; i < segments.size(); ++i) {
    ORRERY_ASSIGN(args.operands[i].weight, stored_weight(context, node, segments[i].weight, packing));
    ORRERY_ASSIGN(operands[i].bias, float_operand(context, segments[i].bias));
    if (segments[i].dst.valid()) operands[i].dst = context.slot(segments[i].dst);
    args.operands[i].dst_stride = args.problem.segments[i].rows;
  }
  const bool rounded = args.problem.src != DType::f32;
  ORRERY_ASSIGN(const Slot src, rounded ? Result<Slot>(context.slot(node.inputs[0]))
                                        : float_operand(context, node.inputs[0]));
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.tokens = rows.at(step);
    if (call.tokens <= 0) return;
    call.src = step.data<const float>(src);
    for (size_t i = 0; i < operands.size(); ++i) {
      call.operands[i].bias = step.data<const float>(operands[i].bias);
      call.operands[i].dst = step.data<float>(operands[i].dst);
    }
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Rounding rounding_of_linear(LowerContext& context, const graph::Node& node,
                            std::span<const SegmentValues> segments) {
  const auto rows = row_count(context, node, node.inputs[0]);
  if (!rows.ok()) return {};
  return rounding_of_row<Linear>(context, node, problem_of(context, node, segments, bounds(context, *rows)));
}

}  // namespace orrery::ops
