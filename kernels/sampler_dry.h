// The "don't repeat yourself" sampler: what a token loses that would lengthen a repetition. Its formula is in
// sampler_chain.h.
#pragma once

#include <cstdint>
#include <map>

#include "kernels/sampler_chain.h"

namespace orrery::kernels {

/// What is taken from each token's logit, by its id; time is linear in the history. Empty when DRY is off.
std::map<int32_t, double> dry_penalties(const SamplerChain& chain);

}  // namespace orrery::kernels
