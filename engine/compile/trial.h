// Asking the lowerings of nodes what they would do, without a plan, weights or memory.
#pragma once

#include <optional>

#include "engine/compile/placement.h"
#include "engine/compile/plan.h"
#include "engine/ops/lowering.h"

namespace orrery::compile {

/// What the lowerings of a plan's nodes are asked for on one device. Hands out made-up places: a lowering
/// stores them, and what it makes is never run.
class Trial : public ops::LowerContext {
 public:
  struct Setting {
    kernels::DeviceId device;
    const kernels::Machine& machine;
    Bucket bucket;
    DType kv_dtype = DType::f16;
    kernels::Precision precision = kernels::Precision::balanced;
    int64_t context = 0;
    int threads = 1;
  };
  Trial(const graph::Graph& graph, const Setting& setting) : graph_(graph), setting_(setting) {}

  const graph::Graph& graph() const override { return graph_; }
  ops::Slot slot(ValueId value) const override;
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override;
  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return setting_.bucket.min_tokens; }
  int64_t max_tokens() const override { return setting_.bucket.max_tokens; }
  int64_t max_outputs() const override { return setting_.bucket.max_outputs; }
  DType kv_dtype() const override { return setting_.kv_dtype; }
  int64_t context() const override { return setting_.context; }
  kernels::Precision default_precision() const override { return setting_.precision; }
  kernels::DeviceKind device() const override { return setting_.device.kind; }
  const kernels::Machine& machine() const override { return setting_.machine; }
  int threads() const override { return setting_.threads; }

 private:
  const graph::Graph& graph_;
  Setting setting_;
};

/// What the rows of a device are asked for: its open card's machine where it is one of these.
const kernels::Machine& machine_on(const std::vector<weights::DevicePtr>& cards, kernels::DeviceId device);

/// Why no kernel of the device can run the node, in the rows' own words; nothing when one can, in steps of
/// one token and in the largest.
std::optional<std::string> refusal(const graph::Graph& graph, const graph::Node& node,
                                   kernels::DeviceId device, const PlacementOptions& options);

}  // namespace orrery::compile
