#include "engine/ops/lowering.h"

#include <fmt/format.h>

#include <numeric>

namespace orrery::ops {
namespace {

const void* input_of(const StepContext& context, StepInput input) {
  switch (input) {
    case StepInput::token_ids:
      return context.token_ids;
    case StepInput::positions:
      return context.positions;
    case StepInput::token_types:
      return context.token_types;
    case StepInput::sequence_starts:
      return context.sequence_starts;
    case StepInput::kv_lengths:
      return context.kv_lengths;
    case StepInput::output_rows:
      return context.output_rows;
  }
  return nullptr;
}

}  // namespace

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
      return input_of(*this, static_cast<StepInput>(slot.offset));
    case Slot::Kind::fixed:
      return slot.fixed;
    case Slot::Kind::state:
      return states[slot.offset].base;
  }
  return nullptr;
}

Result<Lowered> lower_node(LowerContext& context, const graph::Node& node) {
  if (node.op->lowering) return node.op->lowering->lower(context, node);
  return Error{ErrorCode::unsupported, fmt::format("The op \"{}\" cannot be run", node.op->name),
               fmt::format("node {}", node.path()), "bypass or delete the node"};
}

Rounding rounding_of(LowerContext& context, const graph::Node& node) {
  const Lowering* lowering = node.op->lowering.get();
  return lowering && lowering->rounding ? lowering->rounding(context, node) : Rounding{};
}

}  // namespace orrery::ops
