#include "engine/runtime/profiler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/ops/kv_cost.h"

namespace orrery::runtime {
namespace {

double elapsed_us(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// What one reading of the clock costs, measured once: the best of some rounds, since the system may take the
/// core away during one.
double clock_us() {
  static const double cost = [] {
    constexpr int kRounds = 8, kReads = 100;
    double best = std::numeric_limits<double>::max();
    for (int round = 0; round < kRounds; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kReads; ++i) static_cast<void>(std::chrono::steady_clock::now());
      best = std::min(best, elapsed_us(start) / kReads);
    }
    return best;
  }();
  return cost;
}

/// Extents of a step for the costs of its nodes; `context` is the length of its sequences.
Bindings bindings_of(const compile::Plan& plan, const ops::StepContext& step, double context) {
  Bindings bindings = step.bindings();
  bindings[kKvBytes] = static_cast<int64_t>(row_bytes(plan.options.kv_dtype, ops::kKvElements).value_or(0));
  if (context > 0) bindings[kContext] = std::llround(context);
  return bindings;
}

/// Copies a ring's last values, oldest first; `added` counts all that it ever took.
template <class T>
std::vector<T> unrolled(const std::vector<T>& ring, uint64_t added) {
  const size_t size = ring.size(), kept = std::min<size_t>(added, size);
  std::vector<T> values(kept);
  for (size_t i = 0; i < kept; ++i) values[i] = ring[(added - kept + i) % size];
  return values;
}

}  // namespace

/// The rings of one phase. Costs of nodes are computed when they are looked at, not while the model runs.
struct Profiler::Track {
  std::vector<NodeId> nodes;
  std::vector<Arithmetic> arithmetic;
  uint64_t plan = 0;            // of the last run
  graph::GraphVersion graph;    // that it ran
  std::vector<int64_t> window;  // (kRuns, nodes), a ring of runs
  std::vector<double> contexts = std::vector<double>(kRuns);
  Bindings bindings;  // of the last run
  int64_t tokens = 0;
  uint64_t runs = 0, generation = 0;
  double run_us = 0, overhead_us = 0;  // moving averages
  std::vector<int64_t> latencies = std::vector<int64_t>(kRuns);
  uint64_t told = 0;

  void forget_nodes() {
    nodes.clear();
    arithmetic.clear();
    graph = nullptr;
    window.clear();
    runs = 0;
    run_us = overhead_us = 0;
    ++generation;
  }

  void forget() {
    forget_nodes();
    told = 0;
  }

  void add(const compile::Plan& plan, const std::vector<TimeSpan>& times, double context) {
    if (nodes.empty()) {
      for (const compile::Step& step : plan.steps) nodes.push_back(step.node);
      window.assign(kRuns * nodes.size(), 0);
    }
    if (arithmetic.empty() || this->plan != plan.id) {
      this->plan = plan.id;
      graph = plan.graph;
      arithmetic.clear();
      for (const compile::Step& step : plan.steps) arithmetic.push_back(step.arithmetic);
    }
    int64_t* row = window.data() + (runs % kRuns) * nodes.size();
    for (size_t i = 0; i < nodes.size(); ++i) row[i] = times[i].length();
    contexts[runs % kRuns] = context;
    ++runs;
    ++generation;
  }

  void charge(double us, double cost) {
    const double weight = runs == 1 ? 1.0 : 0.05;
    run_us += weight * (us - run_us);
    overhead_us += weight * (cost - overhead_us);
  }

  /// By node, so that a node's runs lie side by side.
  std::vector<int64_t> times() const {
    const size_t kept = std::min<size_t>(runs, kRuns), width = nodes.size();
    std::vector<int64_t> values(width * kept);
    for (size_t run = 0; run < kept; ++run) {
      const int64_t* row = window.data() + ((runs - kept + run) % kRuns) * width;
      for (size_t i = 0; i < width; ++i) values[i * kept + run] = row[i];
    }
    return values;
  }

  double mean_context() const {
    const auto kept = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(runs), kRuns);
    return std::accumulate(contexts.begin(), contexts.begin() + kept, 0.0) / static_cast<double>(kept);
  }
};

Profiler::Profiler() : tracks_{std::make_unique<Track>(), std::make_unique<Track>()} {}

Profiler::~Profiler() = default;

void Profiler::begin(graph::GraphVersion model, graph::GraphVersion fused) {
  const std::scoped_lock lock(mutex_);
  model_ = std::move(model);
  fused_ = std::move(fused);
  for (const auto& track : tracks_) track->forget();
}

void Profiler::set_enabled(bool enabled) {
  const std::scoped_lock lock(mutex_);
  if (enabled_ && !enabled)
    for (const auto& track : tracks_) track->forget_nodes();
  enabled_ = enabled;
}

bool Profiler::enabled() const {
  const std::scoped_lock lock(mutex_);
  return enabled_;
}

void Profiler::record(const compile::Plan& plan, Phase phase, const ops::StepContext& context,
                      const std::vector<TimeSpan>& times) {
  if (times.empty() || times.size() != plan.steps.size()) return;
  const double clock = clock_us();
  const std::scoped_lock lock(mutex_);
  if (trace_.on()) trace_.add_nodes(plan, bindings_of(plan, context, context.mean_context()), times);
  if (plan.fused != fused_ || !enabled_) return;
  const auto start = std::chrono::steady_clock::now();
  Track& current = track(phase);
  current.add(plan, times, context.mean_context());
  current.tokens = context.tokens;
  current.bindings = bindings_of(plan, context, context.mean_context());
  const int64_t begin = std::ranges::min(times, {}, &TimeSpan::begin).begin;
  const int64_t end = std::ranges::max(times, {}, &TimeSpan::end).end;
  current.charge(static_cast<double>(end - begin) * 1e-3,
                 elapsed_us(start) + clock * static_cast<double>(times.size()));
}

void Profiler::record_latency(const compile::Plan& plan, Phase phase, double milliseconds) {
  const std::scoped_lock lock(mutex_);
  if (plan.fused != fused_) return;
  Track& current = track(phase);
  current.latencies[current.told++ % kRuns] = std::llround(milliseconds * 1e6);
  ++current.generation;
}

ProfileSnapshot Profiler::snapshot(Phase phase) const {
  ProfileSnapshot snapshot;
  snapshot.phase = phase;
  Bindings bindings;
  graph::GraphVersion ran;
  {
    const std::scoped_lock lock(mutex_);
    const Track& current = track(phase);
    snapshot.generation = current.generation;
    snapshot.model = model_;
    snapshot.fused = fused_;
    snapshot.latencies = unrolled(current.latencies, current.told);
    if (current.runs == 0) return snapshot;
    snapshot.tokens = current.tokens;
    snapshot.runs = std::min<size_t>(current.runs, kRuns);
    snapshot.nodes = current.nodes;
    snapshot.arithmetic = current.arithmetic;
    snapshot.times = current.times();
    snapshot.overhead_share = current.overhead_us / (current.run_us + current.overhead_us);
    bindings = current.bindings;
    ran = current.graph;
    const double context = current.mean_context();
    if (phase == Phase::decode && context > 0) bindings[kContext] = std::llround(context);
  }
  for (const NodeId node : snapshot.nodes) snapshot.costs.push_back(ran->cost(node, bindings));
  return snapshot;
}

uint64_t Profiler::generation(Phase phase) const {
  const std::scoped_lock lock(mutex_);
  return track(phase).generation;
}

void Profiler::clear() {
  const std::scoped_lock lock(mutex_);
  for (const auto& track : tracks_) track->forget();
}

}  // namespace orrery::runtime
