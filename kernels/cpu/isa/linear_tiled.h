// What the sources of TiledShare have in common: where a block's sums lie, and where they go.
#pragma once

#include "kernels/cpu/isa/linear.h"
#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {

/// Floats of a block's sums, rows of kTiledSlice; those of the up half follow.
constexpr int64_t kTiledSums = kTiledTokens * kTiledSlice;

/// dst, so many elements further.
inline float* moved(const LinearFinish& finish, int64_t elements) {
  if (!finish.rounded) return finish.dst + elements;
  return reinterpret_cast<float*>(reinterpret_cast<uint16_t*>(finish.dst) + elements);
}

/// The finish of the block that begins at `token` and has no more than `most` of them.
inline LinearFinish finish_of(const TiledShare& share, int64_t slice, int64_t token, int64_t most,
                              const float* sums) {
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t row = slice * kTiledSlice;
  LinearFinish finish = share.finish;
  finish.dst = moved(finish, token * finish.dst_stride + row);
  if (finish.bias != nullptr) finish.bias += row;
  if (finish.up_bias != nullptr) finish.up_bias += row;
  finish.tokens = least(finish.tokens - token, most);
  finish.count = least(finish.count - row, kTiledSlice);
  finish.src = sums;
  finish.up = share.up == nullptr ? nullptr : sums + kTiledSums;
  finish.src_stride = finish.up_stride = kTiledSlice;
  return finish;
}

}  // namespace orrery::kernels::ORRERY_ISA
