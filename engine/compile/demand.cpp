#include "engine/compile/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "engine/compile/arena.h"
#include "engine/compile/source_slots.h"
#include "engine/compile/trial.h"

namespace orrery::compile {
namespace {

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

/// By tensor and packing.
using Forms = std::map<std::pair<std::string, std::string>, WeightForm>;

/// Notes which weights the lowerings ask for.
class Noting final : public Trial {
 public:
  Noting(const graph::Graph& graph, const Setting& setting, Forms& forms)
      : Trial(graph, setting), forms_(forms) {}

  ops::Slot slot(ValueId value) const override {
    if (const graph::Value* known = graph().find_value(value);
        known && known->kind == graph::ValueKind::weight)
      note(*known, nullptr);
    return Trial::slot(value);
  }
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override {
    note(graph().value(value), packing);
    return Trial::weight(value, packing);
  }

 private:
  void note(const graph::Value& value, const kernels::WeightPacking* packing) const {
    const graph::Node* source = graph().find(value.producer);
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

  Forms& forms_;
};

class Asking {
 public:
  Asking(graph::GraphVersion fused, const DemandOptions& options)
      : fused_(std::move(fused)), options_(options) {}

  Result<void> ask(const Bucket& bucket) {
    ORRERY_ASSIGN(const passes::Outcome passed, graph_of_plan(fused_, plan_options(bucket)));
    const graph::Graph& graph = *passed.graph;
    ORRERY_ASSIGN(const Liveness live, liveness(graph, bucket));
    demand_.arena_bytes = std::max(demand_.arena_bytes, arena_bytes(graph, live));
    Noting context(graph,
                   {.device = options_.device,
                    .machine = kernels::machine_of(options_.device.kind, options_.device.index),
                    .bucket = bucket,
                    .kv_dtype = options_.kv_dtype,
                    .precision = options_.precision,
                    .threads = options_.threads},
                   forms_);
    for (const NodeId id : live.steps) {
      const graph::Node& node = graph.node(id);
      if (graph::is_transfer(node) || side(node) != options_.device) continue;
      ORRERY_ASSIGN(const ops::Lowered lowered, ops::lower_node(context, node));
      demand_.workspace_bytes = std::max<uint64_t>(demand_.workspace_bytes, lowered.workspace_bytes);
    }
    return {};
  }

  Demand take() {
    for (auto& [name, form] : forms_) demand_.weights.push_back(std::move(form));
    return std::move(demand_);
  }

 private:
  Options plan_options(const Bucket& bucket) const {
    Options options;
    options.bucket = bucket;
    options.kv_dtype = options_.kv_dtype;
    options.precision = options_.precision;
    options.home = options_.home.value_or(options_.device);
    options.passes = options_.passes;
    options.threads = options_.threads;
    return options;
  }
  kernels::DeviceId side(const graph::Node& node) const {
    return runs_on(node, options_.home.value_or(options_.device));
  }
  uint64_t arena_bytes(const graph::Graph& graph, const Liveness& live) const {
    std::vector<kernels::DeviceId> devices;
    for (const ValueId value : live.values) devices.push_back(side(graph.node(graph.value(value).producer)));
    return lay_out(live.lifetimes, devices).bytes_on(options_.device);
  }

  graph::GraphVersion fused_;
  const DemandOptions& options_;
  Demand demand_;
  Forms forms_;
};

}  // namespace

Result<Demand> demand_of(const graph::GraphVersion& fused, std::span<const Bucket> buckets,
                         const DemandOptions& options) {
  Asking asking(fused, options);
  for (const Bucket& bucket : buckets) ORRERY_TRY(asking.ask(bucket));
  return asking.take();
}

}  // namespace orrery::compile
