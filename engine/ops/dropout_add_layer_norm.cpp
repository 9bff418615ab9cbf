// dropout_add_layer_norm: out = norm(x), residual_out = x = dropout(src * rowscale) * colscale +
// dropout(src2) + residual, out2 = norm(x) with weight2 and bias2, and dropout_add_layer_norm_backward: its
// gradients (kernels/dropout_norm.h)
#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"
#include "kernels/dropout_norm.h"

namespace orrery::ops {
namespace {

using kernels::DropoutNorm;
using kernels::DropoutNormBackward;

/// The inputs of the two ops, by their place.
struct Forward {
  enum Input : size_t {
    src,
    residual,
    weight,
    bias,
    rowscale,
    colscale,
    src_rows,
    out_rows,
    src2,
    weight2,
    bias2
  };
  enum Output : size_t { out, residual_out, quantised, scales, out2 };
};
struct Backward {
  enum Input : size_t {
    grad_out,
    grad_residual_out,
    x,
    src,
    weight,
    rowscale,
    colscale,
    src_rows,
    out_rows,
    grad_out2,
    weight2
  };
  enum Output : size_t {
    grad_src,
    grad_residual,
    grad_weight,
    grad_bias,
    grad_colscale,
    grad_src2,
    grad_weight2,
    grad_bias2
  };
};

std::vector<AttributeSpec> attributes_of() {
  return {{"p", "The share of elements that become 0; the others are divided by 1 - p", Attribute(0.0)},
          {"seed", "Names the mask: which elements become 0 follows from it and from their row and column",
           Attribute(int64_t{0})},
          {"epsilon", "Added to the mean of squares before the root", Attribute(1e-5)},
          {"rms", "Divides by the root of the mean square, and takes no mean away", Attribute(false)},
          {"rowscale_const", "A factor of every row of src, beside rowscale", Attribute(1.0)}};
}

Result<void> check_attributes(const Attributes& attributes) {
  if (const double p = real(attributes, "p"); !(p >= 0 && p < 1))
    return bad_attribute(fmt::format("p is {}; it must be at least 0 and less than 1", p));
  return expect_not_negative(attributes, "epsilon");
}

/// The elements of a row of the first input.
Result<int64_t> hidden_of(const NodeView& view, std::string_view name) {
  ORRERY_TRY(expect_floats(view, 0, name));
  const ValueType& type = *view.inputs[0];
  if (type.shape.empty() || !type.shape.back().is_constant() || type.shape.back().constant() < 1)
    return mismatch(name, fmt::format("{} is {}; its last dim must be a fixed size of at least 1", name,
                                      to_string(type)));
  return type.shape.back().constant();
}

/// An input of x's shape and of the first one's type, or of f32; an absent one passes.
Result<void> expect_rows(const NodeView& view, size_t input, std::string_view name, const ValueType& first,
                         std::string_view first_name) {
  const ValueType* type = view.inputs[input];
  if (type == nullptr ||
      (type->shape == first.shape && (type->dtype == first.dtype || type->dtype == DType::f32)))
    return {};
  return mismatch(
      name, fmt::format("{} is {}, but {} is {}; it must be of that shape and of that type or f32", name,
                        to_string(*type), first_name, to_string(first)));
}

/// An input that has a number for each row of x.
Result<void> expect_row_numbers(const NodeView& view, size_t input, std::string_view name, DType dtype,
                                Shape x, const std::string& reader) {
  const ValueType* type = view.inputs[input];
  x.pop_back();
  if (type == nullptr || *type == ValueType{dtype, x}) return {};
  return mismatch(name, fmt::format("{} is {}, but {} needs {}", name, to_string(*type), reader,
                                    to_string(ValueType{dtype, x})));
}

/// A count that an attribute gives where rows have numbers, and nothing else does.
Result<Shape> counted_rows(const NodeView& view, std::string_view attribute, int64_t hidden) {
  ORRERY_TRY(expect_positive(*view.attributes, attribute));
  return Shape{integer(*view.attributes, attribute), hidden};
}

/// The shape of x: src's, where not only some of its rows are taken.
Shape shape_of_x(const NodeView& view) {
  const ValueType &src = *view.inputs[Forward::src], *rows = view.inputs[Forward::src_rows];
  if (rows == nullptr) return src.shape;
  Shape shape = rows->shape;
  shape.push_back(src.shape.back());
  return shape;
}

DType type_of_x(const NodeView& view) {
  if (flag(*view.attributes, "residual_f32")) return DType::f32;
  return view.inputs[view.inputs[Forward::residual] != nullptr ? Forward::residual : Forward::src]->dtype;
}

Types infer_forward(const NodeView& view) {
  ORRERY_TRY(check_attributes(*view.attributes));
  ORRERY_ASSIGN(const int64_t hidden, hidden_of(view, "src"));
  const ValueType& src = *view.inputs[Forward::src];
  const std::string reader = "a norm of src " + to_string(src);
  const ValueType x{src.dtype, shape_of_x(view)};
  ORRERY_TRY(expect_rows(view, Forward::residual, "residual", x, "src"));
  ORRERY_TRY(expect_vector(view, Forward::weight, "weight", hidden, reader));
  ORRERY_TRY(expect_vector(view, Forward::bias, "bias", hidden, reader));
  ORRERY_TRY(expect_vector(view, Forward::colscale, "colscale", hidden, reader));
  ORRERY_TRY(expect_vector(view, Forward::weight2, "weight2", hidden, reader));
  ORRERY_TRY(expect_vector(view, Forward::bias2, "bias2", hidden, reader));
  if (const ValueType* src2 = view.inputs[Forward::src2]; src2 != nullptr && *src2 != x)
    return mismatch("src2",
                    fmt::format("src2 is {}, but {} needs {}", to_string(*src2), reader, to_string(x)));
  if (view.inputs[Forward::bias2] != nullptr && view.inputs[Forward::weight2] == nullptr)
    return mismatch("bias2", "bias2 is there, but weight2 is not; without it there is no second norm");
  ORRERY_TRY(expect_row_numbers(view, Forward::rowscale, "rowscale", DType::f32, x.shape, reader));
  ORRERY_TRY(expect_row_numbers(view, Forward::src_rows, "src_rows", DType::i32, x.shape, reader));
  ORRERY_TRY(expect_row_numbers(view, Forward::out_rows, "out_rows", DType::i32, x.shape, reader));
  ValueType out = x;
  if (view.inputs[Forward::out_rows] != nullptr) {
    ORRERY_ASSIGN(out.shape, counted_rows(view, "out_count", hidden));
  }
  std::vector<ValueType> types{out, ValueType{type_of_x(view), x.shape}};
  const bool second = view.inputs[Forward::weight2] != nullptr;
  if (flag(*view.attributes, "quantised") || second) {
    types.push_back({DType::i8, out.shape});
    Shape rows = out.shape;
    rows.pop_back();
    types.push_back({DType::f32, std::move(rows)});
  }
  if (second) types.push_back(out);
  return types;
}

/// Whether it gives the gradients of a second source and norm.
bool is_parallel(const Attributes& attributes, bool has_grad_out2) {
  return has_grad_out2 || flag(attributes, "parallel");
}

Types infer_backward(const NodeView& view) {
  ORRERY_TRY(check_attributes(*view.attributes));
  ORRERY_ASSIGN(const int64_t hidden, hidden_of(view, "grad_out"));
  const ValueType &grad = *view.inputs[Backward::grad_out], &x = *view.inputs[Backward::x],
                  *src = view.inputs[Backward::src];
  const std::string reader = "a norm of grad_out " + to_string(grad);
  const bool some_src = view.inputs[Backward::src_rows] != nullptr,
             some_out = view.inputs[Backward::out_rows] != nullptr;
  ValueType grad_of_x = grad;
  if (some_out && !x.shape.empty() && x.shape.back() == Dim(hidden)) grad_of_x.shape = x.shape;
  ORRERY_TRY(expect_rows(view, Backward::x, "residual_out", grad_of_x, "grad_out"));
  const bool second = view.inputs[Backward::grad_out2] != nullptr;
  if (second) ORRERY_TRY(expect_same(view, Backward::grad_out2, "grad_out2", Backward::grad_out, "grad_out"));
  if (second && view.inputs[Backward::weight2] == nullptr)
    return mismatch("weight2", "grad_out2 is there, but weight2 is not; its norm was multiplied by it");
  if (view.inputs[Backward::grad_residual_out] != nullptr)
    ORRERY_TRY(
        expect_same(view, Backward::grad_residual_out, "grad_residual_out", Backward::x, "residual_out"));
  ValueType grad_src = grad_of_x;
  if (some_src && src != nullptr) grad_src.shape = src->shape;
  if (some_src && src == nullptr) {
    ORRERY_ASSIGN(grad_src.shape, counted_rows(view, "src_count", hidden));
  }
  if (src != nullptr && (*src != grad_src || src->shape.empty() || src->shape.back() != Dim(hidden)))
    return mismatch("src", fmt::format("src is {}, but grad_out is {}", to_string(*src), to_string(grad)));
  ORRERY_TRY(expect_vector(view, Backward::weight, "weight", hidden, reader));
  ORRERY_TRY(expect_vector(view, Backward::colscale, "colscale", hidden, reader));
  ORRERY_TRY(expect_vector(view, Backward::weight2, "weight2", hidden, reader));
  ORRERY_TRY(expect_row_numbers(view, Backward::rowscale, "rowscale", DType::f32, x.shape, reader));
  ORRERY_TRY(expect_row_numbers(view, Backward::src_rows, "src_rows", DType::i32, x.shape, reader));
  ORRERY_TRY(expect_row_numbers(view, Backward::out_rows, "out_rows", DType::i32, x.shape, reader));
  const ValueType sums{DType::f32, {hidden}};
  std::vector<ValueType> types{grad_src, x, sums, sums};
  const bool parallel = is_parallel(*view.attributes, second);
  if (parallel || (src != nullptr && view.inputs[Backward::colscale] != nullptr)) types.push_back(sums);
  if (parallel) types.insert(types.end(), {grad_of_x, sums, sums});
  return types;
}

double one_if(bool holds) { return holds ? 1 : 0; }

/// Per element, of the norm: layer: sum, difference, square, sum, two multiplications; rms: square, sum, two
/// multiplications. Before and after it one for each operand, and for each dropout. An x that nobody reads is
/// not written, nor an out where a second one or that of 8 bits is; the latter is a comparison and a
/// multiplication. The numbers
/// of the mask are whole ones, which are not counted.
Cost cost_forward(const NodeView& view, const Bindings& bindings) {
  const Attributes& attributes = *view.attributes;
  const auto has = [&](size_t input) { return one_if(view.inputs[input] != nullptr); };
  const double each = (flag(attributes, "rms") ? 4 : 6) + one_if(real(attributes, "p") > 0) +
                      has(Forward::residual) + has(Forward::bias) + has(Forward::rowscale) +
                      has(Forward::colscale) + has(Forward::weight2) + has(Forward::bias2) +
                      has(Forward::src2) * (1 + one_if(real(attributes, "p") > 0));
  Cost cost{each * count(view.outputs[Forward::residual_out]->shape, bindings), 0};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  const auto read = [&](size_t output) { return output < view.outputs.size() && view.is_read[output]; };
  const bool quantises = read(Forward::quantised) || read(Forward::scales);
  for (size_t output = 0; output < view.outputs.size(); ++output)
    if (read(output) || (output == Forward::out && !quantises && !read(Forward::out2)))
      cost.bytes += bytes(view.outputs[output], bindings);
  if (quantises) cost.flops += 2 * count(view.outputs[Forward::quantised]->shape, bindings);
  return cost;
}

/// Per element, layer: sum, difference, square, sum, y, g, sum of g, product and sum of g y, and four for
/// what is left of them; rms: without sum, difference, sum of g and one of the four. Then one for each
/// operand that adds or scales, and for dropout, two for g of a second norm, and two for each gradient that
/// is a sum over rows, but one for a bias.
Cost cost_backward(const NodeView& view, const Bindings& bindings) {
  const Attributes& attributes = *view.attributes;
  const auto has = [&](size_t input) { return one_if(view.inputs[input] != nullptr); };
  const auto read = [&](size_t output) { return output < view.outputs.size() && view.is_read[output]; };
  const bool masked = read(Backward::grad_src) || read(Backward::grad_colscale);
  double each = (flag(attributes, "rms") ? 9 : 13) + has(Backward::grad_residual_out);
  if (masked) each += one_if(real(attributes, "p") > 0) + has(Backward::rowscale);
  if (read(Backward::grad_src)) each += has(Backward::colscale);
  if (read(Backward::grad_src2)) each += one_if(real(attributes, "p") > 0);
  each += 2 * has(Backward::grad_out2) + 2 * one_if(read(Backward::grad_weight)) +
          one_if(read(Backward::grad_bias)) + 2 * one_if(read(Backward::grad_colscale)) +
          2 * one_if(read(Backward::grad_weight2)) + one_if(read(Backward::grad_bias2));
  Cost cost{each * count(view.inputs[Backward::x]->shape, bindings), 0};
  for (size_t input = 0; input < view.inputs.size(); ++input)
    if (input != Backward::src || read(Backward::grad_colscale))
      cost.bytes += bytes(view.inputs[input], bindings);
  for (size_t output = 0; output < view.outputs.size(); ++output)
    if (read(output)) cost.bytes += bytes(view.outputs[output], bindings);
  return cost;
}

kernels::Norm::Kind kind_of(const graph::Node& node) {
  return flag(node.attributes, "rms") ? kernels::Norm::Kind::rms : kernels::Norm::Kind::layer;
}

kernels::Dropout dropout_of(const graph::Node& node) {
  return {real(node.attributes, "p"), static_cast<uint64_t>(integer(node.attributes, "seed"))};
}

/// Where the numbers of a subset lie, and how many rows they may name.
struct SubsetSlots {
  Slot src_rows, out_rows;
  StepShape src, out;
  float row_factor = 1;

