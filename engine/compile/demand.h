// The memory that the plans of a graph will take, told before any weight is read: every lowering is asked
// with made-up operands, and what it asks for is noted.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/compile/plan.h"

namespace orrery::compile {

/// One form in which a weight will be kept, counted once for all plans that read it.
struct WeightForm {
  std::string tensor;
  std::string packing;  // empty: as it is stored
  uint64_t bytes = 0;   // of this form
  uint64_t stored = 0;  // of the tensor as the graph sees it
};

struct Demand {
  std::vector<WeightForm> weights;
  uint64_t arena_bytes = 0, workspace_bytes = 0;  // of the largest plan
};

struct DemandOptions {
  kernels::DeviceId device;
  std::optional<kernels::DeviceId> home = {};  // of nodes that name no device; none: `device`
  DType kv_dtype = DType::f16;
  kernels::Precision precision = kernels::Precision::balanced;
  passes::Options passes = {};
  int threads = 1;
};

/// Of the plans for these buckets together, as far as they run on the device. Fails as compile() does where a
/// node has no row there.
Result<Demand> demand_of(const graph::GraphVersion& fused, std::span<const Bucket> buckets,
                         const DemandOptions& options);

}  // namespace orrery::compile
