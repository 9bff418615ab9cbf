// matmul_ladder: dst[i, j] = sum_k a[i, k] * b[k, j], by a step that a person names (kernels/matmul_ladder.h)
#include "kernels/matmul_ladder.h"

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::MatmulLadder;
using Row = kernels::Row<MatmulLadder>;

Result<MatmulLadder::Problem> problem_of(const ValueType& a, const ValueType& b) {
  for (const auto& [name, type] : {std::pair{"a", &a}, {"b", &b}}) {
    const bool fixed =
        type->shape.size() == 2 && type->shape[0].is_constant() && type->shape[1].is_constant();
    if (!fixed || (type->dtype != DType::f32 && type->dtype != DType::bf16))
      return mismatch(name, fmt::format("{} is {}; it must be a matrix of f32 or bf16 with fixed sizes", name,
                                        to_string(*type)));
  }
  if (a.dtype != b.dtype)
    return mismatch(
        "b", fmt::format("b is {}, but a is {}; both must be of one type", to_string(b), to_string(a)));
  if (a.shape[1] != b.shape[0])
    return mismatch("b", fmt::format("b is {}, but a is {}; {} columns of a need as many rows of b",
                                     to_string(b), to_string(a), a.shape[1].to_string()));
  return MatmulLadder::Problem{a.dtype, a.shape[0].constant(), b.shape[1].constant(), a.shape[1].constant()};
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const MatmulLadder::Problem problem, problem_of(*view.inputs[0], *view.inputs[1]));
  return std::vector{ValueType{DType::f32, {problem.m, problem.n}}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const auto depth = static_cast<double>(view.inputs[0]->shape[1].constant());
  return {2 * depth * count(view.outputs[0]->shape, bindings), bytes(*view.inputs[0], bindings) +
                                                                   bytes(*view.inputs[1], bindings) +
                                                                   bytes(*view.outputs[0], bindings)};
}

/// "tma" of "cuda.tma".
std::string_view step_of(const Row& row) { return row.name.substr(row.name.find('.') + 1); }

/// The libraries that the ladder is held against, and the reference.
bool is_a_step(const Row& row) {
  const std::string_view step = step_of(row);
  return step != "onednn" && step != "reference" && !step.starts_with("cublas");
}

/// The step of that name; of none the last one that takes the matrices and rounds no float32.
Result<Chosen<MatmulLadder>> choose_step(LowerContext& context, const graph::Node& node,
                                         const MatmulLadder::Problem& problem, std::string_view step) {
  const std::span<const Row> rows = rows_for<MatmulLadder>(context, node);
  std::string names;
  for (const Row& row : rows) names += (names.empty() ? "" : ", ") + std::string(step_of(row));
  if (!step.empty() && std::ranges::find(rows, step, step_of) == rows.end())
    return Error{ErrorCode::invalid_argument, fmt::format("There is no step {} here", step), node.path(),
                 "name one of " + names};
  std::vector<kernels::Refusal> refused;
  for (size_t i = rows.size(); i-- > 0;) {
    const Row& row = rows[i];
    const bool exact = problem.dtype != DType::f32 || rounded_by(row, problem) == kernels::Rounded::no;
    if (step.empty() ? !is_a_step(row) || !exact : step_of(row) != step) continue;
    if (auto chosen = choose<MatmulLadder>(context, node, problem, rows.subspan(i, 1)); chosen.ok()) {
      chosen->lowered.refused = std::move(refused);
      return chosen;
    }
    refused.push_back({std::string(row.name), row.supports(problem, context.machine())});
  }
  return no_row(context, node, refused);
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  MatmulLadder::Args args;
  ORRERY_ASSIGN(args.problem, problem_of(context.type(node.inputs[0]), context.type(node.inputs[1])));
  ORRERY_ASSIGN(auto chosen, choose_step(context, node, args.problem, text(node.attributes, "step")));
  ORRERY_ASSIGN(const Slot a, elements_of(context, node.inputs[0]));
  ORRERY_ASSIGN(const Slot b, elements_of(context, node.inputs[1]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.a = step.address(a);
    call.b = step.address(b);
    call.c = step.data<float>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

void gradient(Gradients& at) {
  const Term g = at.gradient(), a = at.input(0), b = at.input(1);
  if (at.wants(0)) at.give(0, matmul(g, b, false, true));
  if (at.wants(1)) at.give(1, matmul(a, g, true, false));
}

}  // namespace

OpSchema matmul_ladder_op() {
  return {
      .name = "matmul_ladder",
      .family = OpFamily::linear,
      .doc =
          "Product of two matrices by one step of a ladder of kernels, from three plain loops to what the "
          "machine can do: to be compared, and read in the lab. Models multiply by matmul and linear.",
      .inputs = {{"a"}, {"b"}},
      .outputs = {"dst"},
      .attributes =
          {{"step",
            "A kernel's name without its device, as `lab list matmul_ladder` tells: naive, avx2.tile, tma; "
            "without it the last one that takes the matrices and rounds no f32",
            Attribute(std::string())}},
      .infer = infer,
      .cost = cost,
      .gradient = gradient,
      .lowering = lowered_to<MatmulLadder>(lower)};
}

}  // namespace orrery::ops
