// SamplingOptions and the sampling node of a graph as what the runtime draws by.
#pragma once

#include "engine/api/sampling.h"
#include "engine/graph/graph.h"
#include "engine/runtime/decode_job.h"
#include "engine/text/tokenizer.h"

namespace orrery::api {

struct SamplingRequest {
  kernels::SamplingParams params;
  std::optional<runtime::ChainRequest> chain;  // none: the plain order
};
/// Refuses what is out of its range.
Result<SamplingRequest> sampling_request(const graph::Graph& graph, const SamplingOptions& options,
                                         const text::Tokenizer& tokenizer);

}  // namespace orrery::api
