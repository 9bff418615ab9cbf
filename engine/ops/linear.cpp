// linear: dst = epilogue(src * weight^T + bias)
#include "engine/ops/activation_gradient_support.h"
#include "engine/ops/linear_support.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix src, rounded_activation(view, 0, "src"));
  ORRERY_ASSIGN(const Stored weight, stored_matrix(view, 1, "weight"));
  if (weight.cols != src.cols)
    return mismatch(
        "weight", fmt::format("weight is {}, but src is {}: its rows have {} elements, not {}",
                              to_string(*view.inputs[1]), to_string(*view.inputs[0]), weight.cols, src.cols));
  ORRERY_TRY(expect_vector(view, 2, "bias", weight.rows, "a weight " + to_string(*view.inputs[1])));
  ORRERY_TRY(expect_choice(*view.attributes, "epilogue", activation_names()));
  return std::vector{f32(src.rows, weight.rows)};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const double results = count(view.outputs[0]->shape, bindings);
  const double each = 2.0 * static_cast<double>(view.inputs[1]->shape.back().constant()) +
                      (view.inputs[2] ? 1 : 0) + epilogue_flops(text(*view.attributes, "epilogue"));
  Cost cost{each * results, bytes(*view.outputs[0], bindings)};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  return cost;
}

SegmentValues segment_of(const graph::Node& node) {
  return {node.inputs[1], node.inputs[2], node.outputs[0]};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const SegmentValues segment = segment_of(node);
  return lower_linear(context, node, std::span(&segment, 1));
}

Rounding rounding(LowerContext& context, const graph::Node& node) {
  const SegmentValues segment = segment_of(node);
  return rounding_of_linear(context, node, std::span(&segment, 1));
}

/// g W, g^T src, and g, where g has come back through the epilogue.
void gradient(Gradients& at) {
  const Term src = at.input(0), weight = at.input(1), bias = at.input(2);
  Term g = at.gradient();
  const auto epilogue = parse_epilogue(text(at.attributes(), "epilogue")).value_or(kernels::Epilogue::none);
  if (epilogue != kernels::Epilogue::none)
    g = activation_gradient(kernels::activation_of(epilogue), g, at.apply("linear", {src, weight, bias}));
  if (at.wants(0)) {
    const bool plain = is_element(weight.type().dtype);
    at.give(0, matmul(g, plain ? weight : apply("dequantise", weight)));
  }
  if (at.wants(1)) at.give(1, matmul(g, cast(src, DType::f32), true));
  at.give(2, g);
}

}  // namespace

OpSchema linear_op() {
  return {.name = "linear",
          .family = OpFamily::linear,
          .doc = "Multiplies each row by a weight matrix and adds a bias.",
          .inputs = {{"src"}, {.name = "weight", .stored = true}, {"bias", true}},
          .outputs = {"dst"},
          .attributes = {{"epilogue",
                          fmt::format("Applied to the result: {}", fmt::join(activation_names(), ", ")),
                          Attribute(std::string("none"))}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Linear>(lower, rounding)};
}

}  // namespace orrery::ops
