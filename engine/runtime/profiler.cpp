#include "engine/runtime/profiler.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace orrery::runtime {
namespace {

constexpr size_t kWindow = 256;         // runs that p50 and p95 look at
constexpr double kHalfLifeUs = 500000;  // of the moving averages, in run time

double elapsed_us(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// What one reading of the clock costs, measured once.
double clock_us() {
  static const double cost = [] {
    constexpr int kReads = 200;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kReads; ++i) static_cast<void>(std::chrono::steady_clock::now());
    return elapsed_us(start) / kReads;
  }();
  return cost;
}

double percentile(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

/// The window of one phase. Costs of nodes are computed when they are looked at, not while the model runs.
struct Profiler::Track {
  graph::GraphVersion graph;
  std::vector<NodeId> nodes;
  std::vector<float> window;  // (kWindow, nodes) microseconds, a ring
  std::vector<double> mean;   // by node
  std::vector<float> last;
  Bindings bindings;  // of the last step
  uint64_t runs = 0, generation = 0;
  double step_us = 0, overhead_us = 0;

  void restart(const compile::Plan& plan) {
    graph = plan.graph;
    nodes.clear();
    for (const compile::Step& step : plan.steps) nodes.push_back(step.node);
    window.assign(kWindow * nodes.size(), 0);
    mean.assign(nodes.size(), 0);
    last.assign(nodes.size(), 0);
    runs = 0;
    step_us = overhead_us = 0;
  }

  void add(const std::vector<int64_t>& times) {
    const double step = static_cast<double>(times.back() - times.front()) * 1e-3;
    const double weight = runs == 0 ? 1.0 : 1.0 - std::exp2(-step / kHalfLifeUs);
    float* row = window.data() + (runs % kWindow) * nodes.size();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double us = static_cast<double>(times[i + 1] - times[i]) * 1e-3;
      row[i] = last[i] = static_cast<float>(us);
      mean[i] += weight * (us - mean[i]);
    }
    step_us += weight * (step - step_us);
    ++runs;
    ++generation;
  }
};

void Profiler::set_enabled(bool enabled) {
  const std::scoped_lock lock(mutex_);
  enabled_ = enabled;
}

bool Profiler::enabled() const {
  const std::scoped_lock lock(mutex_);
  return enabled_;
}

void Profiler::record(const compile::Plan& plan, Phase phase, const ops::StepContext& context,
                      const std::vector<int64_t>& times) {
  if (times.size() != plan.steps.size() + 1) return;
  const double clock = clock_us();
  const auto start = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  auto& track = tracks_[static_cast<size_t>(phase)];
  if (!track) track = std::make_shared<Track>();
  if (track->graph != plan.graph) track->restart(plan);
  track->add(times);
  track->bindings = context.bindings();
  const double cost = elapsed_us(start) + clock * static_cast<double>(times.size());
  track->overhead_us += 0.05 * (cost - track->overhead_us);
  if (track->runs == 1) track->overhead_us = cost;
}

ProfileSnapshot Profiler::snapshot(Phase phase) const {
  Track track;
  {
    const std::scoped_lock lock(mutex_);
    const auto& current = tracks_[static_cast<size_t>(phase)];
    if (!current) return {phase, 0, nullptr, {}, 0, 0, 0};
    track = *current;
  }
  ProfileSnapshot snapshot{phase, track.generation, track.graph, {}, track.step_us, 0, 0};
  const size_t filled = std::min<size_t>(track.runs, kWindow), width = track.nodes.size();
  std::vector<float> values(filled);
  for (size_t i = 0; i < width; ++i) {
    for (size_t run = 0; run < filled; ++run) values[run] = track.window[run * width + i];
    const graph::Cost cost = track.graph->cost(track.nodes[i], track.bindings);
    NodeTime time{track.nodes[i], track.last[i], track.mean[i], 0, 0, cost.bytes, cost.flops, track.runs};
    time.p50_us = percentile(values, 0.50);
    time.p95_us = percentile(values, 0.95);
    snapshot.nodes_us += time.mean_us;
    snapshot.nodes.push_back(time);
  }
  if (track.step_us > 0) snapshot.overhead_share = track.overhead_us / (track.step_us + track.overhead_us);
  return snapshot;
}

void Profiler::clear() {
  const std::scoped_lock lock(mutex_);
  tracks_ = {};
}

}  // namespace orrery::runtime
