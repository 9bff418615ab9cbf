#include "kernels/lab/experiment.h"

#include <cstdio>

namespace orrery::kernels::lab {

std::string outcome_of(const Record& record) {
  char text[256];
  if (!record.agreement) return record.refusal.empty() ? "not run" : "refused: " + record.refusal;
  if (!record.agreement->ok) {
    std::snprintf(text, sizeof text, "WRONG by %.1e where %.1e is allowed: ", record.agreement->max_error,
                  record.agreement->tolerance);
    return text + record.agreement->where;
  }
  if (!record.times) return "right";
  const Times& times = *record.times;
  char spread[64];
  std::snprintf(spread, sizeof spread, "(%.2f to %.2f)", times.p10, times.p90);
  std::snprintf(text, sizeof text, "%10.2f us %-22s %7.1f GB/s  %8.1f GFLOP/s", times.median, spread,
                record.gbytes_per_second(), record.gflops());
  std::string outcome = text;
  if (times.launched > 0) {
    std::snprintf(text, sizeof text, "  %.2f us launched", times.launched);
    outcome += text;
  }
  if (record.share_of_limit > 0) {
    std::snprintf(text, sizeof text, "  %3.0f %% of the limit", 100 * record.share_of_limit);
    outcome += text;
  }
  std::snprintf(text, sizeof text, "  off by %.1e", record.agreement->max_error);
  return outcome + text;
}

}  // namespace orrery::kernels::lab
