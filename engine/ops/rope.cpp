// rope: rotates pairs of each head's first rope_dims elements by an angle that grows with the position
#include "kernels/rope.h"

#include <cmath>

#include "engine/ops/gradients.h"
#include "engine/ops/lower_support.h"

namespace orrery::ops {
namespace {

Result<void> expect_real(const Attributes& attributes, const char* name) {
  if (const double value = real(attributes, name); !std::isfinite(value) || value <= 0)
    return bad_attribute(fmt::format("{} is {}; it must be positive and finite", name, value));
  return {};
}

/// Only of what the kind of scaling reads.
Result<void> check_scaling(const Attributes& attributes) {
  ORRERY_TRY(expect_choice(attributes, "scaling", {"none", "linear", "llama3", "yarn"}));
  ORRERY_TRY(expect_real(attributes, "attention_factor"));
  const std::string_view kind = text(attributes, "scaling");
  if (kind == "none") return {};
  ORRERY_TRY(expect_real(attributes, "factor"));
  if (kind == "linear") return {};
  ORRERY_TRY(expect_real(attributes, "low_frequency_factor"));
  ORRERY_TRY(expect_real(attributes, "high_frequency_factor"));
  ORRERY_TRY(expect_positive(attributes, "original_context"));
  const double low = real(attributes, "low_frequency_factor"),
               high = real(attributes, "high_frequency_factor");
  if (low >= high)
    return bad_attribute(
        fmt::format("low_frequency_factor is {}; it must be below high_frequency_factor = {}", low, high));
  if (kind == "yarn" && real(attributes, "base") == 1.0)
    return bad_attribute("base is 1: all pairs turn alike, so that yarn cannot tell slow ones");
  return {};
}

Result<void> check_attributes(const Attributes& attributes) {
  ORRERY_TRY(expect_choice(attributes, "style", {"interleaved", "half"}));
  ORRERY_TRY(expect_positive(attributes, "heads"));
  ORRERY_TRY(expect_positive(attributes, "head_dim"));
  const int64_t rotated = integer(attributes, "rope_dims"), head_dim = integer(attributes, "head_dim");
  if (rotated <= 0 || rotated % 2 != 0 || rotated > head_dim)
    return bad_attribute(fmt::format("rope_dims is {}; it must be even, at least 2 and at most head_dim {}",
                                     rotated, head_dim));
  ORRERY_TRY(expect_real(attributes, "base"));
  return check_scaling(attributes);
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  ORRERY_ASSIGN(const Dim rows, indices(view, 1, "positions"));
  if (rows != src.rows)
    return mismatch("positions", fmt::format("positions is {}, but src is {}; each row needs a position",
                                             to_string(*view.inputs[1]), to_string(*view.inputs[0])));
  ORRERY_TRY(check_attributes(*view.attributes));
  const int64_t heads = integer(*view.attributes, "heads"), head_dim = integer(*view.attributes, "head_dim");
  if (product(heads, head_dim) != src.cols)
    return mismatch(
        "src", fmt::format("src is {}, but {} heads of {} need [rows, {}]", to_string(*view.inputs[0]), heads,
                           head_dim, product(heads, head_dim).value_or(-1)));
  const int64_t pairs = integer(*view.attributes, "rope_dims") / 2;
  ORRERY_TRY(expect_vector(view, 2, "factors", pairs, "rope"));
  ORRERY_TRY(expect_vector(view, 3, "long_factors", pairs, "rope"));
  return std::vector{*view.inputs[0]};
}

/// Each rotated element: two products and a sum; the angles are shared by all heads and not counted.
Cost cost(const NodeView& view, const Bindings& bindings) {
  const double rotated = static_cast<double>(integer(*view.attributes, "heads")) *
                         static_cast<double>(integer(*view.attributes, "rope_dims"));
  Cost cost{3 * rotated * rows_of(*view.outputs[0], bindings), bytes(*view.outputs[0], bindings)};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  return cost;
}

kernels::RopeScaling scaling_of(const Attributes& attributes) {
  using Kind = kernels::RopeScaling::Kind;
  const std::string_view kind = text(attributes, "scaling");
  const double factor = real(attributes, "factor"), slow = real(attributes, "low_frequency_factor"),
               fast = real(attributes, "high_frequency_factor");
  const auto context = static_cast<double>(integer(attributes, "original_context"));
  kernels::RopeScaling scaling;
  if (kind == "linear")
    scaling = {Kind::linear, factor};
  else if (kind == "llama3")
    scaling = {Kind::llama3, factor, slow, fast, context};
  else if (kind == "yarn")
    scaling = kernels::yarn_scaling(factor, slow, fast, context, real(attributes, "base"),
                                    integer(attributes, "rope_dims"));
  scaling.attention_factor = static_cast<float>(real(attributes, "attention_factor"));
  return scaling;
}

/// The factors of a context longer than the original one, where the node has them; else the plain ones.
ValueId factors_for(const LowerContext& context, const graph::Node& node) {
  const bool is_long = context.context() > integer(node.attributes, "original_context");
  return is_long && node.inputs[3].valid() ? node.inputs[3] : node.inputs[2];
}

kernels::Rope::Args arguments(const Attributes& attributes) {
  kernels::Rope::Args args;
  args.style =
      text(attributes, "style") == "half" ? kernels::Rope::Style::half : kernels::Rope::Style::interleaved;
  args.heads = integer(attributes, "heads");
  args.head_dim = integer(attributes, "head_dim");
  args.rope_dims = integer(attributes, "rope_dims");
  args.base = static_cast<float>(real(attributes, "base"));
  args.scaling = scaling_of(attributes);
  args.src_stride = args.dst_stride = args.heads * args.head_dim;
  return args;
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::Rope::Args args = arguments(node.attributes);
  ORRERY_ASSIGN(auto chosen,
                choose<kernels::Rope>(context, node, {args.style, args.head_dim, args.rope_dims}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const Slot factors, float_operand(context, factors_for(context, node)));
  const Slot src = context.slot(node.inputs[0]), dst = context.slot(node.outputs[0]);
  const Slot positions = context.slot(node.inputs[1]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.src = step.data<const float>(src);
    call.dst = step.data<float>(dst);
    call.positions = step.data<const int32_t>(positions);
    call.frequency_factors = step.data<const float>(factors);
    call.tokens = rows.at(step);
    if (call.tokens > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// A rotation back: by the negative positions.
void gradient(Gradients& at) {
  at.give(0, at.apply("rope", {at.gradient(), -at.input(1), at.input(2), at.input(3)}, at.attributes()));
}

}  // namespace

OpSchema rope_op() {
  return {
      .name = "rope",
      .family = OpFamily::attention,
      .doc = "Rotary position embedding (Su et al. 2021).",
      .inputs = {{"src"}, {"positions"}, {"factors", true}, {"long_factors", true}},
      .outputs = {"dst"},
      .attributes =
          {{"style",
            "Which elements pair up: interleaved (2i, 2i+1) or half (i, i + rope_dims/2)",
            {},
            AttributeType::text},
           {"heads", "Heads of src", {}, AttributeType::integer},
           {"head_dim", "Elements of one head", {}, AttributeType::integer},
           {"rope_dims", "Elements of a head that are rotated", {}, AttributeType::integer},
           {"base", "Wavelengths grow as powers of it", {}, AttributeType::real},
           {"scaling", "How angles shrink for texts longer than the training's: none, linear, llama3 or yarn",
            Attribute(std::string("none"))},
           {"factor", "Divides the angles: all of them (linear), or those of slow pairs (llama3, yarn)",
            Attribute(1.0)},
           {"low_frequency_factor", "Pairs with fewer turns in original_context are slow (yarn: beta_slow)",
            Attribute(1.0)},
           {"high_frequency_factor", "Pairs with more turns in original_context are kept (yarn: beta_fast)",
            Attribute(4.0)},
           {"original_context", "Tokens of the longest text in training; long_factors serve longer contexts",
            Attribute(int64_t{0})},
           {"attention_factor", "Multiplies what is rotated", Attribute(1.0)}},
      .infer = infer,
      .cost = cost,
      .gradient = gradient,
      .lowering = lowered_to<kernels::Rope>(lower)};
}

}  // namespace orrery::ops
