#include "engine/runtime/host_steps.h"

#include <time.h>

namespace orrery::runtime {

int64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void run_host_steps(const compile::Plan& plan, const compile::Segment& segment,
                    const ops::StepContext& context, TimeSpan* times) {
  if (!times) {
    for (size_t i = segment.begin; i < segment.end; ++i) plan.steps[i].run(context);
    return;
  }
  int64_t begin = monotonic_ns();
  for (size_t i = segment.begin; i < segment.end; ++i) {
    plan.steps[i].run(context);
    times[i] = {begin, monotonic_ns()};
    begin = times[i].end;
  }
}

}  // namespace orrery::runtime
