#include "engine/runtime/profiler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "engine/ops/kv_cost.h"

namespace orrery::runtime {
namespace {

constexpr size_t kWindow = 256;         // runs that p50 and p95 look at
constexpr double kHalfLifeUs = 500000;  // of the moving averages, in run time

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

size_t rank_of(double share, size_t count) {
  return static_cast<size_t>(share * static_cast<double>(count - 1) + 0.5);
}

/// Moves the values of [begin, end) that are `before` to the front; returns where they end. Without a branch
/// on the values, which nothing could predict.
template <class Before>
size_t partition(std::span<float> values, size_t begin, size_t end, Before before) {
  size_t front = begin;
  for (size_t i = begin; i < end; ++i) {
    const float value = values[i];
    values[i] = values[front];
    values[front] = value;
    front += before(value) ? 1 : 0;
  }
  return front;
}

/// The value of that rank in ascending order. Afterwards no value before the rank is larger, none behind it
/// is smaller.
float select(std::span<float> values, size_t rank) {
  size_t begin = 0, end = values.size();
  while (end - begin > 1) {
    const float a = values[begin], b = values[begin + (end - begin) / 2], c = values[end - 1];
    const float pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
    const size_t below = partition(values, begin, end, [pivot](float value) { return value < pivot; });
    if (rank < below) {
      end = below;
      continue;
    }
    const size_t same = partition(values, below, end, [pivot](float value) { return value <= pivot; });
    if (rank < same) return pivot;
    begin = same;
  }
  return values[rank];
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
  double context = 0;
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
    step_us = overhead_us = context = 0;
  }

  void add(const std::vector<int64_t>& times, Phase phase, double step_context) {
    const double step = static_cast<double>(times.back() - times.front()) * 1e-3;
    const double weight = runs == 0 ? 1.0 : 1.0 - std::exp2(-step / kHalfLifeUs);
    context += (phase == Phase::decode ? weight : 1.0) * (step_context - context);
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

  /// Takes the window's columns a few at a time, as many as share a cache line of each run.
  void read_percentiles(std::vector<NodeTime>& times) const {
    constexpr size_t kColumns = 16;
    const size_t filled = std::min<size_t>(runs, kWindow), width = nodes.size();
    if (filled == 0) return;
    std::array<float, kColumns * kWindow> columns;
    const size_t middle = rank_of(0.50, filled), late = rank_of(0.95, filled);
    for (size_t first = 0; first < width; first += kColumns) {
      const size_t count = std::min(kColumns, width - first);
      for (size_t run = 0; run < filled; ++run)
        for (size_t i = 0; i < count; ++i) columns[i * kWindow + run] = window[run * width + first + i];
      for (size_t i = 0; i < count; ++i) {
        const std::span<float> column(columns.data() + i * kWindow, filled);
        times[first + i].p50_us = select(column, middle);
        times[first + i].p95_us = select(column.subspan(middle), late - middle);
      }
    }
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
  const std::scoped_lock lock(mutex_);
  auto& track = tracks_[static_cast<size_t>(phase)];
  if (!track) track = std::make_shared<Track>();
  if (track->graph != plan.graph) track->restart(plan);  // once a graph: no cost of a step
  const auto start = std::chrono::steady_clock::now();
  track->add(times, phase, context.mean_context());
  track->bindings = bindings_of(plan, context, track->context);
  if (trace_.on()) trace_.add_nodes(plan, bindings_of(plan, context, context.mean_context()), times);
  const double cost = elapsed_us(start) + clock * static_cast<double>(times.size());
  track->overhead_us += 0.05 * (cost - track->overhead_us);
  if (track->runs == 1) track->overhead_us = cost;
}

ProfileSnapshot Profiler::snapshot(Phase phase) const {
  const std::scoped_lock alone(reading_);
  if (!copy_) copy_ = std::make_shared<Track>();
  Track& track = *copy_;
  {
    const std::scoped_lock lock(mutex_);
    const auto& current = tracks_[static_cast<size_t>(phase)];
    if (!current) return {phase, 0, nullptr, {}, 0, 0, 0};
    track = *current;
  }
  ProfileSnapshot snapshot{phase, track.generation, std::move(track.graph), {}, track.step_us, 0, 0};
  snapshot.nodes.reserve(track.nodes.size());
  for (size_t i = 0; i < track.nodes.size(); ++i) {
    const graph::Cost cost = snapshot.fused->cost(track.nodes[i], track.bindings);
    snapshot.nodes.push_back(
        {track.nodes[i], track.last[i], track.mean[i], 0, 0, cost.bytes, cost.flops, track.runs});
    snapshot.nodes_us += track.mean[i];
  }
  track.read_percentiles(snapshot.nodes);
  if (track.step_us > 0) snapshot.overhead_share = track.overhead_us / (track.step_us + track.overhead_us);
  return snapshot;
}

void Profiler::clear() {
  const std::scoped_lock lock(mutex_);
  tracks_ = {};
}

}  // namespace orrery::runtime
