// Random activations, and weights of any type, for benchmarks.
#pragma once

#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/half.h"
#include "kernels/linear.h"

namespace orrery::kernels::bench {

inline std::vector<float> random_floats(int64_t count, float deviation = 1.0F) {
  std::mt19937 engine(5);
  std::normal_distribution<float> normal(0.0F, deviation);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

/// Where the float16 scales of a format lie that quantise_row does not write; negative: none.
struct ScaleOffsets {
  int first = -1, second = -1;
};
inline ScaleOffsets scale_offsets(DType dtype) {
  switch (dtype) {
    case DType::q4_k:
    case DType::q5_k:
    case DType::q5_1:
      return {0, 2};
    case DType::q5_0:
    case DType::iq4_nl:
    case DType::iq4_xs:
      return {0};
    case DType::q2_k:
      return {80, 82};
    case DType::q3_k:
      return {108};
    case DType::q6_k:
      return {208};
    default:
      return {};
  }
}

/// Stored rows: random bits with fitting scales where a format is read only, else rounded numbers, each row
/// those of the one before moved by one column.
inline std::vector<std::byte> random_weights(DType dtype, int64_t rows, int64_t cols) {
  const size_t bytes = row_bytes(dtype, cols).value_or(0);
  std::vector<std::byte> stored(bytes * static_cast<size_t>(rows));
  const ScaleOffsets offsets = scale_offsets(dtype);
  if (offsets.first >= 0 || dtype == DType::mxfp4) {
    std::mt19937 engine(7);
    for (std::byte& b : stored) b = static_cast<std::byte>(engine() & 255);
    const auto size = static_cast<size_t>(dtype_info(dtype).block_bytes);
    const uint16_t scale = f16_from_float(1e-4F);
    for (std::byte* block = stored.data(); block != stored.data() + stored.size(); block += size) {
      if (offsets.first < 0) *block = std::byte{118};  // an exponent
      if (offsets.first >= 0) std::memcpy(block + offsets.first, &scale, sizeof scale);
      if (offsets.second >= 0) std::memcpy(block + offsets.second, &scale, sizeof scale);
    }
    return stored;
  }
  constexpr int64_t kShifts = 256;
  const std::vector<float> values = random_floats(cols + kShifts, 0.05F);
  for (int64_t r = 0; r < rows; ++r)
    quantise_row(dtype, values.data() + r % kShifts, cols, stored.data() + static_cast<size_t>(r) * bytes);
  return stored;
}

}  // namespace orrery::kernels::bench
