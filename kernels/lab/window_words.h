// Windows told in words: "kernel=3 stride=2 padding=1 dilation=2" for all spatial dims alike.
#pragma once

#include "kernels/lab/words.h"
#include "kernels/window.h"

namespace orrery::kernels::lab {

/// Dims of size 1 are left out. Writes what becomes of the sizes.
inline Window window_in(Words& words, const int64_t (&src)[kSpatial], int64_t (&dst)[kSpatial],
                        bool transposed = false) {
  const int64_t kernel = words.count("kernel", 3), stride = words.count("stride", 1);
  const int64_t padding = words.count("padding", (kernel - 1) / 2), dilation = words.count("dilation", 1);
  Window window;
  for (int d = 0; d < kSpatial; ++d) {
    if (src[d] > 1) {
      window.kernel[d] = kernel;
      window.stride[d] = stride;
      window.padding[d] = padding;
      window.dilation[d] = dilation;
    }
    if (stride < 1) continue;  // refused as a problem
    dst[d] = transposed ? (src[d] - 1) * window.stride[d] - 2 * window.padding[d] + window.extent(d)
                        : (src[d] + 2 * window.padding[d] - window.extent(d)) / window.stride[d] + 1;
  }
  return window;
}

}  // namespace orrery::kernels::lab
