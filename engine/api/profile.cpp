#include "engine/api/profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::api {
namespace {

double microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-3; }

/// The value of that share of the ranks; afterwards none before it is larger, none after it smaller.
int64_t ranked(std::span<int64_t> values, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<size_t>(rank)];
}

}  // namespace

double shown_us(std::span<const int64_t> times, Phase phase) {
  if (times.empty()) return 0;
  if (phase != Phase::decode) return microseconds(times.back());
  std::vector<int64_t> values(times.begin(), times.end());
  return microseconds(ranked(values, 0.50));
}

Timing summarise(std::span<const int64_t> times, Phase phase) {
  Timing timing;
  timing.runs = times.size();
  if (times.empty()) return timing;
  std::vector<int64_t> values(times.begin(), times.end());
  timing.last_us = microseconds(values.back());
  timing.mean_us = microseconds(std::accumulate(values.begin(), values.end(), int64_t{0})) /
                   static_cast<double>(values.size());
  timing.p50_us = microseconds(ranked(values, 0.50));
  timing.p95_us = microseconds(ranked(values, 0.95));
  timing.us = shown_us(times, phase);
  return timing;
}

void NodeTimes::add(NodeId node, std::span<const int64_t> times, double share, const Row& whole) {
  const auto [found, added] = index_.emplace(node, rows_.size());
  if (added) {
    rows_.push_back({node});
    times_.resize(times_.size() + runs_);
  }
  Row& row = rows_[found->second];
  row.bytes += whole.bytes * share;
  row.flops += whole.flops * share;
  row.memory_us += whole.memory_us * share;
  row.compute_us += whole.compute_us * share;
  row.estimated = row.estimated || whole.estimated;
  int64_t* sums = times_.data() + found->second * runs_;
  for (size_t run = 0; run < runs_; ++run)
    sums[run] += share == 1.0 ? times[run] : std::llround(static_cast<double>(times[run]) * share);
}

std::optional<size_t> NodeTimes::find(NodeId node) const {
  const auto found = index_.find(node);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

Measured Profile::measured(std::span<const NodeId> nodes, bool fused_shown) const {
  const NodeTimes& all = of(fused_shown);
  Measured sum;
  std::vector<int64_t> times(all.runs());
  bool found = false;
  for (const NodeId node : nodes) {
    const std::optional<size_t> place = all.find(node);
    if (!place) continue;
    found = true;
    const NodeTimes::Row& row = all.rows()[*place];
    sum.bytes += row.bytes;
    sum.flops += row.flops;
    sum.memory_us += row.memory_us;
    sum.compute_us += row.compute_us;
    sum.estimated = sum.estimated || row.estimated;
    const std::span<const int64_t> own = all.times(*place);
    for (size_t run = 0; run < times.size(); ++run) times[run] += own[run];
  }
  if (found) sum.timing = summarise(times, phase);
  return sum;
}

}  // namespace orrery::api
