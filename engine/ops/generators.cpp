// Values that follow from attributes alone: range, random_uniform, random_gaussian (kernels/generate.h)
#include <cmath>

#include "engine/ops/constant.h"
#include "engine/ops/tensor_support.h"
#include "kernels/generate.h"

namespace orrery::ops {
namespace {

using kernels::Generate;

Result<DType> dtype_of(const Attributes& attributes) {
  const auto dtype = parse_dtype(text(attributes, "dtype"));
  if (dtype && is_element(*dtype) && *dtype != DType::boolean) return *dtype;
  Error error = bad_attribute(fmt::format("dtype is \"{}\"", text(attributes, "dtype")));
  error.advice = "Choose one of f32, f16, bf16, i8, i16, i32, i64, u8";
  return error;
}

Result<void> expect_finite(const Attributes& attributes, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const double number = real(attributes, name); !std::isfinite(number))
      return bad_attribute(fmt::format("{} is {}; it must be finite", name, number));
  return {};
}

Types infer_range(const NodeView& view) {
  const Attributes& attributes = *view.attributes;
  ORRERY_ASSIGN(const DType dtype, dtype_of(attributes));
  ORRERY_TRY(expect_finite(attributes, {"start", "stop", "step"}));
  const double start = real(attributes, "start"), stop = real(attributes, "stop"),
               step = real(attributes, "step");
  const double many = std::ceil((stop - start) / step);
  if (!(many >= 1 && many <= static_cast<double>(kMostElements)))
    return bad_attribute(fmt::format("from {} to before {} in steps of {} there are no numbers, or too many",
                                     start, stop, step));
  if (!is_float(dtype)) {
    const ValueType one{dtype, {}};
    ORRERY_TRY(check_constant({{"value", step}}, {DType::i64, {}}));
    ORRERY_TRY(check_constant({{"value", start}}, one));
    ORRERY_TRY(check_constant({{"value", start + (many - 1) * step}}, one));
  }
  return std::vector{ValueType{dtype, {static_cast<int64_t>(many)}}};
}

Types infer_random(const NodeView& view, std::initializer_list<const char*> numbers) {
  ORRERY_ASSIGN(const DType dtype, dtype_of(*view.attributes));
  if (!is_float(dtype))
    return bad_attribute(
        fmt::format("dtype is \"{}\"; random numbers are f32, f16 or bf16: cast them", name_of(dtype)));
  ORRERY_TRY(expect_finite(*view.attributes, numbers));
  ORRERY_ASSIGN(ValueType type, fixed_type(dtype, list(*view.attributes, "shape")));
  if (type.shape.size() > kernels::kMaxRank)
    return bad_attribute(
        fmt::format("shape has {} dims; a value may have {}", type.shape.size(), kernels::kMaxRank));
  return std::vector{std::move(type)};
}

Types infer_uniform(const NodeView& view) {
  const double low = real(*view.attributes, "low"), high = real(*view.attributes, "high");
  if (low > high) return bad_attribute(fmt::format("low is {}, but high is {}", low, high));
  return infer_random(view, {"low", "high"});
}

Types infer_gaussian(const NodeView& view) {
  ORRERY_TRY(expect_not_negative(*view.attributes, "std"));
  return infer_random(view, {"mean", "std"});
}

template <int kEach>
Cost cost(const NodeView& view, const Bindings& bindings) {
  return {kEach * count(view.outputs[0]->shape, bindings), bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node, Generate::Args args) {
  const ValueType& type = context.type(node.outputs[0]);
  args.problem.dtype = type.dtype;
  args.count = element_count(type.shape, {}).value_or(0);
  ORRERY_ASSIGN(auto chosen, choose<Generate>(context, node, args.problem));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.dst = step.data<void>(dst);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_range(LowerContext& context, const graph::Node& node) {
  Generate::Args args;
  args.problem.function = Generate::Function::range;
  args.a = real(node.attributes, "start");
  args.b = real(node.attributes, "step");
  if (!is_float(context.type(node.outputs[0]).dtype)) {
    args.first = static_cast<int64_t>(args.a);
    args.stride = static_cast<int64_t>(args.b);
  }
  return lower(context, node, args);
}

Result<Lowered> lower_random(LowerContext& context, const graph::Node& node, Generate::Function function,
                             const char* a, const char* b) {
  Generate::Args args;
  args.problem.function = function;
  args.a = real(node.attributes, a);
  args.b = real(node.attributes, b);
  args.seed = static_cast<uint64_t>(integer(node.attributes, "seed"));
  return lower(context, node, args);
}

AttributeSpec shape_attribute() { return {"shape", "Its sizes, outermost first", {}, AttributeType::list}; }
AttributeSpec seed_attribute() {
  return {"seed", "Names the numbers: each follows from it and from its place, on every device",
          Attribute(int64_t{0})};
}
AttributeSpec dtype_attribute(std::string doc) {
  return {"dtype", std::move(doc), Attribute(std::string("f32"))};
}

}  // namespace

OpSchema range_op() {
  return {.name = "range",
          .family = OpFamily::data_movement,
          .doc = "Numbers in equal steps, from start to before stop.",
          .outputs = {"dst"},
          .attributes = {{"start", "The first", Attribute(0.0)},
                         {"stop", "The one that none reaches", {}, AttributeType::real},
                         {"step", "From one to the next, perhaps negative", Attribute(1.0)},
                         dtype_attribute("The type of its elements: f32, i64")},
          .infer = infer_range,
          .cost = cost<2>,
          .stops_gradient = true,
          .lowering = lowered_to<Generate>(lower_range)};
}

OpSchema random_uniform_op() {
  return {.name = "random_uniform",
          .family = OpFamily::data_movement,
          .doc = "Random numbers between two, each as likely as the others (Philox: Salmon et al. 2011).",
          .outputs = {"dst"},
          .attributes = {shape_attribute(),
                         {"low", "The least", Attribute(0.0)},
                         {"high", "What they stay below, but for rounding", Attribute(1.0)},
                         seed_attribute(),
                         dtype_attribute("The type of its elements: f32, f16, bf16")},
          .infer = infer_uniform,
          .cost = cost<2>,
          .stops_gradient = true,
          .lowering = lowered_to<Generate>([](LowerContext& context, const graph::Node& node) {
            return lower_random(context, node, Generate::Function::uniform, "low", "high");
          })};
}

OpSchema random_gaussian_op() {
  return {.name = "random_gaussian",
          .family = OpFamily::data_movement,
          .doc = "Random numbers of the normal distribution (Box and Muller 1958, of Philox).",
          .outputs = {"dst"},
          .attributes = {shape_attribute(),
                         {"mean", "Their mean", Attribute(0.0)},
                         {"std", "Their standard deviation", Attribute(1.0)},
                         seed_attribute(),
                         dtype_attribute("The type of its elements: f32, f16, bf16")},
          .infer = infer_gaussian,
          .cost = cost<5>,
          .stops_gradient = true,
          .lowering = lowered_to<Generate>([](LowerContext& context, const graph::Node& node) {
            return lower_random(context, node, Generate::Function::gaussian, "mean", "std");
          })};
}

}  // namespace orrery::ops
