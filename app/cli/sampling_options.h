// --temperature, --top-k and the others: what of the sampling node's settings a run changes.
#pragma once

#include "app/cli/parser.h"
#include "engine/api/sampling.h"

namespace orrery::cli {

void add_sampling_options(Parser& parser, api::SamplingOptions& sampling);

}  // namespace orrery::cli
