// One op on this machine: its folder in the cache, filled step by step by what is compiled and what passes.
#pragma once

#include "engine/custom/store.h"

namespace orrery::custom {

/// What Store::check does, with the folder of all builds.
Result<Report> build_op(const Sources& sources, const std::filesystem::path& builds,
                        const TrialLimits& limits, const Watch& watch);

/// The compilers alone, in a folder that is gone afterwards: nothing is run. Passed means that it compiles.
Result<Report> compile_op(const Sources& sources, const std::filesystem::path& builds,
                          const TrialLimits& limits, const Watch& watch);

}  // namespace orrery::custom
