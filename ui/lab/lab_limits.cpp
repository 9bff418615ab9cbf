#include "ui/lab/lab_limits.h"

#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kNear = 0.6;  // from this share on a roof is what limits

}  // namespace

double cacheSpeed(const api::LabRun& run) {
  const auto& reading = run.limits.reading;
  for (size_t level = 0; level + 1 < reading.size(); ++level)
    if (reading[level].bytes >= run.bytes) return reading[level].bytes_per_second;
  return 0;
}

double memorySpeed(const api::LabRun& run) {
  return run.limits.reading.empty() ? 0 : run.limits.reading.back().bytes_per_second;
}

LabLimits limitsOf(const LabRow& row, const api::LabRun& run, const LabRow* before) {
  LabLimits limits;
  if (!row.timed()) return limits;
  const api::LabVersion& version = *row.version;
  const double cache = version.memory ? 0 : cacheSpeed(run), reading = cache > 0 ? cache : memorySpeed(run);
  const bool reads = reading > 0 && version.gbytes_per_second > 0;
  if (reads)
    limits.roofs.push_back({(cache > 0 ? "its cache, " : "memory, ") + format::bandwidth(reading, 1e6),
                            version.gbytes_per_second * 1e9 / reading});
  const double operations = run.limits.operations_per_second[static_cast<size_t>(version.arithmetic)];
  if (operations > 0 && version.gflops > 0)
    limits.roofs.push_back({QString("%1, %2 TFLOP/s")
                                .arg(QString::fromUtf8(api::name_of(version.arithmetic).data()),
                                     format::number(operations * 1e-12)),
                            version.gflops * 1e9 / operations});
  if (!limits.roofs.empty()) {
    const auto nearest = std::ranges::max_element(limits.roofs, {}, &LabLimits::Roof::share);
    nearest->nearest = true;
    limits.far = nearest->share < kNear;
    limits.verdict =
        limits.far
            ? "Far from its roofs: it waits for what it began, is too short to fill the device, or does "
              "more than the op asks."
        : reads && nearest == limits.roofs.begin() ? "Reading and writing limits it."
                                                   : "Its multiplications limit it.";
  }
  if (run.bytes > 0 && run.flops > 0)
    limits.facts.push_back({"flops a byte", format::number(run.flops / run.bytes)});
  limits.facts.push_back(
      {"spread of its samples", format::percent((version.p90 - version.p10) / version.us)});
  if (version.launched_us > version.us)
    limits.facts.push_back({"more when launched alone", format::time(version.launched_us - version.us)});
  if (before && before->timed())
    limits.facts.push_back({"to the row before", format::number(before->version->us / version.us) + "×"});
  return limits;
}

}  // namespace orrery::ui
