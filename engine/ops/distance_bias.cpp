#include "engine/ops/distance_bias.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/linear.h"

namespace orrery::ops {
namespace {

constexpr int64_t kDistances = 2 * kBiasReach + 1;

size_t bias_bytes(DType, int64_t, int64_t heads) {
  return static_cast<size_t>(heads * kDistances) * sizeof(float);
}

void pack_bias(const void* stored, DType dtype, int64_t buckets, int64_t heads, void* packed,
               kernels::ThreadTeam&) {
  const size_t stride = row_bytes(dtype, heads).value_or(0);
  std::vector<float> row(static_cast<size_t>(heads));
  auto* dst = static_cast<float*>(packed);
  for (int64_t at = 0; at < kDistances; ++at) {
    const auto bucket = static_cast<size_t>(distance_bucket(at - kBiasReach, buckets));
    kernels::dequantise_row(dtype, static_cast<const std::byte*>(stored) + bucket * stride, heads,
                            row.data());
    for (int64_t head = 0; head < heads; ++head) dst[head * kDistances + at] = row[static_cast<size_t>(head)];
  }
}

}  // namespace

int64_t distance_bucket(int64_t distance, int64_t buckets) {
  const int64_t side = buckets / 2, exact = side / 2;
  const int64_t first = distance > 0 ? side : 0, steps = std::abs(distance);
  if (steps < exact) return first + steps;
  const double share = std::log(static_cast<double>(steps) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(kBiasReach) / static_cast<double>(exact));
  // A whole power is a bucket's first distance, whichever way its logarithm was rounded.
  const auto farther = static_cast<int64_t>(share * static_cast<double>(side - exact) + 1e-6);
  return first + std::min(exact + farther, side - 1);
}

const kernels::WeightPacking kDistanceBias{"bias by distance", bias_bytes, pack_bias};

}  // namespace orrery::ops
