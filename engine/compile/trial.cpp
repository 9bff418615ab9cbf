#include "engine/compile/trial.h"

namespace orrery::compile {
namespace {

using ops::Slot;

// What stands in for every weight: never read, aligned as devices align.
alignas(256) constexpr std::byte kMadeUp[256]{};

}  // namespace

Slot Trial::slot(ValueId value) const {
  const graph::Value* known = graph_.find_value(value);
  if (!known) return {};
  switch (known->kind) {
    case graph::ValueKind::activation:
      return {Slot::Kind::arena, 0, nullptr};
    case graph::ValueKind::input:
      return {Slot::Kind::input, 0, nullptr};
    case graph::ValueKind::state:
      return {Slot::Kind::state, 0, nullptr};
    case graph::ValueKind::weight:
    case graph::ValueKind::constant:
      return {Slot::Kind::fixed, 0, kMadeUp};
  }
  return {};
}

Result<const void*> Trial::weight(ValueId, const kernels::WeightPacking*) {
  return static_cast<const void*>(kMadeUp);
}

const kernels::Machine& machine_on(const std::vector<weights::DevicePtr>& cards, kernels::DeviceId device) {
  const weights::DevicePtr card = weights::find_card(cards, device);
  return card ? card->facts().machine : kernels::machine_of(device.kind, device.index);
}

std::optional<std::string> refusal(const graph::Graph& graph, const graph::Node& node,
                                   kernels::DeviceId device, const PlacementOptions& options) {
  if (!node.op->lowering) return std::nullopt;
  for (const Bucket& bucket :
       {bucket_for(1, 1, 1), bucket_for(options.batch_tokens, options.batch_outputs, options.batch_tokens)}) {
    Trial trial(graph, {.device = device,
                        .machine = kernels::machine_of(device.kind, device.index),
                        .bucket = bucket,
                        .kv_dtype = options.kv_dtype,
                        .precision = options.precision,
                        .threads = options.threads});
    const auto lowered = ops::lower_node(trial, node);
    if (!lowered.ok()) return lowered.error().what;
  }
  return std::nullopt;
}

}  // namespace orrery::compile
