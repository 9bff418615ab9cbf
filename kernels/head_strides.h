// Operands of attention over tensors, by their strides.
#pragma once

#include <cstdint>

namespace orrery::kernels {

/// Where the rows of a tensor (batch, heads, tokens, head_dim) lie, in elements; head_dim has no gaps.
struct HeadStrides {
  int64_t batch = 0, head = 0, token = 0;
};

/// Where the elements of a tensor (batch, heads, queries, keys) lie, in elements; 0 takes the same for all.
struct ScoreStrides {
  int64_t batch = 0, head = 0, query = 0, key = 0;
};

}  // namespace orrery::kernels
