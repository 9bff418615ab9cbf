// What this machine can do at most: how fast it reads memory and how fast it multiplies.
#pragma once

#include "engine/api/types.h"
#include "kernels/thread_team.h"

namespace orrery::api {

/// Takes about 150 ms with the whole team; a slower machine measures less often, not longer.
MachineLimits measure_limits(kernels::ThreadTeam& team);

}  // namespace orrery::api
