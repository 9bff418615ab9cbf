// One row of a dropout (kernels/dropout.h), as the sources that are built per ISA take it.
#pragma once

#include <cstdint>

namespace orrery::kernels {

/// Columns that a mask is made of at a time: buffers of factors are a multiple of it long.
static constexpr int64_t kMaskColumns = 64;

/// What the elements of a row are multiplied by: `kept`, or 0 where they are dropped.
struct DropoutRow {
  uint64_t seed;
  uint32_t stream;
  int64_t row;
  uint32_t most;
  bool drops;
  float kept;
  float* factors;  // room for those of the row
};

}  // namespace orrery::kernels
