#include "kernels/cuda/tensor_map.h"

#include <algorithm>

#include "kernels/cuda/driver.h"

namespace orrery::kernels::cuda {

CUtensorMap make_tensor_map(CUtensorMapDataType type, const void* data, std::span<const cuuint64_t> sizes,
                            std::span<const cuuint64_t> apart, std::span<const cuuint32_t> box) {
  static const auto encode = [] {
    decltype(&cuTensorMapEncodeTiled) function = nullptr;
    find_in_driver("cuTensorMapEncodeTiled", function);
    return function;
  }();
  constexpr size_t kMostDims = 5;
  cuuint32_t each[kMostDims];
  std::ranges::fill(each, 1U);
  CUtensorMap map;
  // The L2 cache is to ask memory for a box's rows only. With 256 bytes, half of which another box has, a
  // single query's keys came at nine tenths of the rate.
  const CUresult made =
      encode(&map, type, static_cast<cuuint32_t>(sizes.size()), const_cast<void*>(data), sizes.data(),
             apart.data(), box.data(), each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(static_cast<cudaError_t>(made), "describing a tensor");  // the runtime's errors have these numbers
  return map;
}

}  // namespace orrery::kernels::cuda