  kernels::NormRows at(const StepContext& step) const {
    return {step.data<const int32_t>(src_rows), step.data<const int32_t>(out_rows),
            src.product(step, 0, src.rank - 1), out.product(step, 0, out.rank - 1), row_factor};
  }
};
/// src, out: values of their shapes.
Result<SubsetSlots> subset_of(LowerContext& context, const graph::Node& node, ValueId src_rows,
                              ValueId out_rows, ValueId src, ValueId out) {
  SubsetSlots slots;
  ORRERY_ASSIGN(slots.src_rows, optional_elements(context, src_rows));
  ORRERY_ASSIGN(slots.out_rows, optional_elements(context, out_rows));
  ORRERY_ASSIGN(slots.src, step_shape(context, node, src));
  ORRERY_ASSIGN(slots.out, step_shape(context, node, out));
  slots.row_factor = static_cast<float>(real(node.attributes, "rowscale_const"));
  return slots;
}

Result<Lowered> lower_forward(LowerContext& context, const graph::Node& node) {
  DropoutNorm::Args args;
  args.dropout = dropout_of(node);
  args.eps = static_cast<float>(real(node.attributes, "epsilon"));
  const ValueId src_value = node.inputs[Forward::src], residual_value = node.inputs[Forward::residual];
  args.problem = {kind_of(node),
                  cols_of(context, src_value),
                  context.type(src_value).dtype,
                  context.type(residual_value.valid() ? residual_value : src_value).dtype,
                  context.type(node.outputs[Forward::residual_out]).dtype,
                  node.inputs[Forward::src2].valid() || node.inputs[Forward::weight2].valid()};
  ORRERY_ASSIGN(auto chosen, choose<DropoutNorm>(context, node, args.problem));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.outputs[Forward::residual_out]));
  ORRERY_ASSIGN(const SubsetSlots subset,
                subset_of(context, node, node.inputs[Forward::src_rows], node.inputs[Forward::out_rows],
                          src_value, node.outputs[Forward::out]));
  ORRERY_ASSIGN(const Slot src, elements_of(context, src_value));
  ORRERY_ASSIGN(const Slot src2, optional_elements(context, node.inputs[Forward::src2]));
  ORRERY_ASSIGN(const Slot residual, optional_elements(context, residual_value));
  ORRERY_ASSIGN(const Slot weight, float_operand(context, node.inputs[Forward::weight]));
  ORRERY_ASSIGN(const Slot bias, float_operand(context, node.inputs[Forward::bias]));
  ORRERY_ASSIGN(const Slot weight2, float_operand(context, node.inputs[Forward::weight2]));
  ORRERY_ASSIGN(const Slot bias2, float_operand(context, node.inputs[Forward::bias2]));
  ORRERY_ASSIGN(const Slot rowscale, float_operand(context, node.inputs[Forward::rowscale]));
  ORRERY_ASSIGN(const Slot colscale, float_operand(context, node.inputs[Forward::colscale]));
  const bool quantises = node.outputs.size() > Forward::quantised &&
                         (context.graph().is_read(node.outputs[Forward::quantised]) ||
                          context.graph().is_read(node.outputs[Forward::scales]));
  const bool second =
      node.outputs.size() > Forward::out2 && context.graph().is_read(node.outputs[Forward::out2]);
  const Slot out =
      quantises || second ? read_slot(context, node, Forward::out) : context.slot(node.outputs[Forward::out]);
  const Slot out2 = read_slot(context, node, Forward::out2);
  const Slot quantised = quantises ? context.slot(node.outputs[Forward::quantised]) : Slot{};
  const Slot scales = quantises ? context.slot(node.outputs[Forward::scales]) : Slot{};
  const Slot residual_out = read_slot(context, node, Forward::residual_out);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.rows = shape.product(step, 0, shape.rank - 1);
    call.src = step.address(src);
    call.src2 = step.address(src2);
    call.residual = step.address(residual);
    call.weight = step.data<const float>(weight);
    call.bias = step.data<const float>(bias);
    call.weight2 = step.data<const float>(weight2);
    call.bias2 = step.data<const float>(bias2);
    call.rowscale = step.data<const float>(rowscale);
    call.colscale = step.data<const float>(colscale);
    call.out = step.data<void>(out);
    call.out2 = step.data<void>(out2);
    call.residual_out = step.data<void>(residual_out);
    call.quantised = step.data<int8_t>(quantised);
    call.scales = step.data<float>(scales);
    call.subset = subset.at(step);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_backward(LowerContext& context, const graph::Node& node) {
  DropoutNormBackward::Args args;
  args.dropout = dropout_of(node);
  args.eps = static_cast<float>(real(node.attributes, "epsilon"));
  const ValueId grad_value = node.inputs[Backward::grad_out];
  args.problem = {kind_of(node), cols_of(context, grad_value), context.type(grad_value).dtype,
                  context.type(node.inputs[Backward::x]).dtype,
                  is_parallel(node.attributes, node.inputs[Backward::grad_out2].valid())};
  if (!node.inputs[Backward::src].valid() || !node.inputs[Backward::colscale].valid())
    if (read_slot(context, node, Backward::grad_colscale).kind != Slot::Kind::none)
      return mismatch("grad_colscale", "grad_colscale is read, but src or colscale is not connected");
  ORRERY_ASSIGN(auto chosen, choose<DropoutNormBackward>(context, node, args.problem));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[Backward::x]));
  ORRERY_ASSIGN(const SubsetSlots subset,
                subset_of(context, node, node.inputs[Backward::src_rows], node.inputs[Backward::out_rows],
                          node.outputs[Backward::grad_src], grad_value));
  ORRERY_ASSIGN(const Slot grad_out, elements_of(context, grad_value));
  ORRERY_ASSIGN(const Slot grad_out2, optional_elements(context, node.inputs[Backward::grad_out2]));
  ORRERY_ASSIGN(const Slot grad_residual_out,
                optional_elements(context, node.inputs[Backward::grad_residual_out]));
  ORRERY_ASSIGN(const Slot x, elements_of(context, node.inputs[Backward::x]));
  ORRERY_ASSIGN(const Slot src, optional_elements(context, node.inputs[Backward::src]));
  ORRERY_ASSIGN(const Slot weight, float_operand(context, node.inputs[Backward::weight]));
  ORRERY_ASSIGN(const Slot weight2, float_operand(context, node.inputs[Backward::weight2]));
  ORRERY_ASSIGN(const Slot rowscale, float_operand(context, node.inputs[Backward::rowscale]));
  ORRERY_ASSIGN(const Slot colscale, float_operand(context, node.inputs[Backward::colscale]));
  const Slot grad_src = read_slot(context, node, Backward::grad_src),
             grad_residual = read_slot(context, node, Backward::grad_residual),
             grad_weight = read_slot(context, node, Backward::grad_weight),
             grad_bias = read_slot(context, node, Backward::grad_bias),
             grad_colscale = read_slot(context, node, Backward::grad_colscale),
             grad_src2 = read_slot(context, node, Backward::grad_src2),
             grad_weight2 = read_slot(context, node, Backward::grad_weight2),
             grad_bias2 = read_slot(context, node, Backward::grad_bias2);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.rows = shape.product(step, 0, shape.rank - 1);
    call.grad_out = step.address(grad_out);
    call.grad_out2 = step.address(grad_out2);
    call.grad_residual_out = step.address(grad_residual_out);
    call.x = step.address(x);
    call.src = step.address(src);
    call.weight = step.data<const float>(weight);
    call.weight2 = step.data<const float>(weight2);
    call.rowscale = step.data<const float>(rowscale);
    call.colscale = step.data<const float>(colscale);
    call.grad_src2 = step.data<void>(grad_src2);
    call.grad_weight2 = step.data<float>(grad_weight2);
    call.grad_bias2 = step.data<float>(grad_bias2);
    call.grad_src = step.data<void>(grad_src);
    call.grad_residual = step.data<void>(grad_residual);
    call.grad_weight = step.data<float>(grad_weight);
    call.grad_bias = step.data<float>(grad_bias);
    call.grad_colscale = step.data<float>(grad_colscale);
    call.subset = subset.at(step);
    run(call, step.launch());  // sums over no rows are zeros
  };
  return std::move(chosen.lowered);
}

