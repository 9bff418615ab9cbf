#include "engine/ops/norm_support.h"
#include "engine/ops/gradients.h"

#include "engine/ops/vector_support.h"
#include "kernels/dropout_norm.h"

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

/// Rows that are normed: of a residual f32[rows, cols], else floats of any rank.
Result<int64_t> cols_of_rows(const NodeView& view, bool residual) {
  if (residual) {
    ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
    ORRERY_TRY(expect_same(view, 1, "residual", 0, "src"));
    return src.cols;
  }
  ORRERY_TRY(expect_floats(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.shape.empty() || !src.shape.back().is_constant())
    return mismatch("src", fmt::format("src is {}; its last dim must have a fixed size", to_string(src)));
  return src.shape.back().constant();
}

Types infer_norm(const NodeView& view, Kind kind, bool residual) {
  ORRERY_ASSIGN(const int64_t row, cols_of_rows(view, residual));
  const size_t weight = residual ? 2 : 1;
  const std::string reader = "a norm of src " + to_string(*view.inputs[0]);
  const int64_t groups = integer(*view.attributes, "groups");
  if (groups < 1 || row % groups != 0)
    return bad_attribute(fmt::format("groups is {}; it must divide the {} elements of a row", groups, row));
  const int64_t cols = row / groups;
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

/// Rows of 16-bit floats are those of a dropout that drops nothing.
Result<Lowered> lower_half(LowerContext& context, const graph::Node& node, Kind kind) {
  using kernels::DropoutNorm;
  const DType dtype = context.type(node.inputs[0]).dtype;
  const int64_t groups = integer(node.attributes, "groups");
  if (flag(node.attributes, "unit_offset") || context.type(node.inputs[1]).shape.size() == 2)
    return Error{
        ErrorCode::unsupported,
        fmt::format("Rows of {} are normed with one vector of weights as they are stored", name_of(dtype)),
        node.path(), "Cast src to f32"};
  DropoutNorm::Args args;
  args.problem = {kind, cols_of(context, node.inputs[0]) / groups, dtype, dtype, dtype};
  args.eps = static_cast<float>(real(node.attributes, "eps"));
  ORRERY_ASSIGN(auto chosen, choose<DropoutNorm>(context, node, args.problem));
  ORRERY_ASSIGN(const VectorOperand weight, vector_operand(context, node, node.inputs[1], chosen.lowered));
  const ValueId bias_value = kind == Kind::layer ? node.inputs[2] : ValueId{};
  ORRERY_ASSIGN(const VectorOperand bias, vector_operand(context, node, bias_value, chosen.lowered));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.rows = shape.product(step, 0, shape.rank - 1) * groups;
    if (call.rows == 0) return;
    call.src = step.address(src);
    call.weight = weight.read(step);
    call.bias = bias.read(step);
    call.out = step.data<void>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_norm(LowerContext& context, const graph::Node& node, Kind kind, bool residual) {
  if (context.type(node.inputs[0]).dtype != DType::f32) return lower_half(context, node, kind);
  kernels::Norm::Args args;
  args.kind = kind;
  const int64_t groups = integer(node.attributes, "groups");
  args.cols = cols_of(context, node.inputs[0]) / groups;
  args.eps = static_cast<float>(real(node.attributes, "eps"));
  ORRERY_ASSIGN(auto chosen, choose<kernels::Norm>(context, node, {kind, args.cols, residual}));
  const size_t weight_input = residual ? 2 : 1;
  VectorOperand weight;
  if (flag(node.attributes, "unit_offset")) {
    ORRERY_ASSIGN(weight.slot, offset_operand(context, node, node.inputs[weight_input]));
  } else {
    ORRERY_ASSIGN(weight, vector_operand(context, node, node.inputs[weight_input], chosen.lowered));
  }
  const ValueId bias_value = kind == Kind::layer ? node.inputs[weight_input + 1] : ValueId{};
  ORRERY_ASSIGN(const VectorOperand bias, vector_operand(context, node, bias_value, chosen.lowered));
  if (context.type(node.inputs[weight_input]).shape.size() == 2) args.weight_rows = groups;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs.back());
  const Slot added = residual ? context.slot(node.inputs[1]) : Slot{};
  const bool keeps_sum = residual && context.graph().is_read(node.outputs[0]);
  const Slot sum = keeps_sum ? context.slot(node.outputs[0]) : Slot{};
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.residual = step.data<const float>(added);
    call.sum = step.data<float>(sum);
    call.dst = step.data<float>(dst);
    call.tokens = shape.product(step, 0, shape.rank - 1) * groups;
    if (call.tokens == 0) return;
    call.weight = weight.read(step);
    call.bias = bias.read(step);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// The weights of a norm as it uses them.
Term used_weights(const Gradients& at, const Term& weight) {
  const Term numbers = cast(weight, DType::f32);
  return flag(at.attributes(), "unit_offset") ? numbers + 1 : numbers;
}

/// By dropout_add_layer_norm_backward, without dropout, over the groups of all rows. Weights of each group
/// apart are taken into the gradient before it, and those of the norm are 1.
void norm_gradient(Gradients& at, Kind kind, bool residual) {
  const size_t weight_input = residual ? 2 : 1, bias_input = weight_input + 1;
  const Term x = residual ? at.output(0) : at.input(0), of_sum = residual ? at.gradient(0) : Term();
  const Term g = residual ? at.gradient(1) : at.gradient(0);
  if (!g) {  // only the sum has one
    at.give(0, of_sum);
    return at.give(1, of_sum);
  }
  const Shape& shape = x.type().shape;
  const int64_t groups = integer(at.attributes(), "groups"), cols = shape.back().constant() / groups;
  std::vector<int64_t> parts(shape.size() - 1, 0);  // 0: as it is
  parts.insert(parts.end(), {groups, cols});
  const auto grouped = [&](const Term& rows) {
    return groups == 1 || !rows ? rows : apply("reshape", rows, {{"shape", parts}});
  };
  const Attributes norm{{"epsilon", real(at.attributes(), "eps")}, {"rms", kind == Kind::rms}};
  const bool own_weights = at.input(weight_input).type().shape.size() == 2;
  const Term weight = used_weights(at, at.input(weight_input));
  const Term ones = own_weights ? at.constant({DType::f32, {cols}}, {}, 1) : weight;
  const Term by_norm = own_weights ? grouped(g) * weight : grouped(g);
  const std::vector<Term> made =
      at.apply_all("dropout_add_layer_norm_backward",
                   {by_norm, grouped(of_sum), grouped(x), Term(), ones, Term(), Term()}, norm);
  if (made.empty()) return;
  const Term of_x = reshaped(made[1], x.type().shape);
  at.give(0, of_x);
  if (residual) at.give(1, of_x);
  if (at.wants(weight_input))
    at.give(weight_input,
            own_weights ? grouped(g) * at.apply("dropout_add_layer_norm", {grouped(x), Term(), ones}, norm)
                        : made[2]);
  if (kind == Kind::layer) at.give(bias_input, grouped(g));
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
      .gradient = [=](Gradients& at) { norm_gradient(at, kind, residual); },
      .lowering = lowered_to<kernels::Norm, kernels::DropoutNorm, kernels::Copy>(
          [=](LowerContext& context, const graph::Node& node) {
            return lower_norm(context, node, kind, residual);
          })};
}

}  // namespace orrery::ops
