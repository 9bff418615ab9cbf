// The bias that relative positions give to attention scores (Raffel et al. 2019, arXiv 1910.10683): a table
// (buckets, heads), where near distances have a bucket each and farther ones share buckets that widen with
// the logarithm; keys behind the query have the second half of the buckets.
#pragma once

#include "kernels/row.h"

namespace orrery::ops {

/// Distances from here on share the last bucket of their side.
inline constexpr int64_t kBiasReach = 128;

/// Bucket of key - query; buckets is a multiple of 4 and at most 4 * kBiasReach.
int64_t distance_bucket(int64_t distance, int64_t buckets);

/// The table as attention reads it: f32 (heads, 2 * kBiasReach + 1), by distance.
extern const kernels::WeightPacking kDistanceBias;

}  // namespace orrery::ops
