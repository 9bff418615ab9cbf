#include "engine/api/machine_limits.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/isa.h"

namespace orrery::api {

MachineLimits measured_limits(const kernels::SpeedMeter& meter, int threads) {
  MachineLimits limits;
  limits.threads = threads;
  limits.cpu = kernels::isa_summary();
  limits.operations_per_second = meter.multiplying();
  limits.reading = meter.reading();
  return limits;
}

double reading_rate(const MachineLimits& limits, double bytes) {
  const std::vector<kernels::ReadingSpeed>& reading = limits.reading;
  if (reading.empty()) return 0;
  const auto above =
      std::find_if(reading.begin(), reading.end(),
                   [bytes](const kernels::ReadingSpeed& speed) { return speed.bytes >= bytes; });
  if (above == reading.end()) return reading.back().bytes_per_second;
  if (above == reading.begin()) return above->bytes_per_second;
  const kernels::ReadingSpeed& below = *(above - 1);
  const double part = std::log(bytes / below.bytes) / std::log(above->bytes / below.bytes);
  return below.bytes_per_second + part * (above->bytes_per_second - below.bytes_per_second);
}

std::vector<LeastTime> least_times(std::span<const graph::Cost> costs, std::span<const Arithmetic> arithmetic,
                                   const MachineLimits& limits) {
  std::vector<LeastTime> times(costs.size());
  if (limits.reading.empty()) return times;
  double kept = 0;  // weights and states of a run
  for (const graph::Cost& cost : costs) kept += cost.bytes - cost.activations;
  const double rate = reading_rate(limits, kept);
  for (size_t i = 0; i < costs.size(); ++i) {
    const graph::Cost& cost = costs[i];
    times[i].memory_us = 1e6 * ((cost.bytes - cost.activations) / rate +
                                cost.activations / reading_rate(limits, cost.activations));
    const double operations = limits.operations_per_second[static_cast<size_t>(arithmetic[i])];
    if (operations > 0) times[i].compute_us = 1e6 * cost.flops / operations;
  }
  return times;
}

}  // namespace orrery::api
