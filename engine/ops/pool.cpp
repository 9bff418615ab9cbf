// pool: one row a sequence: the mean of its rows, its first or its last
#include "engine/ops/lower_support.h"
#include "engine/ops/sequence_support.h"
#include "kernels/gather.h"

namespace orrery::ops {
namespace {

using Kind = kernels::Gather::Kind;

Kind kind_of(const Attributes& attributes) {
  const std::string_view kind = text(attributes, "kind");
  return kind == "mean" ? Kind::mean : kind == "first" ? Kind::first : Kind::last;
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  ORRERY_ASSIGN(const Dim starts, indices(view, 1, "sequence_starts"));
  ORRERY_TRY(expect_choice(*view.attributes, "kind", {"mean", "first", "last"}));
  return std::vector{f32(starts + -1, src.cols)};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const double written = bytes(*view.outputs[0], bindings), starts = bytes(*view.inputs[1], bindings);
  if (kind_of(*view.attributes) != Kind::mean) return {0, starts + 2 * written};
  return {count(view.inputs[0]->shape, bindings) + count(view.outputs[0]->shape, bindings),
          starts + bytes(*view.inputs[0], bindings) + written};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::Gather::Args args;
  args.kind = kind_of(node.attributes);
  args.cols = cols_of(context, node.inputs[0]);
  ORRERY_ASSIGN(auto chosen, choose<kernels::Gather>(context, node, {args.kind, args.cols}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.outputs[0]));
  ORRERY_ASSIGN(const Slot starts, indices_of(context, node, 1, "input"));
  const Slot src = context.slot(node.inputs[0]);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.sequence_starts = step.data<const int32_t>(starts);
    call.dst = step.data<float>(dst);
    call.count = rows.at(step);
    if (call.count > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// A row gets its share of what its text's row gets: equal parts of a mean, all of it where it was taken.
void gradient(Gradients& at) {
  const Term starts = at.input(1), rows = row_numbers(at.input(0)), texts = text_numbers(rows, starts);
  const Term g = at.apply("gather_nd", {at.gradient(), texts});
  const Kind kind = kind_of(at.attributes());
  if (kind == Kind::mean) {
    const Term alike = at.apply("equal", {texts, transpose(texts, {1, 0})});
    return at.give(0, g / sum(cast(alike, DType::f32), {1}));
  }
  const Term edges = unsqueeze(starts, 0), edge = kind == Kind::first ? rows : rows + 1;
  const Term taken = sum(cast(at.apply("equal", {edges, edge}), DType::f32), {1});
  at.give(0, g * taken);
}

}  // namespace

OpSchema pool_op() {
  return {.name = "pool",
          .family = OpFamily::data_movement,
          .doc = "Makes one vector of each sequence's rows.",
          .inputs = {{"src"}, {.name = "sequence_starts", .finds = graph::Finds::starts}},
          .outputs = {"dst"},
          .attributes = {{"kind", "mean of the rows, first row (CLS) or last row", {}, AttributeType::text}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Gather>(lower)};
}

}  // namespace orrery::ops
