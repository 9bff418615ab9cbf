// Elementwise functions of one value of any type and rank (kernels/map.h)
#include "engine/ops/map_support.h"

#include <cmath>
#include <numbers>

#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

using kernels::Map;
using Function = Map::Function;

DType written(const kernels::MapInfo& info, DType src) {
  return info.kind == Map::Kind::test ? DType::boolean : src;
}

Types infer(const kernels::MapInfo& info, const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  const bool is_bool = src.dtype == DType::boolean;
  const auto expect = [&](bool fits, std::string_view what) -> Result<void> {
    if (fits) return {};
    return mismatch("src", fmt::format("src is {}; {} takes {}", to_string(src), info.name, what));
  };
  switch (info.kind) {
    case Map::Kind::real:
    case Map::Kind::test:
      ORRERY_TRY(expect(is_float(src.dtype), "floats: cast it"));
      break;
    case Map::Kind::number:
      ORRERY_TRY(expect(!is_bool, "numbers: cast it"));
      break;
    case Map::Kind::bits:
      ORRERY_TRY(expect(!is_float(src.dtype) && !is_bool, "whole numbers"));
      break;
    case Map::Kind::logical:
      ORRERY_TRY(expect(is_bool, "bools: compare it, or cast it"));
  }
  return std::vector{ValueType{written(info, src.dtype), src.shape}};
}

Cost cost(const kernels::MapInfo& info, const NodeView& view, const Bindings& bindings) {
  return {info.flops * count(view.outputs[0]->shape, bindings),
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

/// The slope at x, where the function gives y.
using Slope = Term (*)(const Term& x, const Term& y);

OpSchema map_op(Function function, std::string doc) {
  const kernels::MapInfo& info = kernels::info_of(function);
  return {
      .name = std::string(info.name),
      .family = OpFamily::elementwise,
      .doc = std::move(doc),
      .inputs = {{"src"}},
      .outputs = {"dst"},
      .infer = [&info](const NodeView& view) { return infer(info, view); },
      .cost = [&info](const NodeView& view, const Bindings& bindings) { return cost(info, view, bindings); },
      .lowering = lowered_to<Map>([function](LowerContext& context, const graph::Node& node) {
        return lower_map(context, node, function);
      })};
}

OpSchema smooth_op(Function function, std::string doc, Slope slope) {
  OpSchema op = map_op(function, std::move(doc));
  op.gradient = [slope](Gradients& at) { at.give(0, at.gradient() * slope(at.input(0), at.output())); };
  return op;
}

/// One that moves in steps, or gives no numbers.
OpSchema stepped_op(Function function, std::string doc) {
  OpSchema op = map_op(function, std::move(doc));
  op.stops_gradient = true;
  return op;
}

/// Zero at zero.
Term sign(const Term& x) {
  const Term zero = x.rule().number(0, x.type().dtype);
  const Term one = x.rule().number(1, x.type().dtype);
  return where(x > 0, one, where(-x > 0, -one, zero));
}

}  // namespace

OpSchema abs_op() {
  return smooth_op(Function::abs, "Absolute value.", [](const Term& x, const Term&) { return sign(x); });
}
OpSchema negate_op() {
  OpSchema op = map_op(Function::negate, "The same numbers with the other sign.");
  op.gradient = [](Gradients& at) { at.give(0, -at.gradient()); };
  return op;
}
OpSchema exp_op() {
  return smooth_op(Function::exp, "e to the power of each number.",
                   [](const Term&, const Term& y) { return y; });
}
OpSchema log_op() {
  OpSchema op = map_op(Function::log, "Natural logarithm.");
  op.gradient = [](Gradients& at) { at.give(0, at.gradient() / at.input(0)); };
  return op;
}
OpSchema log1p_op() {
  OpSchema op = map_op(Function::log1p, "Natural logarithm of 1 + x, exact for small x.");
  op.gradient = [](Gradients& at) { at.give(0, at.gradient() / (at.input(0) + 1)); };
  return op;
}
OpSchema sqrt_op() {
  OpSchema op = map_op(Function::sqrt, "Square root.");
  op.gradient = [](Gradients& at) { at.give(0, at.gradient() / (at.output() * 2)); };
  return op;
}
OpSchema rsqrt_op() {
  return smooth_op(Function::rsqrt, "One over the square root.",
                   [](const Term&, const Term& y) { return y * y * y * -0.5; });
}
OpSchema sigmoid_op() {
  return smooth_op(Function::sigmoid, "Logistic function, 1 / (1 + e^-x).",
                   [](const Term&, const Term& y) { return y * (1 - y); });
}
OpSchema sin_op() {
  return smooth_op(Function::sin, "Sine, of radians.",
                   [](const Term& x, const Term&) { return apply("cos", x); });
}
OpSchema cos_op() {
  return smooth_op(Function::cos, "Cosine, of radians.",
                   [](const Term& x, const Term&) { return -apply("sin", x); });
}
OpSchema acos_op() {
  return smooth_op(Function::acos, "Arc cosine, in radians.",
                   [](const Term& x, const Term&) { return -apply("rsqrt", 1 - x * x); });
}
OpSchema atanh_op() {
  OpSchema op = map_op(Function::atanh, "Inverse hyperbolic tangent.");
  op.gradient = [](Gradients& at) { at.give(0, at.gradient() / (1 - at.input(0) * at.input(0))); };
  return op;
}
OpSchema erf_op() {
  return smooth_op(Function::erf, "Error function.", [](const Term& x, const Term&) {
    return apply("exp", -(x * x)) * (2 * std::numbers::inv_sqrtpi);
  });
}
OpSchema floor_op() { return stepped_op(Function::floor, "The largest whole number that is no larger."); }
OpSchema round_op() {
  return stepped_op(Function::round, "The nearest whole number, halves to the even one.");
}
OpSchema trunc_op() { return stepped_op(Function::trunc, "The whole number next towards zero."); }
OpSchema is_nan_op() { return stepped_op(Function::is_nan, "Where a value is not a number."); }
OpSchema is_inf_op() { return stepped_op(Function::is_inf, "Where a value is infinite."); }
OpSchema bitwise_not_op() {
  return stepped_op(Function::bitwise_not, "Whole numbers with all bits turned over.");
}
OpSchema logical_not_op() { return stepped_op(Function::logical_not, "Where a bool does not hold."); }

}  // namespace orrery::ops
