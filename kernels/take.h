// Elements found by numbers: dst (outer, places, inner) = src (outer, .., inner) at the places that indices
// say.
//   indices (places, depth): each of the depth dims of src, outermost first; negative: from the end
// A place that is outside of src gives zeros: numbers may have been computed.
//   layout: all without gaps
#pragma once

#include <cstdint>

#include "kernels/row.h"
#include "kernels/strided.h"

namespace orrery::kernels {

struct Take {
  static constexpr std::string_view kName = "take";
  struct Problem {
    DType dtype = DType::f32;
    DType index = DType::i64;  // or i32
  };
  struct Args {
    Problem problem;
    int64_t outer = 0, places = 0, inner = 0;
    int depth = 1;
    int64_t sizes[kMaxRank] = {};  // of the dims that indices find
    const void* src = nullptr;
    const void* indices = nullptr;
    void* dst = nullptr;
  };
};

ORRERY_HOST_DEVICE_INLINE int64_t index_at(DType dtype, const void* indices, int64_t at) {
  return dtype == DType::i32 ? static_cast<const int32_t*>(indices)[at]
                             : static_cast<const int64_t*>(indices)[at];
}

/// What dims of those sizes and strides hold at the numbers from `at` on; -1: outside.
ORRERY_HOST_DEVICE_INLINE int64_t place_of(DType dtype, const void* indices, int64_t at, int depth,
                                           const int64_t* sizes, const int64_t* strides) {
  int64_t place = 0;
  for (int d = 0; d < depth; ++d) {
    int64_t index = index_at(dtype, indices, at + d);
    if (index < 0) index += sizes[d];
    if (index < 0 || index >= sizes[d]) return -1;
    place += index * strides[d];
  }
  return place;
}

/// What is wrong with the type of indices; empty: nothing.
inline std::string wrong_index(DType dtype) {
  if (dtype == DType::i32 || dtype == DType::i64) return {};
  return "indices of " + std::string(name_of(dtype)) + "; they must be of i32 or i64";
}

std::span<const Row<Take>> take_rows();
namespace cuda {
std::span<const Row<Take>> take_rows();
}
namespace ref {
void take(const Take::Args& args, const Launch& launch);
std::string legal(const Take::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
