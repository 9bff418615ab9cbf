#include <algorithm>
#include <map>
#include <set>

#include "engine/api/guard.h"
#include "engine/api/machine_limits.h"
#include "engine/api/placement_report.h"
#include "engine/api/session_impl.h"
#include "engine/passes/bypassed.h"
#include "engine/passes/passes.h"
#include "engine/weights/memory_state.h"

namespace orrery::api {
namespace {

/// A fused node's times, shared out over the nodes that it was made of. Transfers stand for none.
void share_out(NodeTimes& model, const graph::Node& fused, std::span<const int64_t> times,
               const NodeTimes::Row& row) {
  if (is_transfer(fused)) return;
  if (fused.origins.empty()) return model.add(row.node, times, 1.0, row);
  NodeTimes::Row whole = row;
  whole.estimated = fused.origins.size() > 1;
  for (const graph::Origin& origin : fused.origins) model.add(origin.node, times, origin.share, whole);
}

/// Adds up what all nodes took, by run.
std::vector<int64_t> whole_runs(const runtime::ProfileSnapshot& snapshot) {
  std::vector<int64_t> sums(snapshot.runs);
  for (size_t i = 0; i < snapshot.times.size(); ++i) sums[i % snapshot.runs] += snapshot.times[i];
  return sums;
}

static_assert(runtime::Profiler::kRuns == kProfileRuns);

/// The times of the node in that place, oldest run first.
std::span<const int64_t> times_of(const runtime::ProfileSnapshot& snapshot, size_t node) {
  return {snapshot.times.data() + node * snapshot.runs, snapshot.runs};
}

/// A node that was quicker than the limit allows shows that the limit was measured too low, on a machine that
/// was busy then: `reach` keeps how much the machine does at least of what was measured.
void correct_limits(std::vector<LeastTime>& least, const runtime::ProfileSnapshot& snapshot, Phase phase,
                    LimitsReach& reach) {
  for (size_t i = 0; i < least.size(); ++i) {
    const double us = shown_us(times_of(snapshot, i), phase);
    if (!(us > 0) || is_transfer(snapshot.fused->node(snapshot.nodes[i]))) continue;
    reach.memory = std::max(reach.memory, least[i].memory_us / us);
    reach.compute = std::max(reach.compute, least[i].compute_us / us);
  }
  for (LeastTime& time : least) {
    time.memory_us /= reach.memory;
    time.compute_us /= reach.compute;
  }
}

runtime::Phase to_runtime(Phase phase) {
  return phase == Phase::prefill ? runtime::Phase::prefill : runtime::Phase::decode;
}

/// Of the tensors that nodes on the CPU read, in a model whose home is a card.
uint64_t bytes_read_on_cpu(const runtime::Version& version, const io::ModelFile& file) {
  std::set<NodeId> weights;
  for (const NodeId id : version.fused->order()) {
    const graph::Node& node = version.fused->node(id);
    if (device_of(node) != graph::kCpu || is_transfer(node)) continue;
    for (const ValueId input : node.inputs)
      if (const graph::Value* value = version.fused->find_value(input);
          value && value->kind == graph::ValueKind::weight)
        weights.insert(value->producer);
  }
  uint64_t bytes = 0;
  for (const NodeId id : weights) {
    const graph::Attributes& attributes = version.fused->node(id).attributes;
    if (const io::Tensor* tensor = file.find(std::get<std::string>(attributes.at("tensor"))))
      bytes += orrery::weights::resident_bytes(tensor->data);
  }
  return bytes;
}

void add_passes(PlanReport& report, const std::vector<passes::Record>& records) {
  for (const passes::Record& record : records) {
    const auto pass = std::ranges::find(passes::all_passes(), record.pass, &passes::Pass::name);
    report.passes.push_back(
        {record.pass, std::string(pass->doc), record.rewrites, record.milliseconds, record.disabled});
  }
}

std::string path_of(const graph::Graph& graph, NodeId id) {
  const graph::Node* node = graph.find(id);
  return node ? node->path() : std::string();
}

}  // namespace

ProfilePtr profile_of(const runtime::ProfileSnapshot& snapshot, Phase phase, const MachineLimits& limits,
                      LimitsReach& reach) {
  auto profile = std::make_shared<Profile>();
  profile->phase = phase;
  profile->generation = snapshot.generation;
  profile->model_graph = snapshot.model;
  profile->fused_graph = snapshot.fused;
  profile->tokens = snapshot.tokens;
  profile->model = profile->fused = NodeTimes(snapshot.runs);
  std::vector<LeastTime> least = least_times(snapshot.costs, snapshot.arithmetic, limits);
  correct_limits(least, snapshot, phase, reach);
  for (size_t i = 0; i < snapshot.nodes.size(); ++i) {
    const std::span<const int64_t> times = times_of(snapshot, i);
    const graph::Node& node = snapshot.fused->node(snapshot.nodes[i]);
    const double memory_us =
        is_transfer(node) ? 0 : least[i].memory_us;  // no memory's speed limits a transfer
    const NodeTimes::Row row{snapshot.nodes[i], snapshot.costs[i].bytes, snapshot.costs[i].flops, false,
                             memory_us,         least[i].compute_us};
    profile->fused.add(row.node, times, 1.0, row);
    share_out(profile->model, node, times, row);
  }
  profile->step = summarise(whole_runs(snapshot), phase);
  profile->latency = summarise(snapshot.latencies, phase);
  profile->overhead_share = snapshot.overhead_share;
  return profile;
}

void SessionImpl::set_profiling(bool enabled) { parts_.model->profiler.set_enabled(enabled); }

ProfilePtr SessionImpl::profile(Phase phase) const {
  static const auto kNone = std::make_shared<const Profile>();
  const ProfilePtr read = guarded_or_empty([&] {
    const std::scoped_lock lock(profile_mutex_);
    ProfilePtr& last = profiles_[static_cast<size_t>(phase)];
    const runtime::Profiler& profiler = parts_.model->profiler;
    const bool measured = limits_->ready.load(std::memory_order_acquire);
    bool& limited = limited_[static_cast<size_t>(phase)];
    if (!last || last->generation != profiler.generation(to_runtime(phase)) || limited != measured)
      last = profile_of(profiler.snapshot(to_runtime(phase)), phase,
                        measured ? limits_->measured : limits_->unmeasured, reach_);
    limited = measured;
    return last;
  });
  return read ? read : kNone;
}

PlanReport report_of(const compile::Plan& plan, const runtime::Version& version, const std::string& home,
                     const Bindings& bindings) {
  PlanReport report;
  report.arena_bytes = plan.host_arena_bytes;
  report.workspace_bytes = plan.host_workspace_bytes;
  for (const compile::CardUse& use : plan.cards) {
    report.arena_bytes += use.arena_bytes;
    report.workspace_bytes += use.workspace_bytes;
  }
  report.compile_ms = plan.compile_milliseconds;
  report.graph = passes::with_bypassed(plan.graph, *version.model);
  add_passes(report, version.records);
  add_passes(report, plan.passes);
  const PlacementReport placement(version, home);
  for (const compile::Step& step : plan.steps) {
    PlanStep row;
    row.node = step.node;
    row.path = path_of(*plan.graph, step.node);
    row.op = step.op;
    row.kernel = step.kernel;
    PlacementReport::Entry place = placement.of(plan.graph->node(step.node));
    row.not_asked = step.after;
    row.asked = std::move(place.asked);
    row.device = std::move(place.device);
    row.reason = std::move(place.reason);
    if (step.computed) {
      row.precision = name_of(step.computed->asked);
      row.computes = name_of(step.computed->rounds);
      row.precision_reason = step.computed->reason;
    }
    for (const kernels::Refusal& refusal : step.refused)
      row.refused.push_back({refusal.kernel, refusal.reason});
    const graph::Cost cost = plan.graph->cost(step.node, bindings);
    row.flops = cost.flops;
    row.bytes = cost.bytes;
    report.steps.push_back(std::move(row));
  }
  return report;
}

Result<PlanReport> SessionImpl::plan(Phase phase) {
  return guarded([&]() -> Result<PlanReport> {
    const int64_t tokens = phase == Phase::decode && parts_.info.task == Task::generate
                               ? 1
                               : parts_.model->options().batch_tokens;
    const auto version = state()->version;
    if (version->open)
      return Error{ErrorCode::invalid_argument, "The sizes of the graph's inputs are not known yet",
                   parts_.info.name, "give it arrays"};
    kernels::ThreadTeam team(1);
    ORRERY_ASSIGN(const auto plan, parts_.model->plan(*version, compile::bucket_for(tokens, 1, 1), team));
    return report_of(*plan, *version, parts_.options.device,
                     {{kTokens, tokens}, {kSequences, 1}, {kOutputs, 1}});
  });
}

/// One part after another, each when there is nothing else to do.
void SessionImpl::measure_limits(runtime::DeviceScheduler& scheduler,
                                 const std::shared_ptr<LazyLimits>& limits) {
  scheduler.call(runtime::DeviceScheduler::When::idle, [&scheduler, limits](kernels::ThreadTeam& team) {
    if (limits->meter.measure(team)) return measure_limits(scheduler, limits);
    limits->measured = measured_limits(limits->meter, team.size());
    limits->ready.store(true, std::memory_order_release);
  });
}

const MachineLimits& SessionImpl::limits() const {
  if (limits_->ready.load(std::memory_order_acquire)) return limits_->measured;
  static_cast<void>(guarded([&]() -> Result<void> {
    if (!limits_->asked.exchange(true)) measure_limits(*parts_.scheduler, limits_);
    return {};
  }));
  return limits_->unmeasured;
}

std::vector<DerivedWeight> SessionImpl::derived_weights() const {
  return guarded_or_empty([&] {
    std::vector<DerivedWeight> rows;
    for (const weights::DerivedWeight& row : parts_.weights->derived())
      rows.push_back({row.tensor, row.transform, row.reason, row.bytes});
    return rows;
  });
}

/// On a device the file's own pages do not count, but those that nodes on the CPU read: the others were
/// copied, and can be given back at any time.
MemoryUse SessionImpl::memory_use() const {
  return guarded_or_empty([&] {
    MemoryUse use;
    use.kv_cache = parts_.model->kv_bytes();
    use.scratch = parts_.model->scratch_bytes() + parts_.scheduler->scratch_bytes();
    use.weights = parts_.scheduler->device() ? bytes_read_on_cpu(*state()->version, *parts_.source.file)
                                             : parts_.weights->resident();
    for (const weights::DerivedWeight& row : parts_.weights->derived()) use.weights += row.bytes;
    use.program = orrery::weights::program_bytes();
    return use;
  });
}

std::vector<DeviceVitals> SessionImpl::vitals() const {
  return guarded_or_empty([&] {
    std::vector<weights::DevicePtr> cards = parts_.model->devices(*state()->version).cards;
    std::ranges::sort(cards, {}, [](const weights::DevicePtr& card) { return card->id(); });
    std::vector<DeviceVitals> vitals;
    for (const weights::DevicePtr& card : cards) {
      const kernels::DeviceVitals now = card->vitals();
      vitals.push_back({to_string(card->id()), card->facts().name, now.memory_used, now.memory_total,
                        now.clock_mhz, now.power_watts, now.celsius, now.busy_share});
    }
    return vitals;
  });
}

}  // namespace orrery::api
