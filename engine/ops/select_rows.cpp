// select_rows: dst[i] = src[output_rows[i]]
#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"
#include "kernels/gather.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  ORRERY_ASSIGN(const Dim rows, indices(view, 1, "output_rows"));
  return std::vector{f32(rows, src.cols)};
}

/// Only the chosen rows are read.
Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, bytes(*view.inputs[1], bindings) + 2 * bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::Gather::Args args;
  args.kind = kernels::Gather::Kind::rows;
  args.cols = cols_of(context, node.inputs[0]);
  ORRERY_ASSIGN(auto chosen, choose<kernels::Gather>(context, node, {args.kind, args.cols}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.outputs[0]));
  ORRERY_ASSIGN(const Slot index, indices_of(context, node, 1, "input"));
  const Slot src = context.slot(node.inputs[0]);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.index = step.data<const int32_t>(index);
    call.dst = step.data<float>(dst);
    call.count = rows.at(step);
    if (call.count > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Rows that were not chosen get none.
void gradient(Gradients& at) {
  at.give(0,
          at.apply("scatter_nd_add", {zeros_like(at.input(0)), at.gradient(), unsqueeze(at.input(1), -1)}));
}

}  // namespace

OpSchema select_rows_op() {
  return {.name = "select_rows",
          .family = OpFamily::data_movement,
          .doc = "Keeps the rows whose results are asked for.",
          .inputs = {{"src"}, {.name = "output_rows", .finds = graph::Finds::rows}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Gather>(lower)};
}

}  // namespace orrery::ops
