#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

size_t offset_bytes(DType, int64_t rows, int64_t cols) {
  return static_cast<size_t>(rows * cols) * sizeof(float);
}

void pack_offset(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed,
                 kernels::ThreadTeam&) {
  auto* weights = static_cast<float*>(packed);
  kernels::dequantise_row(dtype, stored, rows * cols, weights);
  for (int64_t i = 0; i < rows * cols; ++i) weights[i] += 1.0F;
}

/// Norm weights that are stored as their difference from 1.
constexpr kernels::WeightPacking kOffsetPacking{"f32, 1 added", offset_bytes, pack_offset};

Result<Slot> offset_operand(LowerContext& context, const graph::Node& node, ValueId value) {
  ORRERY_ASSIGN(const void* bytes, stored_weight(context, node, value, &kOffsetPacking));
  return Slot{Slot::Kind::fixed, 0, bytes};
}

using Kind = kernels::Norm::Kind;

std::vector<InputSpec> inputs_of(Kind kind, bool residual) {
  std::vector<InputSpec> inputs{{"src"}};
  if (residual) inputs.push_back({"residual"});
  inputs.push_back({"weight"});
  if (kind == Kind::layer) inputs.push_back({"bias", true});
  return inputs;
}

/// Weights of each group apart are a matrix of them.
Result<void> expect_weights(const NodeView& view, size_t input, std::string_view name, int64_t groups,
                            int64_t cols, const std::string& reader) {
  const ValueType* type = input < view.inputs.size() ? view.inputs[input] : nullptr;
  if (type && type->shape == Shape{groups, cols} && is_float(type->dtype)) return {};
  return expect_vector(view, input, name, cols, reader);
}

Types infer_norm(const NodeView& view, Kind kind, bool residual) {
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  if (residual) ORRERY_TRY(expect_same(view, 1, "residual", 0, "src"));
  const size_t weight = residual ? 2 : 1;
  const std::string reader = "a norm of src " + to_string(*view.inputs[0]);
  const int64_t groups = integer(*view.attributes, "groups");
  if (groups < 1 || src.cols % groups != 0)
    return bad_attribute(
        fmt::format("groups is {}; it must divide the {} elements of a row", groups, src.cols));
  const int64_t cols = src.cols / groups;
  ORRERY_TRY(expect_weights(view, weight, "weight", groups, cols, reader));
  if (kind == Kind::layer) ORRERY_TRY(expect_weights(view, weight + 1, "bias", groups, cols, reader));
  ORRERY_TRY(expect_not_negative(*view.attributes, "eps"));
  return std::vector<ValueType>(residual ? 2 : 1, *view.inputs[0]);
}

/// Per element, rms: square, sum, two multiplications; layer: sum, difference, square, sum, two
/// multiplications, bias. A sum that nobody reads is not written.
Cost cost_norm(const NodeView& view, const Bindings& bindings, Kind kind, bool residual) {
  const bool bias = kind == Kind::layer && view.inputs.back() != nullptr;
  const double each = (kind == Kind::rms ? 4 : 6) + (residual ? 1 : 0) + (bias ? 1 : 0);
  Cost cost{each * count(view.outputs[0]->shape, bindings), 0};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  cost.bytes += bytes(view.outputs.back(), bindings);
  if (residual && view.is_read[0]) cost.bytes += bytes(view.outputs[0], bindings);
  return cost;
}

Result<Lowered> lower_norm(LowerContext& context, const graph::Node& node, Kind kind, bool residual) {
  kernels::Norm::Args args;
  args.kind = kind;
  const int64_t groups = integer(node.attributes, "groups");
  args.cols = cols_of(context, node.inputs[0]) / groups;
  args.eps = static_cast<float>(real(node.attributes, "eps"));
  ORRERY_ASSIGN(auto chosen, choose<kernels::Norm>(context, node, {kind, args.cols, residual}));
  const size_t weight_input = residual ? 2 : 1;
  ORRERY_ASSIGN(const Slot weight, flag(node.attributes, "unit_offset")
                                       ? offset_operand(context, node, node.inputs[weight_input])
                                       : float_operand(context, node.inputs[weight_input]));
  ORRERY_ASSIGN(const Slot bias,
                float_operand(context, kind == Kind::layer ? node.inputs[weight_input + 1] : ValueId{}));
  if (context.type(node.inputs[weight_input]).shape.size() == 2) args.weight_rows = groups;
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  const Slot src = context.slot(node.inputs[0]), dst = context.slot(node.outputs.back());
  const Slot added = residual ? context.slot(node.inputs[1]) : Slot{};
  const bool keeps_sum = residual && context.graph().is_read(node.outputs[0]);
  const Slot sum = keeps_sum ? context.slot(node.outputs[0]) : Slot{};
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.residual = step.data<const float>(added);
    call.sum = step.data<float>(sum);
    call.dst = step.data<float>(dst);
    call.weight = step.data<const float>(weight);
    call.bias = step.data<const float>(bias);
    call.tokens = rows.at(step) * groups;
    if (call.tokens > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema norm_op(std::string name, std::string doc, Kind kind, bool residual) {
  return {
      .name = std::move(name),
      .family = OpFamily::norm,
      .doc = std::move(doc),
      .inputs = inputs_of(kind, residual),
      .outputs = residual ? std::vector<std::string>{"sum", "normed"} : std::vector<std::string>{"dst"},
      .attributes = {{"eps", "Added to the mean of squares before the root", {}, AttributeType::real},
                     {"groups", "Equal parts of a row that are normed apart: the heads of queries or keys",
                      Attribute(int64_t{1})},
                     {"unit_offset",
                      "The weights are stored as their difference from 1, as Gemma's folders do",
                      Attribute(false)}},
      .infer = [=](const NodeView& view) { return infer_norm(view, kind, residual); },
      .cost = [=](const NodeView& view,
                  const Bindings& bindings) { return cost_norm(view, bindings, kind, residual); },
      .lowering = lowered_to<kernels::Norm>([=](LowerContext& context, const graph::Node& node) {
        return lower_norm(context, node, kind, residual);
      })};
}

}  // namespace orrery::ops
