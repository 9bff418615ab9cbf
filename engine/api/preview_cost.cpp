#include "engine/api/preview_cost.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "engine/api/devices.h"
#include "engine/api/inspect.h"
#include "engine/api/machine_limits.h"
#include "engine/ops/kv_cost.h"

namespace orrery::api {
namespace {

/// Of one full context, in the states that lie there.
uint64_t kv_bytes(const runtime::Model& model, const runtime::Version& version,
                  const weights::DevicePtr& there) {
  const runtime::ModelDevices devices = model.devices(version);
  uint64_t page = 0;
  for (const runtime::StateLayout& state : version.states)
    if (devices.memory_of(state.device) == there)
      page += runtime::KvCache::slot_bytes(model.options().kv_dtype, state.form);
  const int64_t tokens = runtime::KvCache::kPageTokens;
  return page * static_cast<uint64_t>((model.options().context + tokens - 1) / tokens);
}

/// What is known of one node of a version.
struct Estimate {
  const graph::Node* node = nullptr;
  graph::Cost cost;
  double least_us = 0;  // 0: no limit is known
};

/// Of the nodes that run, each in the run of those on its device.
std::vector<Estimate> estimates_of(const LimitedVersion& limited, const Bindings& bindings) {
  const graph::Graph& graph = limited.graph;
  std::map<std::string_view, std::vector<Estimate>> devices;
  for (const NodeId id : graph.order())
    if (const graph::Node& node = graph.node(id); !node.is_source())
      devices[graph::device_of(node)].push_back({&node, graph.cost(id, bindings), 0});
  std::vector<Estimate> all;
  for (auto& [device, nodes] : devices) {
    std::vector<graph::Cost> costs;
    for (const Estimate& estimate : nodes) costs.push_back(estimate.cost);
    const std::vector<Arithmetic> arithmetic(costs.size(), Arithmetic::f32);
    const auto known = limited.limits.find(device);
    const MachineLimits none;
    const std::vector<LeastTime> least =
        least_times(costs, arithmetic, known == limited.limits.end() ? none : known->second);
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!graph::is_transfer(*nodes[i].node))
        nodes[i].least_us = std::max(least[i].memory_us, least[i].compute_us);
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  return all;
}

/// What decides how long a node takes: equal work on the same device takes equally long.
using Work = std::tuple<const graph::OpSchema*, std::string_view, double, double>;
Work work_of(const Estimate& estimate) {
  return {estimate.node->op.get(), graph::device_of(*estimate.node), estimate.cost.bytes,
          estimate.cost.flops};
}

/// What was measured, as it tells of nodes that were not: those that do the same work took so long on
/// average; other work takes as many times its least time as the nodes of its op did, or else those of its
/// device.
class Experience {
 public:
  void add(const Estimate& estimate, double us) {
    if (!(us > 0)) return;
    add(by_work_[work_of(estimate)], us, 1);
    if (!(estimate.least_us > 0)) return;
    add(by_op_[{estimate.node->op.get(), graph::device_of(*estimate.node)}], us, estimate.least_us);
    add(by_device_[graph::device_of(*estimate.node)], us, estimate.least_us);
  }
  /// None where neither equal work was measured nor a limit is known.
  std::optional<double> of(const Estimate& estimate) const {
    if (const auto work = by_work_.find(work_of(estimate)); work != by_work_.end())
      return work->second.us / work->second.of;
    if (estimate.least_us == 0) return {};
    const std::string_view device = graph::device_of(*estimate.node);
    if (const auto op = by_op_.find({estimate.node->op.get(), device}); op != by_op_.end())
      return estimate.least_us * op->second.us / op->second.of;
    const auto all = by_device_.find(device);
    return all == by_device_.end() ? estimate.least_us : estimate.least_us * all->second.us / all->second.of;
  }

