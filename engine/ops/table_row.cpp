// table_row: dst = table[row], one row as a vector: what every token gets alike (the token type of a single
// text)
#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"
#include "kernels/embedding.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Stored table, stored_matrix(view, 0, "table"));
  if (const int64_t row = integer(*view.attributes, "row"); row < 0 || row >= table.rows)
    return mismatch("table", fmt::format("row is {}, but table is {}", row, to_string(*view.inputs[0])));
  return std::vector{ValueType{DType::f32, {table.cols}}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const ValueType row{view.inputs[0]->dtype, {view.inputs[0]->shape.back()}};
  return {0, bytes(row, bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& table = context.type(node.inputs[0]);
  kernels::Embedding::Args args;
  args.tokens = 1;
  args.vocabulary = 1;
  args.cols = table.shape.back().constant();
  args.dtype = table.dtype;
  ORRERY_ASSIGN(auto chosen, choose<kernels::Embedding>(context, node, {args.dtype, args.cols}));
  ORRERY_ASSIGN(const void* table_bytes, stored_weight(context, node, node.inputs[0], nullptr));
  const auto row = static_cast<size_t>(integer(node.attributes, "row"));
  args.table =
      static_cast<const std::byte*>(table_bytes) + row * row_bytes(args.dtype, args.cols).value_or(0);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.dst = step.data<float>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

void gradient(Gradients& at) {
  if (!at.wants(0)) return;
  const auto row = static_cast<double>(integer(at.attributes(), "row"));
  at.give(0, at.apply("scatter_nd_add", {filled_like(at.input(0), 0, DType::f32), unsqueeze(at.gradient(), 0),
                                         at.constant({DType::i64, {1, 1}}, {row})}));
}

}  // namespace

OpSchema table_row_op() {
  return {.name = "table_row",
          .family = OpFamily::embedding,
          .doc = "One row of a table, to be added to every token.",
          .inputs = {{.name = "table", .stored = true}},
          .outputs = {"dst"},
          .attributes = {{"row", "Which row", {}, AttributeType::integer}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Embedding>(lower)};
}

}  // namespace orrery::ops
