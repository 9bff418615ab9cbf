#include "engine/ops/lower_support.h"

#include <algorithm>

namespace orrery::ops {
namespace {

void pack_float(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed,
                kernels::ThreadTeam& team) {
  const size_t stride = row_bytes(dtype, cols).value_or(0);
  const auto* src = static_cast<const std::byte*>(stored);
  auto* dst = static_cast<float*>(packed);
  team.run(rows, 1, [&](kernels::ThreadTeam::Range chunk, int) {
    for (int64_t row = chunk.begin; row < chunk.end; ++row)
      kernels::dequantise_row(dtype, src + static_cast<size_t>(row) * stride, cols, dst + row * cols);
  });
}

/// Norm weights and biases of bf16 files: the kernels read them as f32.
constexpr kernels::WeightPacking kFloatPacking{"f32", float_bytes, pack_float};

}  // namespace

size_t float_bytes(DType, int64_t rows, int64_t cols) {
  return static_cast<size_t>(rows * cols) * sizeof(float);
}

Result<RowCount> row_count(LowerContext& context, const graph::Node& node, ValueId value) {
  const Shape& shape = context.type(value).shape;
  if (shape.empty()) return RowCount{1, 0, 0, 0};
  if (const auto rows = row_count_of(shape.front())) return *rows;
  return Error{ErrorCode::unsupported,
               fmt::format("A step does not know the size {}", shape.front().to_string()),
               fmt::format("{}, {}", node.path(), context.graph().value_path(value)), ""};
}

RowBounds bounds(const LowerContext& context, const RowCount& rows) {
  const auto positive = [](int64_t coefficient) { return std::max<int64_t>(coefficient, 0); };
  RowBounds bounds;
  bounds.max = rows.constant + positive(rows.tokens) * context.max_tokens() +
               positive(rows.sequences) * context.max_tokens() +
               positive(rows.outputs) * context.max_outputs();
  bounds.min = rows.constant + rows.tokens * context.min_tokens() + rows.sequences + rows.outputs;
  bounds.max = std::max<int64_t>(bounds.max, 1);
  bounds.min = std::clamp<int64_t>(bounds.min, 1, bounds.max);
  return bounds;
}

int64_t cols_of(LowerContext& context, ValueId value) {
  const Shape& shape = context.type(value).shape;
  return shape.empty() ? 0 : shape.back().constant();
}

Result<Slot> float_operand(LowerContext& context, ValueId value) {
  if (!value.valid()) return Slot{};
  if (context.graph().value(value).kind != graph::ValueKind::weight) {
    if (context.type(value).dtype == DType::f32) return context.slot(value);
    return Error{ErrorCode::unsupported,
                 fmt::format("{} is {}, and is read as f32", context.graph().value_path(value),
                             to_string(context.type(value))),
                 "", "Cast it to f32"};
  }
  const bool plain = context.type(value).dtype == DType::f32;
  ORRERY_ASSIGN(const void* bytes, context.weight(value, plain ? nullptr : &kFloatPacking));
  return Slot{Slot::Kind::fixed, 0, bytes};
}

const graph::Node& maker_of(const graph::Graph& graph, ValueId value) {
  const graph::Node* made = &graph.node(graph.value(value).producer);
  while (graph::is_transfer(*made)) made = &graph.node(graph.value(made->inputs[0]).producer);
  return *made;
}

Result<Slot> indices_of(LowerContext& context, const graph::Node& node, size_t input,
                        std::string_view maker) {
  const graph::Graph& graph = context.graph();
  const ValueId value = node.inputs[input];
  const graph::Node& made = maker_of(graph, value);
  if (made.op->name != maker)
    return Error{ErrorCode::unsupported,
                 fmt::format("{} is made by {}; {} finds rows by it, and takes only what {} gives",
                             graph.value_path(value), made.op->name, node.op->name, maker),
                 node.path(), fmt::format("Connect the result of {}", maker)};
  if (maker != "input" || is_given(made)) return context.slot(value);
  const graph::InputSpec& spec = node.op->inputs[input];
  const std::string_view wanted =
      spec.finds == graph::Finds::rows ? graph::step_input::output_rows : graph::step_input::sequence_starts;
  if (const std::string_view name = text(made.attributes, "name"); name != wanted)
    return Error{ErrorCode::unsupported,
                 fmt::format("{} is the step's {}; {} finds rows by {}", graph.value_path(value), name,
                             node.op->name, wanted),
                 node.path(), fmt::format("Connect {}", wanted)};
  ORRERY_ASSIGN(const RowCount rows, row_count(context, node, node.inputs[0]));
  if (rows == RowCount{0, 1, 0, 0}) return context.slot(value);
  return Error{
      ErrorCode::unsupported,
      fmt::format("{} is {}, but {} finds rows of the step's tokens", graph.value_path(node.inputs[0]),
                  to_string(context.type(node.inputs[0])), graph.value_path(value)),
      node.path(), "Connect a value that has a row for each token"};
}

Result<const void*> stored_weight(LowerContext& context, const graph::Node& node, ValueId value,
                                  const kernels::WeightPacking* packing) {
  if (context.graph().value(value).kind != graph::ValueKind::weight)
    return Error{ErrorCode::unsupported,
                 fmt::format("{} is computed; {} reads a weight of the file there",
                             context.graph().value_path(value), node.op->name),
                 node.path(), "Connect a weight"};
  return context.weight(value, packing);
}

Error no_row(const LowerContext& context, const graph::Node& node,
             const std::vector<kernels::Refusal>& refused) {
  std::string reasons;
  for (const auto& [kernel, reason] : refused)
    reasons += (reasons.empty() ? "" : "; ") + kernel + ": " + reason;
  if (refused.empty()) reasons = "there is none for it";
  const bool cpu = context.device() == kernels::DeviceKind::cpu;
  return {ErrorCode::unsupported,
          fmt::format("No {} kernel can run this {}: {}", cpu ? "CPU" : "CUDA", node.op->name, reasons),
          node.path(), "Place the node on another device, or change the attribute that is refused"};
}

}  // namespace orrery::ops
