// What this machine can do at most, and the least time that nodes could take on it.
#pragma once

#include <span>

#include "engine/api/types.h"

namespace orrery::api {

/// What was measured to the end, with that many threads.
MachineLimits measured_limits(const kernels::SpeedMeter& meter, int threads);

/// Bytes a second of what is read over and over and takes so much room; 0: not known.
double reading_rate(const MachineLimits& limits, double bytes);

/// The least time that a node could take; 0: not known.
struct LeastTime {
  double memory_us = 0, compute_us = 0;
};
/// Of the nodes of one run. Weights and states come from where all those of a run find room, since each is
/// read once per run; activations from where those of their node do.
std::vector<LeastTime> least_times(std::span<const graph::Cost> costs, std::span<const Arithmetic> arithmetic,
                                   const MachineLimits& limits);

/// How many times the measured limits the machine was seen to reach; at least 1.
struct LimitsReach {
  double memory = 1, compute = 1;
};

}  // namespace orrery::api
