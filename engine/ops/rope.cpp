// rope: rotates pairs of each head's first rope_dims elements by an angle that grows with the position
#include "kernels/rope.h"

#include <cmath>

#include "engine/ops/lower_support.h"

namespace orrery::ops {
namespace {

constexpr InputSpec kInputs[] = {{"src"}, {"positions"}, {"factors", true}};
constexpr std::string_view kOutputs[] = {"dst"};
const AttributeSpec kAttributes[] = {
    {"style",
     "Which elements pair up: interleaved (2i, 2i+1) or half (i, i + rope_dims/2)",
     {},
     AttributeType::text},
    {"heads", "Heads of src", {}, AttributeType::integer},
    {"head_dim", "Elements of one head", {}, AttributeType::integer},
    {"rope_dims", "Elements of a head that are rotated", {}, AttributeType::integer},
    {"base", "Wavelengths grow as powers of it", {}, AttributeType::real},
    {"frequency_scale", "Multiplies the positions", Attribute(1.0)},
};

Result<void> check_attributes(const Attributes& attributes) {
  ORRERY_TRY(expect_choice(attributes, "style", {"interleaved", "half"}));
  ORRERY_TRY(expect_positive(attributes, "heads"));
  ORRERY_TRY(expect_positive(attributes, "head_dim"));
  const int64_t rotated = integer(attributes, "rope_dims"), head_dim = integer(attributes, "head_dim");
  if (rotated <= 0 || rotated % 2 != 0 || rotated > head_dim)
    return bad_attribute(fmt::format("rope_dims is {}; it must be even, at least 2 and at most head_dim {}",
                                     rotated, head_dim));
  if (const double base = real(attributes, "base"); !std::isfinite(base) || base <= 0)
    return bad_attribute(fmt::format("base is {}; it must be positive and finite", base));
  if (const double scale = real(attributes, "frequency_scale"); !std::isfinite(scale) || scale <= 0)
    return bad_attribute(fmt::format("frequency_scale is {}; it must be positive and finite", scale));
  return {};
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  ORRERY_ASSIGN(const Dim rows, indices(view, 1, "positions"));
  if (rows != src.rows)
    return mismatch("positions", fmt::format("positions is {}, but src is {}; each row needs a position",
                                             describe(*view.inputs[1]), describe(*view.inputs[0])));
  ORRERY_TRY(check_attributes(*view.attributes));
  const int64_t heads = integer(*view.attributes, "heads"), head_dim = integer(*view.attributes, "head_dim");
  if (product(heads, head_dim) != src.cols)
    return mismatch(
        "src", fmt::format("src is {}, but {} heads of {} need [rows, {}]", describe(*view.inputs[0]), heads,
                           head_dim, product(heads, head_dim).value_or(-1)));
  ORRERY_TRY(expect_vector(view, 2, "factors", integer(*view.attributes, "rope_dims") / 2, "rope"));
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

kernels::Rope::Args arguments(const Attributes& attributes) {
  kernels::Rope::Args args;
  args.style =
      text(attributes, "style") == "half" ? kernels::Rope::Style::half : kernels::Rope::Style::interleaved;
  args.heads = integer(attributes, "heads");
  args.head_dim = integer(attributes, "head_dim");
  args.rope_dims = integer(attributes, "rope_dims");
  args.base = static_cast<float>(real(attributes, "base"));
  args.frequency_scale = static_cast<float>(real(attributes, "frequency_scale"));
  args.src_stride = args.dst_stride = args.heads * args.head_dim;
  return args;
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::Rope::Args args = arguments(node.attributes);
  ORRERY_ASSIGN(auto chosen, choose(context, node, kernels::rows_of(context.device()).rope,
                                    {args.style, args.head_dim, args.rope_dims}));
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const Slot factors, float_operand(context, node.inputs[2]));
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

const OpSchema kSchema{"rope",
                       OpFamily::attention,
                       "Rotary position embedding (Su et al. 2021).",
                       kInputs,
                       kOutputs,
                       kAttributes,
                       infer,
                       cost};

}  // namespace

const Op kRope{&kSchema, lower};

}  // namespace orrery::ops
