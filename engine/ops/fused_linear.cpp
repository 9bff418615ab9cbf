// fused_linear: one to four weight matrices that read the same src, each with its own stored form:
//   dst_i = epilogue(src * weight_i^T + bias_i), or with a gated epilogue dst0 = act(src * gate^T) * (src *
//   up^T)
#include "engine/ops/linear_support.h"

namespace orrery::ops {
namespace {

/// Which inputs belong to a segment; bias 0: none.
struct Layout {
  std::vector<size_t> weight, bias;
};

Result<Layout> layout_of(const Attributes& attributes, size_t input_count) {
  const int64_t segments = integer(attributes, "segments");
  if (segments < 1 || segments > kernels::Linear::kMaxSegments)
    return bad_attribute(
        fmt::format("segments is {}; it must be 1 to {}", segments, kernels::Linear::kMaxSegments));
  std::vector<int64_t> has_bias = list(attributes, "has_bias");
  if (has_bias.empty()) has_bias.resize(static_cast<size_t>(segments));
  if (has_bias.size() != static_cast<size_t>(segments))
    return bad_attribute(fmt::format("has_bias has {} entries for {} segments", has_bias.size(), segments));
  Layout layout;
  size_t next = 1;
  for (int64_t i = 0; i < segments; ++i) layout.weight.push_back(next++);
  for (const int64_t has : has_bias) layout.bias.push_back(has != 0 ? next++ : 0);
  if (next != input_count)
    return bad_attribute(fmt::format("segments and has_bias ask for {} operands; {} are connected", next - 1,
                                     input_count - 1));
  return layout;
}

Result<Stored> check_segment(const NodeView& view, const Matrix& src, const Layout& layout, size_t i) {
  ORRERY_ASSIGN(const Stored weight, stored_matrix(view, layout.weight[i], "operands"));
  if (weight.cols != src.cols)
    return mismatch("operands",
                    fmt::format("weight {} is {}, but src is {}: its rows have {} elements, not {}", i,
                                to_string(*view.inputs[layout.weight[i]]), to_string(*view.inputs[0]),
                                weight.cols, src.cols));
  if (layout.bias[i] != 0)
    ORRERY_TRY(expect_vector(view, layout.bias[i], "operands", weight.rows,
                             "a weight " + to_string(*view.inputs[layout.weight[i]])));
  return weight;
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Layout layout, layout_of(*view.attributes, view.inputs.size()));
  for (const ValueType* input : view.inputs)
    if (!input) return bad_attribute("an operand is not connected");
  ORRERY_ASSIGN(const Matrix src, rounded_activation(view, 0, "src"));
  const auto epilogue = parse_epilogue(text(*view.attributes, "epilogue"));
  if (!epilogue) return bad_attribute(fmt::format("epilogue is \"{}\"", text(*view.attributes, "epilogue")));
  std::vector<ValueType> types;
  for (size_t i = 0; i < layout.weight.size(); ++i) {
    ORRERY_ASSIGN(const Stored weight, check_segment(view, src, layout, i));
    types.push_back(f32(src.rows, weight.rows));
  }
  if (!kernels::is_gated(*epilogue)) return types;
  if (types.size() != 2 || types[0] != types[1])
    return bad_attribute("a gated epilogue needs two segments of equal rows: gate and up");
  types.pop_back();
  return types;
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  Cost cost;
  const auto layout = layout_of(*view.attributes, view.inputs.size());
  if (!layout.ok()) return cost;
  const double rows = rows_of(*view.inputs[0], bindings);
  for (size_t i = 0; i < layout->weight.size(); ++i) {
    const double weights = count(view.inputs[layout->weight[i]]->shape, bindings);
    const double biases = layout->bias[i] ? count(view.inputs[layout->bias[i]]->shape, bindings) : 0;
    cost.flops += rows * (2 * weights + biases);
  }
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  for (const ValueType* output : view.outputs) {
    cost.bytes += bytes(output, bindings);
    cost.flops += epilogue_flops(text(*view.attributes, "epilogue")) * count(output->shape, bindings);
  }
  return cost;
}

Result<std::vector<SegmentValues>> segments_of(const graph::Node& node) {
  ORRERY_ASSIGN(const Layout layout, layout_of(node.attributes, node.inputs.size()));
  std::vector<SegmentValues> segments;
  for (size_t i = 0; i < layout.weight.size(); ++i)
    segments.push_back({node.inputs[layout.weight[i]],
                        layout.bias[i] ? node.inputs[layout.bias[i]] : ValueId{},
                        i < node.outputs.size() ? node.outputs[i] : ValueId{}});
  return segments;
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const std::vector<SegmentValues> segments, segments_of(node));
  return lower_linear(context, node, segments);
}

Rounding rounding(LowerContext& context, const graph::Node& node) {
  const auto segments = segments_of(node);
  return segments.ok() ? rounding_of_linear(context, node, *segments) : Rounding{};
}

}  // namespace

OpSchema fused_linear_op() {
  return {.name = "fused_linear",
          .family = OpFamily::linear,
          .doc = "Several weight matrices that read the same rows, run as one.",
          .inputs = {{"src"}, {"operands", false, true}},
          .outputs = {"dst0", "dst1", "dst2", "dst3"},
          .attributes = {{"segments", "How many weight matrices", {}, AttributeType::integer},
                         {"has_bias", "1 for each segment that has a bias, 0 for the others; empty: none has",
                          Attribute(std::vector<int64_t>{})},
                         {"epilogue",
                          fmt::format(
                              "Applied to the result: {}; with _mul, of the first segment, times the second",
                              fmt::join(activation_names(), ", ")),
                          Attribute(std::string("none"))}},
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<kernels::Linear>(lower, rounding)};
}

}  // namespace orrery::ops