/// Its backward op.
void gradient(Gradients& at) {
  if (at.wants(Forward::rowscale))
    return at.refuse("the backward op gives none of rowscale",
                     "differentiate with respect to its other inputs");
  if (at.gradient(Forward::scales))
    return at.refuse("scales are those of rounded numbers", "differentiate out instead");
  const Term src_rows = at.input(Forward::src_rows);
  // With rows of its own src says how many there are.
  const bool of_colscale = at.wants(Forward::colscale), reads_src = of_colscale || src_rows;
  Attributes attributes = at.attributes();
  for (const char* forward_only : {"residual_f32", "quantised", "out_count"}) attributes.erase(forward_only);
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  const Term of_out2 = at.gradient(Forward::out2);
  const bool parallel = at.input(Forward::src2) || of_out2;
  if (parallel) attributes.insert_or_assign("parallel", true);
  const std::vector<Term> made = at.apply_all(
      "dropout_add_layer_norm_backward",
      {at.gradient_or_zeros(Forward::out), at.gradient(Forward::residual_out),
       at.output(Forward::residual_out), reads_src ? at.input(Forward::src) : Term(),
       at.input(Forward::weight), at.input(Forward::rowscale), at.input(Forward::colscale), src_rows,
       at.input(Forward::out_rows), of_out2, of_out2 ? at.input(Forward::weight2) : Term()},
      std::move(attributes));
  if (made.empty()) return;
  at.give(Forward::src, made[Backward::grad_src]);
  at.give(Forward::residual, made[Backward::grad_residual]);
  at.give(Forward::weight, made[Backward::grad_weight]);
  at.give(Forward::bias, made[Backward::grad_bias]);
  if (of_colscale) at.give(Forward::colscale, made[Backward::grad_colscale]);
  if (!parallel) return;
  at.give(Forward::src2, made[Backward::grad_src2]);
  at.give(Forward::weight2, made[Backward::grad_weight2]);
  at.give(Forward::bias2, made[Backward::grad_bias2]);
}

}  // namespace

