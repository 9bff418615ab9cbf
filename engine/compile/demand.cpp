#include "engine/compile/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "engine/compile/arena.h"
#include "engine/compile/kept.h"
#include "engine/compile/source_slots.h"

namespace orrery::compile {
namespace {

using ops::Slot;

// What stands in for every weight: never read, aligned as devices align.
alignas(256) constexpr std::byte kMadeUp[256]{};

uint64_t stored_bytes(const graph::ValueType& type) {
  const auto elements = element_count(type.shape, {});
  if (!elements || *elements < 0) return 0;
  const DTypeInfo info = dtype_info(type.dtype);
  return static_cast<uint64_t>((*elements + info.block_elements - 1) / info.block_elements) *
         static_cast<uint64_t>(info.block_bytes);
}

/// (rows, cols) as WeightStore packs them: all dims but the last, the last.
std::pair<int64_t, int64_t> matrix_of(const Shape& shape) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i].constant();
  return {rows, shape.empty() ? 1 : shape.back().constant()};
}

class Asking final : public ops::LowerContext {
 public:
  Asking(const graph::Graph& graph, const DemandOptions& options) : graph_(graph), options_(options) {}

  Result<void> ask(const Bucket& bucket) {
    bucket_ = bucket;
    ORRERY_ASSIGN(Liveness live, liveness(graph_, bucket));
    if (!options_.device.is_cpu()) keep_rounded(live);
    demand_.arena_bytes = std::max(demand_.arena_bytes, arena_bytes(live));
    for (const NodeId id : live.steps)
      if (const graph::Node& node = graph_.node(id); runs_here(node)) ORRERY_TRY(ask(node));
    return {};
  }

  Demand take() {
    for (auto& [name, form] : forms_) demand_.weights.push_back(std::move(form));
    return std::move(demand_);
  }

  const graph::Graph& graph() const override { return graph_; }
  Slot slot(ValueId value) const override {
    const graph::Value* known = graph_.find_value(value);
    if (!known) return {};
    switch (known->kind) {
      case graph::ValueKind::input:
        return {Slot::Kind::input, 0, nullptr};
      case graph::ValueKind::state:
        return {Slot::Kind::state, 0, nullptr};
      case graph::ValueKind::activation:
        return {Slot::Kind::arena, 0, nullptr};
      case graph::ValueKind::weight:
        note(*known, nullptr);
        break;
      case graph::ValueKind::constant:
        break;
    }
    return {Slot::Kind::fixed, 0, kMadeUp};
  }
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override {
    note(graph_.value(value), packing);
    return static_cast<const void*>(kMadeUp);
  }
  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  DType kept(ValueId value) const override {
    const auto it = kept_.find(value);
    return it == kept_.end() ? DType::f32 : it->second;
  }
  int64_t min_tokens() const override { return bucket_.min_tokens; }
  int64_t max_tokens() const override { return bucket_.max_tokens; }
  int64_t max_outputs() const override { return bucket_.max_outputs; }
  DType kv_dtype() const override { return options_.kv_dtype; }
  int64_t context() const override { return 0; }  // the sizes are the same
  kernels::Precision default_precision() const override { return options_.precision; }
  kernels::DeviceKind device() const override { return options_.device.kind; }
  const kernels::Machine& machine() const override {
    return kernels::machine_of(options_.device.kind, options_.device.index);
  }
  int threads() const override { return options_.threads; }

 private:
  kernels::DeviceId side(const graph::Node& node) const {
    return runs_on(node, options_.home.value_or(options_.device));
  }

  uint64_t arena_bytes(const Liveness& live) const {
    std::vector<kernels::DeviceId> devices;
    for (const ValueId value : live.values)
      devices.push_back(side(graph_.node(graph_.value(value).producer)));
    return lay_out(live.lifetimes, devices).bytes_on(options_.device);
  }

  /// As the compiler does for a card.
  void keep_rounded(Liveness& live) {
    kept_.clear();
    Roundings roundings;
    for (const NodeId id : live.steps)
      if (const graph::Node& node = graph_.node(id); runs_here(node))
        roundings.emplace(id, ops::rounding_of(*this, node));
    kept_ = kept_types(graph_, roundings);
    for (size_t i = 0; i < live.values.size(); ++i)
      if (kept(live.values[i]) != DType::f32) live.lifetimes[i].bytes /= 2;
  }

  bool runs_here(const graph::Node& node) const {
    if (graph::is_transfer(node)) return false;
    return side(node) == options_.device;
  }

  Result<void> ask(const graph::Node& node) {
    ORRERY_ASSIGN(const ops::Lowered lowered, ops::lower_node(*this, node));
    demand_.workspace_bytes = std::max<uint64_t>(demand_.workspace_bytes, lowered.workspace_bytes);
    return {};
  }

  void note(const graph::Value& value, const kernels::WeightPacking* packing) const {
    const graph::Node* source = graph_.find(value.producer);
    if (!source) return;
    const weights::WeightView view = view_of(*source);
    if (view.tensor.empty()) return;
    const std::string form(packing ? packing->name : std::string_view());
    const auto [it, added] = forms_.try_emplace({view.name(), form});
    if (!added) return;
    const uint64_t stored = stored_bytes(value.type);
    const auto [rows, cols] = matrix_of(value.type.shape);
    it->second = {view.name(), form, packing ? packing->bytes(value.type.dtype, rows, cols) : stored, stored};
  }

  const graph::Graph& graph_;
  const DemandOptions& options_;
  Bucket bucket_;
  Demand demand_;
  std::unordered_map<ValueId, DType> kept_;
  mutable std::map<std::pair<std::string, std::string>, WeightForm> forms_;  // by tensor and packing
};

}  // namespace

Result<Demand> demand_of(const graph::Graph& fused, std::span<const Bucket> buckets,
                         const DemandOptions& options) {
  Asking asking(fused, options);
  for (const Bucket& bucket : buckets) ORRERY_TRY(asking.ask(bucket));
  return asking.take();
}

}  // namespace orrery::compile
