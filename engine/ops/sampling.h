// The settings of a sampling node: its attributes as what kernels draw by (kernels/sample.h,
// kernels/sampler_chain.h). A request may change them, so that the same checks hold for both.
#pragma once

#include "engine/graph/op_schema.h"
#include "kernels/sampler_chain.h"

namespace orrery::ops {

/// The numbers that a setting may be.
struct SamplingRange {
  std::string_view name;
  double low, high;
  bool above_low = false;  // low itself is refused
};
std::span<const SamplingRange> sampling_ranges();
std::span<const graph::AttributeSpec> sampling_attributes();

/// "penalties,dry,top_n_sigma,top_k,temperature,typical,top_p,min_p,xtc": the order when none is given.
std::string_view usual_samplers();

struct SamplingValues {
  kernels::SamplingParams params;
  kernels::SamplerChain chain;  // without what it points at
  bool chained = false;         // the plain order does not do
};
/// Of all attributes of a sampling node; refuses what is out of its range and unknown samplers, and names the
/// setting in Error::where.
Result<SamplingValues> sampling_values(const graph::Attributes& attributes);

}  // namespace orrery::ops
