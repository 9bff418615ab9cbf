// The bytes of a planned tensor.
#pragma once

#include "engine/exporter/plan.h"

namespace orrery::exporter {

/// Bytes that are held elsewhere, or here.
struct TensorBytes {
  std::span<const std::byte> bytes;
  weights::WeightTensor held = {};
  weights::Buffer own = {};
};
Result<TensorBytes> bytes_of(const PlannedTensor& tensor, weights::WeightStore& weights,
                             kernels::ThreadTeam& team);

}  // namespace orrery::exporter
