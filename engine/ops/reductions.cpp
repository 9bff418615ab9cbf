// Reductions over an axis, over neighbouring ones, or over all (kernels/reduce.h)
#include <algorithm>

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"
#include "kernels/reduce.h"

namespace orrery::ops {
namespace {

using kernels::Reduce;
using Function = Reduce::Function;

/// Dims [begin, end) of src are gone over.
struct Axes {
  size_t begin, end;
};

Result<Axes> axes_of(const NodeView& view) {
  const size_t rank = view.inputs[0]->shape.size();
  std::vector<size_t> axes;
  for (const int64_t asked : list(*view.attributes, "axis")) {
    ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "src", asked));
    axes.push_back(axis);
  }
  if (axes.empty()) return Axes{0, rank};
  std::ranges::sort(axes);
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1)
      return mismatch("src",
                      fmt::format("axes {} of src, which is {}, are no neighbours; transpose it first, or "
                                  "take one after the other",
                                  fmt::join(axes, ", "), to_string(*view.inputs[0])));
  return Axes{axes.front(), axes.back() + 1};
}

DType written(Function function, DType src) { return kernels::gives_place(function) ? DType::i64 : src; }

Types infer(Function function, const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (function == Function::mean) ORRERY_TRY(expect_floats(view, 0, "src"));
  if (src.dtype == DType::boolean)
    return mismatch("src", fmt::format("src is {}; bools are no numbers: cast it", to_string(src)));
  ORRERY_ASSIGN(const Axes axes, axes_of(view));
  ValueType dst{written(function, src.dtype), {}};
  for (size_t d = 0; d < src.shape.size(); ++d) {
    const bool gone = d >= axes.begin && d < axes.end;
    if (!gone)
      dst.shape.push_back(src.shape[d]);
    else if (flag(*view.attributes, "keepdims"))
      dst.shape.emplace_back(1);
  }
  return std::vector{std::move(dst)};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {count(view.inputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(Function function, LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  Reduce::Args args;
  args.problem = {function, type.dtype, context.type(node.outputs[0]).dtype};
  ORRERY_ASSIGN(const Axes axes, axes_of({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  return lower_along<Reduce>(context, node, args.problem, args, static_cast<int>(axes.begin),
                             static_cast<int>(axes.end));
}

/// A result, or its gradient, with the dims that are gone as dims of 1.
Term with_axes(const Term& reduced, const Axes& axes, size_t rank) {
  if (!reduced || reduced.type().shape.size() == rank) return reduced;
  Term made = reduced;
  for (size_t d = axes.begin; d < axes.end; ++d) made = unsqueeze(made, static_cast<int64_t>(d));
  return made;
}

std::vector<int64_t> numbers_of(const Axes& axes) {
  std::vector<int64_t> numbers;
  for (size_t d = axes.begin; d < axes.end; ++d) numbers.push_back(static_cast<int64_t>(d));
  return numbers;
}

/// The product of the others: y / x where nothing is zero; of one zero, its own place alone has one.
Term product_of_others(const Term& x, const std::vector<int64_t>& axes) {
  const DType dtype = x.type().dtype;
  const Term is_zero = x == 0, one = x.rule().number(1, dtype), zero = x.rule().number(0, dtype);
  const Term rest = where(is_zero, one, x);
  const Term product = apply("prod", rest, {{"axis", axes}});
  const Term zeros = sum(cast(is_zero, dtype), axes);
  return where(is_zero, where(zeros == 1, product, zero), where(zeros == 0, product / rest, zero));
}

/// The share of each element in a mean.
Term share_of(const Term& x, const std::vector<int64_t>& axes) {
  Shape reduced;
  for (const int64_t axis : axes) reduced.push_back(x.type().shape[static_cast<size_t>(axis)]);
  if (const auto elements = element_count(reduced, {}))
    return x.rule().number(1 / static_cast<double>(*elements), x.type().dtype);
  return x.rule().number(1, x.type().dtype) / sum(filled_like(x, 1, x.type().dtype), axes);
}

/// The gradient goes to the first of the elements that are equal to the result (the first NaN).
Term at_first(Gradients& at, const Term& x, const Term& gradient, const Axes& axes, const char* place_of) {
  Shape lines = x.type().shape, ones = lines;
  const auto first = static_cast<std::ptrdiff_t>(axes.begin), last = static_cast<std::ptrdiff_t>(axes.end);
  ones.erase(ones.begin() + first, ones.begin() + last);
  ones.insert(ones.begin() + first, Dim(1));
  const auto axis = static_cast<int64_t>(axes.begin);
  const Term flat =
      axes.end - axes.begin == 1
          ? x
          : apply("flatten", x, {{"start_dim", axis}, {"end_dim", static_cast<int64_t>(last) - 1}});
  const Term place = apply(place_of, flat, {{"axis", std::vector{axis}}});
  const Term made =
      at.apply("scatter", {zeros_like(flat), reshaped(gradient, ones), place}, {{"axis", axis}});
  return reshaped(made, lines);
}

void reduced_gradient(Function function, Gradients& at) {
  const Term x = at.input(0);
  const ValueType& type = x.type();
  if (type.shape.empty()) return at.give(0, at.gradient());
  const auto found = axes_of({.attributes = &at.attributes(), .inputs = {&type}, .outputs = {}});
  if (!found.ok()) return at.refuse(found.error().what);
  const Term g = with_axes(at.gradient(), *found, type.shape.size());
  const std::vector<int64_t> axes = numbers_of(*found);
  switch (function) {
    case Function::sum:
      return at.give(0, g);
    case Function::mean:
      return at.give(0, g * share_of(x, axes));
    case Function::prod:
      return at.give(0, g * product_of_others(x, axes));
    case Function::max:
      return at.give(0, at_first(at, x, g, *found, "argmax"));
    case Function::min:
      return at.give(0, at_first(at, x, g, *found, "argmin"));
    default:
      return at.refuse("no rule says how it moves with its operand");
  }
}

OpSchema reduction_op(Function function, std::string doc) {
  OpSchema op{
      .name = std::string(kernels::kReduceNames[static_cast<size_t>(function)]),
      .family = OpFamily::elementwise,
      .doc = std::move(doc),
      .inputs = {{"src"}},
      .outputs = {"dst"},
      .attributes = {{"axis",
                      "The axis that is gone over, or neighbouring ones; negative: from the last; empty: all",
                      Attribute(std::vector<int64_t>())},
                     {"keepdims", "Whether those axes stay, with one element each", Attribute(true)}},
      .infer = [function](const NodeView& view) { return infer(function, view); },
      .cost = cost,
      .stops_gradient = kernels::gives_place(function),
      .lowering = lowered_to<Reduce>([function](LowerContext& context, const graph::Node& node) {
        return lower(function, context, node);
      })};
  if (!op.stops_gradient) op.gradient = [function](Gradients& at) { reduced_gradient(function, at); };
  return op;
}

}  // namespace

OpSchema sum_op() { return reduction_op(Function::sum, "Sum of the numbers along an axis."); }
OpSchema mean_op() { return reduction_op(Function::mean, "Mean of the numbers along an axis."); }
OpSchema prod_op() { return reduction_op(Function::prod, "Product of the numbers along an axis."); }
OpSchema max_op() {
  return reduction_op(Function::max, "The largest number along an axis; NaN where there is one.");
}
OpSchema min_op() {
  return reduction_op(Function::min, "The smallest number along an axis; NaN where there is one.");
}
OpSchema argmax_op() {
  return reduction_op(Function::argmax,
                      "The place of the largest number along an axis: of equal ones the first.");
}
OpSchema argmin_op() {
  return reduction_op(Function::argmin,
                      "The place of the smallest number along an axis: of equal ones the first.");
}

}  // namespace orrery::ops
