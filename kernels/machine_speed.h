// What this machine's cores can do together at most, measured: how fast they read, from memory and from the
// caches, and how fast they multiply.
#pragma once

#include <array>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/thread_team.h"

namespace orrery::kernels {

/// What all threads together read over and over, and how fast: caches hold less of more.
struct ReadingSpeed {
  double bytes = 0, bytes_per_second = 0;
};

/// By rising bytes and falling speed, from what each core's first cache holds to a multiple of the last
/// cache. Takes about 150 ms with the whole team.
std::vector<ReadingSpeed> measure_reading(ThreadTeam& team);

/// Operations a second by Arithmetic, a multiply-add being two; 0: the kernels have none here. About 50 ms.
std::array<double, kArithmetics> measure_multiplying(ThreadTeam& team);

}  // namespace orrery::kernels
