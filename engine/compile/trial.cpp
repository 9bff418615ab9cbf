#include "engine/compile/trial.h"

#include "engine/compile/plan.h"

namespace orrery::compile {
namespace {

using ops::Slot;

/// Hands out made-up places: a lowering stores them, and what it makes is never run.
class Trial final : public ops::LowerContext {
 public:
  Trial(const graph::Graph& graph, kernels::DeviceId device, const Bucket& bucket,
        const PlacementOptions& options)
      : graph_(graph), device_(device), bucket_(bucket), options_(options) {}

  const graph::Graph& graph() const override { return graph_; }
  Slot slot(ValueId value) const override {
    if (!value.valid()) return {};
    switch (graph_.value(value).kind) {
      case graph::ValueKind::activation:
        return {Slot::Kind::arena, 0, nullptr};
      case graph::ValueKind::input:
        return {Slot::Kind::input, 0, nullptr};
      case graph::ValueKind::state:
        return {Slot::Kind::state, 0, nullptr};
      case graph::ValueKind::weight:
      case graph::ValueKind::constant:
        return {Slot::Kind::fixed, 0, &kNowhere};
    }
    return {};
  }
  Result<const void*> weight(ValueId, const kernels::WeightPacking*) override {
    return static_cast<const void*>(&kNowhere);
  }
  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return bucket_.min_tokens; }
  int64_t max_tokens() const override { return bucket_.max_tokens; }
  int64_t max_outputs() const override { return bucket_.max_outputs; }
  DType kv_dtype() const override { return options_.kv_dtype; }
  int64_t context() const override { return 0; }
  kernels::Precision default_precision() const override { return options_.precision; }
  kernels::DeviceKind device() const override { return device_.kind; }
  const kernels::Machine& machine() const override {
    return kernels::machine_of(device_.kind, device_.index);
  }
  int threads() const override { return options_.threads; }

 private:
  static constexpr std::byte kNowhere{};

  const graph::Graph& graph_;
  kernels::DeviceId device_;
  Bucket bucket_;
  const PlacementOptions& options_;
};

}  // namespace

std::optional<std::string> refusal(const graph::Graph& graph, const graph::Node& node,
                                   kernels::DeviceId device, const PlacementOptions& options) {
  if (!node.op->lowering) return std::nullopt;
  for (const Bucket& bucket :
       {bucket_for(1, 1, 1), bucket_for(options.batch_tokens, options.batch_outputs, options.batch_tokens)}) {
    Trial trial(graph, device, bucket, options);
    const auto lowered = ops::lower_node(trial, node);
    if (!lowered.ok()) return lowered.error().what;
  }
  return std::nullopt;
}

}  // namespace orrery::compile
