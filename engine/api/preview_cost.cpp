#include "engine/api/preview_cost.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "engine/api/devices.h"
#include "engine/api/inspect.h"
#include "engine/api/machine_limits.h"
#include "engine/ops/kv_cost.h"

namespace orrery::api {
namespace {

using kernels::DeviceKind;

/// Where a node of the graph that runs has its rows: at home, or on the other device.
enum class Side : uint8_t { home, other };

Side side_of(const graph::Node& node) { return graph::device_of(node).empty() ? Side::home : Side::other; }

/// Of one full context, in the states that lie there.
uint64_t kv_bytes(const runtime::Model& model, const runtime::Version& version,
                  const weights::DevicePtr& there) {
  const runtime::ModelDevices devices = model.devices(version);
  uint64_t page = 0;
  for (const runtime::StateLayout& state : version.states)
    if (devices.memory_of(state.device) == there)
      page += runtime::KvCache::slot_bytes(model.options().kv_dtype, state.kv_heads, state.head_dim);
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
  const graph::Graph& graph = *limited.version.fused;
  std::array<std::vector<Estimate>, 2> sides;
  for (const NodeId id : graph.order())
    if (const graph::Node& node = graph.node(id); !node.is_source())
      sides[static_cast<size_t>(side_of(node))].push_back({&node, graph.cost(id, bindings), 0});
  std::vector<Estimate> all;
  for (const Side side : {Side::home, Side::other}) {
    std::vector<Estimate>& nodes = sides[static_cast<size_t>(side)];
    std::vector<graph::Cost> costs;
    for (const Estimate& estimate : nodes) costs.push_back(estimate.cost);
    const std::vector<Arithmetic> arithmetic(costs.size(), Arithmetic::f32);
    const std::vector<LeastTime> least =
        least_times(costs, arithmetic, side == Side::home ? limited.home : limited.card);
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!graph::is_transfer(*nodes[i].node))
        nodes[i].least_us = std::max(least[i].memory_us, least[i].compute_us);
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  return all;
}

/// The same work on the same device.
bool same_work(const Estimate& a, const Estimate& b) {
  return a.node->op == b.node->op && graph::device_of(*a.node) == graph::device_of(*b.node) &&
         a.cost.bytes == b.cost.bytes && a.cost.flops == b.cost.flops;
}

/// How many times the least time nodes took, by side; 1 where nothing was measured.
class Reach {
 public:
  void add(Side side, double us, double least_us) {
    if (!(us > 0) || !(least_us > 0)) return;
    Sum& sum = sums_[static_cast<size_t>(side)];
    sum.us += us;
    sum.least_us += least_us;
  }
  double of(Side side) const {
    const Sum& sum = sums_[static_cast<size_t>(side)];
    return sum.least_us > 0 ? sum.us / sum.least_us : 1;
  }

 private:
  struct Sum {
    double us = 0, least_us = 0;
  };
  std::array<Sum, 2> sums_;
};

}  // namespace

Result<std::vector<VersionMemory>> memory_of(const runtime::Model& model, const runtime::Version& version,
                                             Task task, const OpenOptions& options) {
  OpenOptions asked = options;
  asked.batch_tokens = model.options().batch_tokens;
  const weights::DevicePtr card = model.devices(version).card;
  std::vector<weights::DevicePtr> devices{model.options().device};
  if (card != model.options().device) devices.push_back(card);
  const auto on_cpu = [&](NodeId id) { return graph::device_of(version.fused->node(id)) == graph::kCpu; };
  if (model.options().device &&
      std::any_of(version.fused->order().begin(), version.fused->order().end(), on_cpu))
    devices.push_back(nullptr);
  std::vector<VersionMemory> memory;
  for (const weights::DevicePtr& device : devices) {
    const MemoryDemand::Place place =
        place_demand(*version.fused, task, asked, device ? DeviceKind::cuda : DeviceKind::cpu,
                     model.devices(version).home);
    if (!place.refusal.empty()) return Error{ErrorCode::unsupported, place.refusal, "", ""};
    const DeviceEntry entry = entry_of(device);
    memory.push_back(
        {entry.device, entry.name, {place.weights, kv_bytes(model, version, device), place.scratch, 0}});
  }
  return memory;
}

StepTimeChange step_time_change(const LimitedVersion& before, const LimitedVersion& after,
                                const Profile& measured, int64_t context, DType kv_dtype) {
  Bindings bindings{{kTokens, std::max<int64_t>(measured.tokens, 1)}, {kSequences, 1}, {kOutputs, 1}};
  bindings[kContext] = std::max<int64_t>(context, 1);
  bindings[kKvBytes] = static_cast<int64_t>(row_bytes(kv_dtype, ops::kKvElements).value_or(0));
  const std::vector<Estimate> old = estimates_of(before, bindings), next = estimates_of(after, bindings);
  std::unordered_map<std::string, const Estimate*> known;
  Reach reach;
  StepTimeChange change;
  change.before = measured.step.us;
  change.before_measured = measured.step.us > 0;
  double gone = 0;  // measured time of nodes that the new version may not have
  for (const Estimate& estimate : old) {
    const double us = measured.measured(estimate.node->id, true).timing.us;
    if (!change.before_measured) change.before += estimate.least_us;
    reach.add(side_of(*estimate.node), us, estimate.least_us);
    known.emplace(estimate.node->path(), &estimate);
    gone += us;
  }
  change.after = change.before_measured ? change.before - gone : 0;
  for (const Estimate& estimate : next) {
    const auto was = known.find(estimate.node->path());
    if (change.before_measured && was != known.end() && same_work(*was->second, estimate)) {
      change.after += measured.measured(was->second->node->id, true).timing.us;
      continue;
    }
    if (estimate.least_us == 0) ++change.unknown_nodes;
    change.after += reach.of(side_of(*estimate.node)) * estimate.least_us;
  }
  if (change.before == 0) change.after = 0;
  return change;
}

}  // namespace orrery::api
