// Tensors as the card's engine for tiles (TMA) reads and writes them, on cards of capability 9.0.
#pragma once

#include <cuda.h>

#include <span>

namespace orrery::kernels::cuda {

/// For boxes whose rows, of `box`[0] elements, have 128 bytes and are swizzled (device/warpgroup.cuh): of
/// what lies beyond the tensor zeros are read, and nothing is written there. `sizes` and `box` in elements,
/// innermost dim first; `apart`: bytes from one element to the next of each dim but the innermost, multiples
/// of 16, as `data` is. Throws DeviceError where no map can say this.
CUtensorMap make_tensor_map(CUtensorMapDataType type, const void* data, std::span<const cuuint64_t> sizes,
                            std::span<const cuuint64_t> apart, std::span<const cuuint32_t> box);

}  // namespace orrery::kernels::cuda
