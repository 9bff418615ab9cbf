// The planned file, written, opened again and compared before it takes its name.
#pragma once

#include "engine/base/progress.h"
#include "engine/exporter/plan.h"

namespace orrery::exporter {

/// Refused: a plan with differences, and what io::new_gguf and io::new_folder refuse. Nothing is left where
/// it fails or is stopped. Returns the bytes of the file, or of the folder's files.
Result<uint64_t> write(const Plan& plan, weights::WeightStore& weights, const std::filesystem::path& out,
                       kernels::ThreadTeam& team, const Watch& watch);

}  // namespace orrery::exporter
