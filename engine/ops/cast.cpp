// cast: dst = src in another element type (kernels/copy.h says how each is converted)
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const auto dtype = parse_dtype(text(*view.attributes, "dtype"));
  if (!dtype || !is_element(*dtype)) {
    Error error = bad_attribute(fmt::format("dtype is \"{}\"", text(*view.attributes, "dtype")));
    error.advice = "Choose one of f32, f16, bf16, i8, i16, i32, i64, u8, bool";
    return error;
  }
  return std::vector{ValueType{*dtype, view.inputs[0]->shape}};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const auto rank = static_cast<int>(context.type(node.inputs[0]).shape.size());
  return lower_copy(context, node, [rank](const int64_t* sizes, const int64_t*, int64_t* strides) {
    kernels::pack_strides(rank, sizes, strides);
    return int64_t{0};
  });
}

}  // namespace

OpSchema cast_op() {
  return {.name = "cast",
          .family = OpFamily::data_movement,
          .doc = "The same numbers in another element type.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"dtype", "The type of the result: f32, bf16, i64, bool", {}, AttributeType::text}},
          .infer = infer,
          .cost = cost,
          .gradient = [](Gradients& at) { at.give(0, at.gradient()); },  // cast back
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