 private:
  struct Sum {
    double us = 0, of = 0;
  };
  static void add(Sum& sum, double us, double of) {
    sum.us += us;
    sum.of += of;
  }
  std::map<Work, Sum> by_work_;
  std::map<std::pair<const graph::OpSchema*, std::string_view>, Sum> by_op_;
  std::map<std::string_view, Sum> by_device_;
};

}  // namespace

Result<std::vector<VersionMemory>> memory_of(const runtime::Model& model, const runtime::Version& version,
                                             Task task, const OpenOptions& options) {
  OpenOptions asked = options;
  asked.batch_tokens = model.options().batch_tokens;
  std::vector<weights::DevicePtr> devices{model.options().device};
  for (const weights::DevicePtr& card : model.devices(version).cards)
    if (card != model.options().device) devices.push_back(card);
  const auto on_cpu = [&](NodeId id) { return graph::device_of(version.fused->node(id)) == graph::kCpu; };
  if (model.options().device &&
      std::any_of(version.fused->order().begin(), version.fused->order().end(), on_cpu))
    devices.push_back(nullptr);
  std::vector<VersionMemory> memory;
  for (const weights::DevicePtr& device : devices) {
    const MemoryDemand::Place place = place_demand(
        version.fused, task, asked, device ? device->id() : kernels::kCpuId, model.devices(version).home);
    if (!place.refusal.empty()) return Error{ErrorCode::unsupported, place.refusal, "", ""};
    const DeviceEntry entry = entry_of(device);
    memory.push_back(
        {entry.device, entry.name, {place.weights, kv_bytes(model, version, device), place.scratch, 0}});
  }
  return memory;
}

std::vector<MemoryChange> memory_changes(const std::vector<VersionMemory>& before,
                                         const std::vector<VersionMemory>& after) {
  std::vector<MemoryChange> changes;
  for (const VersionMemory& is : after) changes.push_back({is.device, is.name, {}, is.use});
  for (const VersionMemory& was : before) {
    auto row = std::find_if(changes.begin(), changes.end(),
                            [&](const MemoryChange& change) { return change.device == was.device; });
    if (row == changes.end()) row = changes.insert(row, {was.device, was.name, {}, {}});
    row->before = was.use;
  }
  return changes;
}

StepTimeChange step_time_change(const LimitedVersion& before, const LimitedVersion& after,
                                const Profile& measured, int64_t context, DType kv_dtype) {
  Bindings bindings{{kTokens, std::max<int64_t>(measured.tokens, 1)}, {kSequences, 1}, {kOutputs, 1}};
  bindings[kContext] = std::max<int64_t>(context, 1);
  bindings[kKvBytes] = static_cast<int64_t>(row_bytes(kv_dtype, ops::kKvElements).value_or(0));
  const std::vector<Estimate> old = estimates_of(before, bindings), next = estimates_of(after, bindings);
  std::unordered_map<std::string, const Estimate*> known;
  Experience experience;
  StepTimeChange change;
  change.before = measured.step.us;
  change.before_measured = measured.step.us > 0;
  double measured_us = 0;
  for (const Estimate& estimate : old) {
    const double us = measured.measured(estimate.node->id, true).timing.us;
    if (!change.before_measured) change.before += estimate.least_us;
    experience.add(estimate, us);
    known.emplace(estimate.node->path(), &estimate);
    measured_us += us;
  }
  for (const Estimate& estimate : next) {
    const auto was = known.find(estimate.node->path());
    if (change.before_measured && was != known.end() && work_of(*was->second) == work_of(estimate)) {
      change.after += measured.measured(was->second->node->id, true).timing.us;
      continue;
    }
    const std::optional<double> us = experience.of(estimate);
    if (!us) ++change.unknown_nodes;
    change.after += us.value_or(0);
  }
  // A step is its nodes, but the medians of nodes add up to another time than the median of steps.
  if (measured_us > 0) change.after *= change.before / measured_us;
  if (change.before == 0) change.after = 0;
  return change;
}

}  // namespace orrery::api
