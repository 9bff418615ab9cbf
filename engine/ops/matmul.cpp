// matmul: dst[.., i, j] = sum_k a[.., i, k] * b[.., k, j], leading dims broadcast against each other
#include "kernels/matmul.h"
#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Matmul;

/// The last two dims, in the order in which the product takes them.
struct Sides {
  Dim rows, cols;
};
Sides sides_of(const Shape& shape, bool transposed) {
  const Dim &last = shape[shape.size() - 1], &before = shape[shape.size() - 2];
  return transposed ? Sides{last, before} : Sides{before, last};
}

Result<void> expect_matrix(const NodeView& view, size_t input, std::string_view name) {
  ORRERY_TRY(expect_floats(view, input, name));
  if (view.inputs[input]->shape.size() >= 2) return {};
  return mismatch(name, fmt::format("{} is {}; it must be a matrix or a batch of them: reshape it", name,
                                    to_string(*view.inputs[input])));
}

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_matrix(view, 0, "a"));
  ORRERY_TRY(expect_matrix(view, 1, "b"));
  ORRERY_ASSIGN(const DType dtype, promote(view, 0, "a", 1, "b"));
  const Sides a = sides_of(view.inputs[0]->shape, flag(*view.attributes, "transpose_a"));
  const Sides b = sides_of(view.inputs[1]->shape, flag(*view.attributes, "transpose_b"));
  if (a.cols != b.rows)
    return mismatch("b", fmt::format("b is {}, but a is {}; {} columns of a need as many rows of b, not {}",
                                     to_string(*view.inputs[1]), to_string(*view.inputs[0]),
                                     a.cols.to_string(), b.rows.to_string()));
  ORRERY_ASSIGN(Shape shape, broadcast(view, 0, "a", 1, "b", 2));
  shape.push_back(a.rows);
  shape.push_back(b.cols);
  return std::vector{ValueType{dtype, std::move(shape)}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const Sides a = sides_of(view.inputs[0]->shape, flag(*view.attributes, "transpose_a"));
  const auto depth = static_cast<double>(a.cols.evaluate(bindings).value_or(0));
  return {2 * depth * count(view.outputs[0]->shape, bindings), bytes(*view.inputs[0], bindings) +
                                                                   bytes(*view.inputs[1], bindings) +
                                                                   bytes(*view.outputs[0], bindings)};
}

/// What a closure carries of an operand: its elements, and which of the last dims is which.
struct Operand {
  Slot slot;
  StepShape shape;
  int rows = 0, cols = 0;  // their places
};

Result<Operand> operand_of(LowerContext& context, const graph::Node& node, size_t input,
                           std::string_view transpose) {
  Operand operand;
  ORRERY_ASSIGN(operand.slot, elements_of(context, node.inputs[input]));
  ORRERY_ASSIGN(operand.shape, step_shape(context, node, node.inputs[input]));
  const bool transposed = flag(node.attributes, transpose);
  operand.rows = operand.shape.rank - (transposed ? 1 : 2);
  operand.cols = operand.shape.rank - (transposed ? 2 : 1);
  return operand;
}

/// Strides of the dims before the last two, as of `rank` of them, and of rows and columns.
struct Strides {
  int64_t batch[kernels::kMaxRank];
  int64_t row, col;
  Strides(const Operand& operand, const StepContext& step, int rank) {
    int64_t wide[kernels::kMaxRank + 2];
    operand.shape.broadcast_strides(step, rank + 2, wide);
    std::copy_n(wide, rank, batch);
    row = wide[rank + 2 - operand.shape.rank + operand.rows];
    col = wide[rank + 2 - operand.shape.rank + operand.cols];
  }
};

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  Matmul::Args args;
  args.a_type = context.type(node.inputs[0]).dtype;
  args.b_type = context.type(node.inputs[1]).dtype;
  args.dst_type = context.type(node.outputs[0]).dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.outputs[0]));
  args.batch.rank = shape.rank - 2;
  ORRERY_ASSIGN(auto chosen,
                choose<Matmul>(context, node, {args.a_type, args.b_type, args.dst_type, args.batch.rank}));
  ORRERY_ASSIGN(const Operand a, operand_of(context, node, 0, "transpose_a"));
  ORRERY_ASSIGN(const Operand b, operand_of(context, node, 1, "transpose_b"));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    const int rank = call.batch.rank;
    int64_t sizes[kernels::kMaxRank];
    shape.at(step, sizes);
    std::copy_n(sizes, rank, call.batch.sizes);
    call.rows = sizes[rank];
    call.cols = sizes[rank + 1];
    call.depth = a.shape.extents[static_cast<size_t>(a.cols)].at(step);
    const Strides of_a(a, step, rank), of_b(b, step, rank);
    std::copy_n(of_a.batch, rank, call.batch.strides[0]);
    std::copy_n(of_b.batch, rank, call.batch.strides[1]);
    call.a_row = of_a.row;
    call.a_depth = of_a.col;
    call.b_depth = of_b.row;
    call.b_col = of_b.col;
    call.a = step.address(a.slot);
    call.b = step.address(b.slot);
    call.dst = step.data<void>(dst);
    if (call.rows > 0 && call.cols > 0 && call.batch.elements() > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Of a' b', where ' transposes or not: g b'^T and a'^T g, transposed as the operands are stored.
void gradient(Gradients& at) {
  const Term g = at.gradient(), a = at.input(0), b = at.input(1);
  const bool of_a = flag(at.attributes(), "transpose_a"), of_b = flag(at.attributes(), "transpose_b");
  if (at.wants(0)) at.give(0, of_a ? matmul(b, g, of_b, true) : matmul(g, b, false, !of_b));
  if (at.wants(1)) at.give(1, of_b ? matmul(g, a, true, of_a) : matmul(a, g, !of_a, false));
}

}  // namespace

OpSchema matmul_op() {
  return {.name = "matmul",
          .family = OpFamily::linear,
          .doc = "Product of two matrices, or of two batches of them.",
          .inputs = {{"a"}, {"b"}},
          .outputs = {"dst"},
          .attributes = {{"transpose_a", "The last two dims of a change places", Attribute(false)},
                         {"transpose_b", "The last two dims of b change places", Attribute(false)}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<Matmul>(lower)};
}

}  // namespace orrery::ops
