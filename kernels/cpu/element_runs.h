// Runs of elements of any type as float32 or as 64-bit integers and back, converted as copy.h says: plain
// loops of one thread, and how the runs of a walk are shared among threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/split.h"
#include "kernels/dtype.h"
#include "kernels/strided.h"

namespace orrery::kernels {

/// Elements that kernels convert at a time: buffers of the three operands stay in L1.
inline constexpr int64_t kRun = 256;

/// Elements of the innermost dim that a thread takes at a time.
inline constexpr int64_t kRunPiece = 4096;

/// n elements `stride` apart (0: the same each time).
void load_run(DType dtype, const void* src, int64_t stride, int64_t n, float* dst);
void load_run(DType dtype, const void* src, int64_t stride, int64_t n, int64_t* dst);
void store_run(DType dtype, const float* src, int64_t n, void* dst, int64_t stride);
void store_run(DType dtype, const int64_t* src, int64_t n, void* dst, int64_t stride);

/// Element `index` from an address on.
inline const std::byte* at(DType dtype, const void* base, int64_t index) {
  return static_cast<const std::byte*>(base) + index * dtype_info(dtype).block_bytes;
}
inline std::byte* at(DType dtype, void* base, int64_t index) {
  return static_cast<std::byte*>(base) + index * dtype_info(dtype).block_bytes;
}

/// Calls visit(where, count) for every piece of the walk's innermost dim, on the team's threads: where[o] is
/// the piece's first element in operand o, in elements.
template <int kOperands, class Visit>
void split_runs(const Launch& launch, const Walk<kOperands>& walk, const Visit& visit) {
  const int inner = walk.rank - 1;
  const int64_t n = walk.sizes[inner], total = walk.elements();
  if (total == 0) return;
  const int64_t pieces = (n + kRunPiece - 1) / kRunPiece;
  split(launch, total / n * pieces, std::min(n, kRunPiece), [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % pieces * kRunPiece;
      int64_t where[kOperands];
      for (int o = 0; o < kOperands; ++o)
        where[o] = walk.offset(o, item / pieces, inner) + first * walk.strides[o][inner];
      visit(where, std::min(kRunPiece, n - first));
    }
  });
}

}  // namespace orrery::kernels
