// When something ran.
#pragma once

#include <cstdint>

namespace orrery::runtime {

/// Nanoseconds of CLOCK_MONOTONIC, the clock of all times that steps are given.
int64_t monotonic_ns();

struct TimeSpan {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
};

}  // namespace orrery::runtime
