#include "kernels/lab/timing.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/device_module.h"

namespace orrery::kernels::lab {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of sorted values, the one below which `share` of them lie.
double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

/// When there are enough samples.
class Ending {
 public:
  explicit Ending(const Timing& timing) : timing_(timing), begun_(seconds(CLOCK_MONOTONIC)) {}
  bool reached(size_t samples) const {
    if (timing_.stop.stop_requested() || samples >= static_cast<size_t>(std::max(timing_.samples, 1)))
      return true;
    return samples > 0 && seconds(CLOCK_MONOTONIC) - begun_ >= timing_.most_seconds;
  }

 private:
  const Timing& timing_;
  double begun_;
};

Times times_of(std::vector<double> microseconds) {
  if (microseconds.empty()) return {};  // stopped
  std::sort(microseconds.begin(), microseconds.end());
  return {.median = quantile(microseconds, 0.5),
          .p10 = quantile(microseconds, 0.1),
          .p90 = quantile(microseconds, 0.9),
          .samples = static_cast<int>(microseconds.size())};
}

}  // namespace

Times time_calls(const std::function<void(size_t)>& call, const Timing& timing, bool processor_time) {
  const clockid_t clock = processor_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  size_t next = 0;
  const auto run = [&](size_t calls) {
    const double start = seconds(clock);
    for (size_t i = 0; i < calls; ++i) call(next++);
    return seconds(clock) - start;
  };
  double spent = run(1);
  while (spent < timing.warm_up_seconds && !timing.stop.stop_requested()) spent += run(1);
  const double each = std::max(spent / static_cast<double>(next), 1e-9);
  const auto calls = static_cast<size_t>(std::clamp(timing.sample_seconds / each, 1.0, 1e6));
  std::vector<double> samples;
  const Ending ending(timing);
  while (!ending.reached(samples.size())) samples.push_back(1e6 * run(calls) / static_cast<double>(calls));
  Times times = times_of(std::move(samples));
  times.processor_time = processor_time;
  return times;
}

Times time_calls(Device& device, const std::function<void(size_t)>& call, const Timing& timing,
                 size_t copies) {
  const size_t calls = std::clamp<size_t>(copies, 20, 64);
  device.begin_capture();
  for (size_t i = 0; i < calls; ++i) call(i);
  const std::unique_ptr<DeviceGraph> graph = device.end_capture();
  const auto from = device.make_mark(), to = device.make_mark();
  std::vector<double> samples;
  const Ending ending(timing);
  while (!ending.reached(samples.size())) {
    device.launch(*graph);  // so that the timed one follows another, as steps do
    device.record(*from);
    device.launch(*graph);
    device.record(*to);
    device.wait();
    samples.push_back(device.microseconds(*from, *to) / static_cast<double>(calls));
  }
  Times times = times_of(std::move(samples));
  constexpr size_t kLaunches = 100;
  const double start = seconds(CLOCK_MONOTONIC);
  for (size_t i = 0; i < kLaunches; ++i) call(i);
  device.wait();
  times.launched = 1e6 * (seconds(CLOCK_MONOTONIC) - start) / kLaunches;
  return times;
}

size_t bytes_beyond_caches(const Device* device) {
  constexpr size_t kLeast = size_t{96} << 20, kMost = size_t{512} << 20;
  const size_t cache =
      device != nullptr ? device->facts().l2_bytes : machine_of(DeviceKind::cpu).cpu.l3_bytes;
  return std::clamp(3 * cache, kLeast, kMost);
}

}  // namespace orrery::kernels::lab
