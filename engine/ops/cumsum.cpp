// cumsum: dst[j] = src[0] + .. + src[j] along an axis (kernels/cumsum.h)
#include "kernels/cumsum.h"

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Cumsum;

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.dtype == DType::boolean)
    return mismatch("src", fmt::format("src is {}; bools are no numbers: cast it", to_string(src)));
  ORRERY_TRY(axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  return std::vector{src};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {count(view.outputs[0]->shape, bindings), 2 * bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  const int64_t named = integer(node.attributes, "axis");
  const auto rank = static_cast<int>(type.shape.size());
  const int axis = static_cast<int>(named < 0 ? named + rank : named);
  Cumsum::Args args;
  args.dtype = type.dtype;
  args.exclusive = flag(node.attributes, "exclusive");
  args.reverse = flag(node.attributes, "reverse");
  return lower_along<Cumsum>(context, node, {args.dtype}, args, axis, axis + 1);
}

/// Each number is in the sums behind it: those of the gradient the other way.
void gradient(Gradients& at) {
  Attributes attributes = at.attributes();
  attributes.insert_or_assign("reverse", !flag(attributes, "reverse"));
  at.give(0, apply("cumsum", at.gradient(), std::move(attributes)));
}

}  // namespace

OpSchema cumsum_op() {
  return {.name = "cumsum",
          .family = OpFamily::elementwise,
          .doc = "Sums of all that comes before along an axis.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"axis", "The axis; negative: from the last", Attribute(int64_t{-1})},
                         {"exclusive", "Whether a sum leaves out its own number", Attribute(false)},
                         {"reverse", "Whether it begins at the end", Attribute(false)}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<Cumsum>(lower)};
}

}  // namespace orrery::ops
