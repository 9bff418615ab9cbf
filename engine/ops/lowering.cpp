#include "engine/ops/lowering.h"

#include <fmt/format.h>

#include <numeric>

namespace orrery::ops {

std::optional<RowCount> row_count_of(const Dim& dim) {
  RowCount rows;
  rows.constant = dim.constant();
  for (const auto& [symbol, coefficient] : dim.terms()) {
    if (symbol == kTokens)
      rows.tokens = coefficient;
    else if (symbol == kSequences)
      rows.sequences = coefficient;
    else if (symbol == kOutputs)
      rows.outputs = coefficient;
    else
      return std::nullopt;
  }
  return rows;
}

size_t StepInput::bytes(const StepContext& step) const {
  int64_t elements = 1;
  for (const RowCount& extent : extents) elements *= extent.at(step);
  return row_bytes(type.dtype, elements).value_or(0);
}

std::span<const StepInput> step_inputs() {
  static const std::vector<StepInput> inputs = [] {
    std::vector<StepInput> table = {
#define ORRERY_STEP_INPUT(name, dtype, ...)                                     \
  {#name,                                                                       \
   {DType::dtype, Shape{__VA_ARGS__}},                                          \
   {},                                                                          \
   [](const StepContext& step) { return static_cast<const void*>(step.name); }, \
   [](StepContext& step, const void* at) { step.name = static_cast<const Element<DType::dtype>*>(at); }},
#include "engine/graph/step_inputs.inc"
#undef ORRERY_STEP_INPUT
    };
    for (StepInput& input : table)
      for (const Dim& dim : input.type.shape) input.extents.push_back(row_count_of(dim).value_or(RowCount{}));
    return table;
  }();
  return inputs;
}

std::optional<size_t> find_step_input(std::string_view name) {
  const std::span<const StepInput> inputs = step_inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == name) return i;
  return std::nullopt;
}

double StepContext::mean_context() const {
  if (!kv_lengths || sequences <= 0) return 0;
  return std::accumulate(kv_lengths, kv_lengths + sequences, 0.0) / static_cast<double>(sequences);
}

const void* StepContext::address(const Slot& slot) const {
  switch (slot.kind) {
    case Slot::Kind::none:
      return nullptr;
    case Slot::Kind::arena:
      return arena + slot.offset;
    case Slot::Kind::input:
      return step_inputs()[slot.offset].read(*this);
    case Slot::Kind::given:
      return given[slot.offset].data;
    case Slot::Kind::fixed:
      return slot.fixed;
    case Slot::Kind::state:
      return states[slot.offset].base;
  }
  return nullptr;
}

kernels::Precision LowerContext::precision(const graph::Node& node) const {
  return kernels::parse_precision(precision_of(node)).value_or(default_precision());
}

Result<Lowered> lower_node(LowerContext& context, const graph::Node& node) {
  if (!node.op->lowering)
    return Error{ErrorCode::unsupported, fmt::format("The op \"{}\" cannot be run", node.op->name),
                 fmt::format("node {}", node.path()), "bypass or delete the node"};
  if (const auto stored = graph::stored_as(node); stored && rounding_of(context, node).writes != *stored)
    return Error{ErrorCode::unsupported,
                 fmt::format("No kernel here writes what a {} makes as {}", node.op->name, name_of(*stored)),
                 fmt::format("node {}", node.path()),
                 fmt::format("remove its attribute {}", graph::kStoredAttribute)};
  return node.op->lowering->lower(context, node);
}

Rounding rounding_of(LowerContext& context, const graph::Node& node) {
  const Lowering* lowering = node.op->lowering.get();
  return lowering && lowering->rounding ? lowering->rounding(context, node) : Rounding{};
}

}  // namespace orrery::ops
