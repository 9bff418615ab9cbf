// --temperature, --top-k and the others: what of the sampling node's settings a run changes.
#pragma once

#include <CLI/App.hpp>

#include "engine/api/sampling.h"

namespace orrery::cli {

void add_sampling_options(CLI::App& app, api::SamplingOptions& sampling);

}  // namespace orrery::cli
