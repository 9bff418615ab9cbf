// embedding: dst[t] = scale * table[ids[t] + offset]
#include "kernels/embedding.h"

#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Dim rows, indices(view, 0, "ids"));
  ORRERY_ASSIGN(const Stored table, stored_matrix(view, 1, "table"));
  if (const int64_t offset = integer(*view.attributes, "offset"); offset < 0 || offset >= table.rows)
    return mismatch("table",
                    fmt::format("offset is {}, but table is {}", offset, to_string(*view.inputs[1])));
  return std::vector{f32(rows, table.cols)};
}

/// Only the rows that are looked up are read.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double rows = rows_of(*view.outputs[0], bindings), written = bytes(*view.outputs[0], bindings);
  const ValueType row{view.inputs[1]->dtype, {view.inputs[1]->shape.back()}};
  const bool scaled = real(*view.attributes, "scale") != 1.0;
  return {scaled ? written / sizeof(float) : 0, rows * (sizeof(int32_t) + bytes(row, bindings)) + written};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& table = context.type(node.inputs[1]);
  kernels::Embedding::Args args;
  const int64_t offset = integer(node.attributes, "offset");
  args.vocabulary = table.shape.front().constant() - offset;
  args.cols = table.shape.back().constant();
  args.dtype = table.dtype;
  args.scale = static_cast<float>(real(node.attributes, "scale"));
  ORRERY_ASSIGN(auto chosen, choose<kernels::Embedding>(context, node, {args.dtype, args.cols}));
  ORRERY_ASSIGN(const void* first_row, stored_weight(context, node, node.inputs[1], nullptr));
  args.table = static_cast<const std::byte*>(first_row) +
               static_cast<size_t>(offset) * row_bytes(args.dtype, args.cols).value_or(0);
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.outputs[0]));
  const Slot ids = context.slot(node.inputs[0]), dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.ids = step.data<const int32_t>(ids);
    call.dst = step.data<float>(dst);
    call.tokens = rows.at(step);
    if (call.tokens > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Each row of the table adds up what it was looked up for.
void gradient(Gradients& at) {
  if (!at.wants(1)) return;
  const double factor = real(at.attributes(), "scale");
  const Term g = factor == 1.0 ? at.gradient() : at.gradient() * factor;
  const auto offset = static_cast<double>(integer(at.attributes(), "offset"));
  const Term rows = unsqueeze(at.input(0), -1);
  at.give(1, at.apply("scatter_nd_add",
                      {filled_like(at.input(1), 0, DType::f32), g, offset == 0 ? rows : rows + offset}));
}

}  // namespace

OpSchema embedding_op() {
  return {.name = "embedding",
          .family = OpFamily::embedding,
          .doc = "Looks up each token's vector in a table.",
          .inputs = {{"ids"}, {.name = "table", .stored = true}},
          .outputs = {"dst"},
          .attributes = {{"scale", "Multiplies every element", Attribute(1.0)},
                         {"offset", "Rows of the table before that of id 0", Attribute(int64_t{0})}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Embedding>(lower)};
}

}  // namespace orrery::ops