OpSchema dropout_add_layer_norm_op() {
  std::vector<AttributeSpec> attributes = attributes_of();
  attributes.push_back(
      {"residual_f32", "Keeps the sum as f32, whatever the type of residual or src", Attribute(false)});
  attributes.push_back(
      {"quantised", "Gives out as 8-bit numbers and a factor for each row too", Attribute(false)});
  attributes.push_back({"out_count", "Rows of out, where out_rows numbers them", Attribute(int64_t{0})});
  return {.name = "dropout_add_layer_norm",
          .family = OpFamily::norm,
          .doc =
              "Drops elements of src, and of a second source, adds them to the residual, and norms the sum, "
              "which is the second output; with weight2 once more.",
          .inputs = {{"src"},
                     {"residual", true},
                     {"weight"},
                     {"bias", true},
                     {"rowscale", true},
                     {"colscale", true},
                     {"src_rows", true},
                     {"out_rows", true},
                     {"src2", true},
                     {"weight2", true},
                     {"bias2", true}},
          .outputs = {"out", "residual_out", "quantised", "scales", "out2"},
          .attributes = std::move(attributes),
          .infer = infer_forward,
          .cost = cost_forward,
          .gradient = gradient,
          .lowering = lowered_to<DropoutNorm>(lower_forward)};
}

OpSchema dropout_add_layer_norm_backward_op() {
  std::vector<AttributeSpec> attributes = attributes_of();
  attributes.push_back({"src_count", "Rows of src, where src_rows numbers them and src is not connected",
                        Attribute(int64_t{0})});
  attributes.push_back({"parallel", "Gives the gradients of a second source and norm too", Attribute(false)});
  return {.name = "dropout_add_layer_norm_backward",
          .family = OpFamily::norm,
          .doc = "The gradients of dropout_add_layer_norm, by what a loss changes with its outputs.",
          .inputs = {{"grad_out"},
                     {"grad_residual_out", true},
                     {"residual_out"},
                     {"src", true},
                     {"weight"},
                     {"rowscale", true},
                     {"colscale", true},
                     {"src_rows", true},
                     {"out_rows", true},
                     {"grad_out2", true},
                     {"weight2", true}},
          .outputs = {"grad_src", "grad_residual", "grad_weight", "grad_bias", "grad_colscale", "grad_src2",
                      "grad_weight2", "grad_bias2"},
          .attributes = std::move(attributes),
          .infer = infer_backward,
          .cost = cost_backward,
          .lowering = lowered_to<DropoutNormBackward>(lower_backward)};
}

}  // namespace orrery::ops
