// expert_mlp: dst[t] = sum_j weights[t, j] * down_e (act(gate_e src[t]) * up_e src[t]), e = experts[t, j]
#include <cmath>

#include "engine/ops/activation_gradient_support.h"
#include "engine/ops/expert_gradient_support.h"
#include "engine/ops/linear_support.h"
#include "kernels/moe.h"

namespace orrery::ops {
namespace {

/// Matrices of all experts [experts, rows, cols] of any stored dtype.
struct Stack {
  int64_t experts = 0, rows = 0, cols = 0;
};

Result<Stack> stack_of(const NodeView& view, size_t input, std::string_view name) {
  const ValueType& type = *view.inputs[input];
  const bool fixed =
      std::all_of(type.shape.begin(), type.shape.end(), [](const Dim& dim) { return dim.is_constant(); });
  if (type.shape.size() != 3 || !fixed || is_integer(type.dtype) || type.dtype == DType::boolean)
    return mismatch(name, fmt::format("{} is {}; it must be the weights of all experts [experts, rows, cols]",
                                      name, to_string(type)));
  return Stack{type.shape[0].constant(), type.shape[1].constant(), type.shape[2].constant()};
}

struct Sizes {
  int64_t experts = 0, active = 0, width = 0, inner = 0;
};

/// gate holds gate and up, one above the other, where up is not connected.
Result<void> check_gates(const NodeView& view, const Sizes& sizes) {
  const bool fused = !view.inputs[5];
  for (const size_t input : {size_t{4}, size_t{5}}) {
    if (!view.inputs[input]) continue;
    const std::string_view name = input == 4 ? "gate" : "up";
    ORRERY_ASSIGN(const Stack stack, stack_of(view, input, name));
    const int64_t rows = fused ? 2 * sizes.inner : sizes.inner;
    if (stack.experts != sizes.experts || stack.rows != rows || stack.cols != sizes.width)
      return mismatch(name, fmt::format("{} is {}, but down is {}: [{}, {}, {}] is needed", name,
                                        to_string(*view.inputs[input]), to_string(*view.inputs[3]),
                                        sizes.experts, rows, sizes.width));
  }
  return {};
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  const ValueType& experts = *view.inputs[1];
  if (experts.dtype != DType::i32 || experts.shape.size() != 2 || !experts.shape[1].is_constant() ||
      experts.shape[0] != src.rows)
    return mismatch("experts", fmt::format("experts is {}, but src is {}; each row needs its experts",
                                           to_string(experts), to_string(*view.inputs[0])));
  if (view.inputs[2]->dtype != DType::f32 || view.inputs[2]->shape != experts.shape)
    return mismatch("weights", fmt::format("weights is {}, but experts is {}", to_string(*view.inputs[2]),
                                           to_string(experts)));
  ORRERY_ASSIGN(const Stack down, stack_of(view, 3, "down"));
  const Sizes sizes{down.experts, experts.shape[1].constant(), src.cols, down.cols};
  if (down.rows != src.cols || sizes.active > sizes.experts)
    return mismatch("down",
                    fmt::format("down is {}, but src is {} and a token has {} experts",
                                to_string(*view.inputs[3]), to_string(*view.inputs[0]), sizes.active));
  ORRERY_TRY(check_gates(view, sizes));
  const std::vector<std::string_view> activations = activation_names();
  ORRERY_TRY(expect_choice(*view.attributes, "activation", std::span(activations).subspan(1)));
  return std::vector{*view.inputs[0]};
}

/// Only experts that some token chose are read: were all as likely, n tokens would choose this many.
double distinct_experts(double experts, double active, double tokens) {
  return experts * (1 - std::pow(1 - active / experts, tokens));
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const Shape& down = view.inputs[3]->shape;
  const auto experts = static_cast<double>(down[0].constant()),
             width = static_cast<double>(down[1].constant()), inner = static_cast<double>(down[2].constant());
  const auto active = static_cast<double>(view.inputs[1]->shape[1].constant());
  const double tokens = rows_of(*view.inputs[0], bindings);
  const double gating = epilogue_flops(std::string(text(*view.attributes, "activation")) + "_mul");
  Cost cost;
  cost.flops = tokens * active * (6 * width * inner + gating * inner + 2 * width);
  for (const size_t stack : {size_t{3}, size_t{4}, size_t{5}})
    cost.bytes += bytes(view.inputs[stack], bindings) * distinct_experts(experts, active, tokens) / experts;
  for (const size_t input : {size_t{0}, size_t{1}, size_t{2}})
    cost.bytes += bytes(view.inputs[input], bindings);
  cost.bytes += bytes(*view.outputs[0], bindings);
  return cost;
}

kernels::ExpertMlp::Problem problem_of(LowerContext& context, const graph::Node& node, RowBounds rows) {
  const ValueType& down = context.type(node.inputs[3]);
  const ValueType& gate = context.type(node.inputs[4]);
  kernels::ExpertMlp::Problem problem;
  problem.tokens = rows.max;
  problem.min_tokens = rows.min;
  problem.experts = down.shape[0].constant();
  problem.width = down.shape[1].constant();
  problem.inner = down.shape[2].constant();
  problem.active = cols_of(context, node.inputs[1]);
  problem.down = down.dtype;
  problem.gate = gate.dtype;
  problem.up = node.inputs[5].valid() ? context.type(node.inputs[5]).dtype : gate.dtype;
  problem.activation = parse_epilogue(std::string(text(node.attributes, "activation")) + "_mul")
                           .value_or(kernels::Epilogue::silu_mul);
  problem.precision = context.precision(node);
  return problem;
}

/// Bytes of `rows` rows of `cols` elements.
size_t matrix_bytes(DType dtype, int64_t rows, int64_t cols) {
  return static_cast<size_t>(rows) * row_bytes(dtype, cols).value_or(0);
}

Result<void> find_matrices(LowerContext& context, const graph::Node& node, kernels::ExpertMlp::Args& args) {
  const kernels::ExpertMlp::Problem& problem = args.problem;
  const auto base = [&](size_t input) -> Result<const std::byte*> {
    ORRERY_ASSIGN(const void* bytes, stored_weight(context, node, node.inputs[input], nullptr));
    return static_cast<const std::byte*>(bytes);
  };
  const size_t gate = matrix_bytes(problem.gate, problem.inner, problem.width);
  args.down.stride = matrix_bytes(problem.down, problem.width, problem.inner);
  ORRERY_ASSIGN(args.down.base, base(3));
  ORRERY_ASSIGN(args.gate.base, base(4));
  if (!node.inputs[5].valid()) {
    args.gate.stride = 2 * gate;
    args.up = {args.gate.base + gate, args.gate.stride};
    return {};
  }
  args.gate.stride = gate;
  args.up.stride = matrix_bytes(problem.up, problem.inner, problem.width);
  ORRERY_ASSIGN(args.up.base, base(5));
  return {};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  kernels::ExpertMlp::Args args;
  args.problem = problem_of(context, node, bounds(context, rows));
  ORRERY_ASSIGN(auto chosen, choose<kernels::ExpertMlp>(context, node, args.problem));
  ORRERY_TRY(find_matrices(context, node, args));
  ORRERY_ASSIGN(const Slot experts, indices_of(context, node, 1, "top_experts"));
  const graph::Node& router = maker_of(context.graph(), node.inputs[1]);
  if (const int64_t routed = cols_of(context, router.inputs[0]); routed > args.problem.experts)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("{} chooses among {} experts, but down has {}", router.path(), routed,
                             args.problem.experts),
                 node.path(), "Connect the router and the experts of one layer"};
  const Slot src = context.slot(node.inputs[0]);
  const Slot weights = context.slot(node.inputs[2]), dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.experts = step.data<const int32_t>(experts);
    call.weights = step.data<const float>(weights);
    call.dst = step.data<float>(dst);
    call.tokens = rows.at(step);
    if (call.tokens > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// The numbers of all experts of a stack, which products read.
Term numbers_of(const Term& stack) {
  return !stack || is_element(stack.type().dtype) ? stack : apply("dequantise", stack);
}

/// Of every expert, f32[experts, n, ..], as if each token were given to all; a token's share in an expert
/// that was not chosen for it is 0.
void gradient(Gradients& at) {
  const Term src = at.input(0), weights = at.input(2), g = unsqueeze(at.gradient(), 0);
  const Term down = numbers_of(at.input(3)), gate = numbers_of(at.input(4)), up = numbers_of(at.input(5));
  if (!g || !down || !gate) return;
  const Shape& stack = down.type().shape;
  const int64_t experts = stack[0].constant(), inner = stack[2].constant();
  const auto part = [&](const Term& both, int64_t first) {
    return apply("slice", both,
                 {{"axes", std::vector<int64_t>{2}},
                  {"starts", std::vector<int64_t>{first}},
                  {"stops", std::vector<int64_t>{first + inner}}});
  };
  const Term tokens = unsqueeze(src, 0), gated = matmul(tokens, gate, false, true);
  const Term a = up ? gated : part(gated, 0), b = up ? matmul(tokens, up, false, true) : part(gated, inner);
  const auto activation = kernels::activation_of(
      parse_epilogue(text(at.attributes(), "activation")).value_or(kernels::Epilogue::silu));
  const Term opened = activated(activation, a), hidden = opened * b, back = matmul(g, down);
  const Term chosen = is_expert(at.input(1), experts);
  if (at.wants(2)) {
    const Term all = sum(back * hidden, {2}, false);  // of each expert and token
    if (all) at.give(2, of_chosen(chosen, transpose(all, {1, 0})));
  }
  const bool goes_on = at.wants(0) || at.wants(4) || at.wants(5);
  if (!goes_on && !at.wants(3)) return;
  const Term among = among_all(chosen, weights);
  if (!among) return;
  const Term share = unsqueeze(transpose(among, {1, 0}), 2);
  if (at.wants(3)) at.give(3, matmul(g, hidden * share, true));
  if (!goes_on) return;
  const Term of_hidden = back * share;
  const Term of_a = activation_gradient(activation, of_hidden * b, a), of_b = of_hidden * opened;
  if (!of_a || !of_b) return;
  if (up) {
    if (at.wants(0)) at.give(0, sum(matmul(of_a, gate) + matmul(of_b, up), {0}, false));
    if (at.wants(4)) at.give(4, matmul(of_a, tokens, true));
    if (at.wants(5)) at.give(5, matmul(of_b, tokens, true));
    return;
  }
  const Term of_gated = at.apply("concat", {of_a, of_b}, {{"axis", int64_t{2}}});
  if (at.wants(0)) at.give(0, sum(matmul(of_gated, gate), {0}, false));
  if (at.wants(4)) at.give(4, matmul(of_gated, tokens, true));
}

}  // namespace

OpSchema expert_mlp_op() {
  return {.name = "expert_mlp",
          .family = OpFamily::linear,
          .doc = "Runs each token through the experts that were chosen for it and mixes their results.",
          .inputs = {{"src"},
                     {"experts"},
                     {"weights"},
                     {.name = "down", .stored = true},
                     {.name = "gate", .stored = true},
                     {.name = "up", .optional = true, .stored = true}},
          .outputs = {"dst"},
          .attributes = {{"activation", "Of the gate: silu, gelu_tanh", Attribute(std::string("silu"))}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::ExpertMlp>(lower)};
}

}  // namespace orrery::ops
