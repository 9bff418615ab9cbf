// The processor time of the thread that asks, for limits on a shared machine.
#pragma once

#include <time.h>

namespace orrery::ui {

/// Milliseconds from some start.
inline double ownTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace orrery::ui
