// The packed types as types, for kernels that are compiled for each.
#pragma once

#include "kernels/cuda/linear_packing.h"

namespace orrery::kernels::cuda {

/// function(DTypeConstant) of a packed type.
template <class Function>
auto with_packed_type(DType dtype, Function&& function) {
  return with_dtype(dtype, [&](auto type) {
    if constexpr (is_packed(decltype(type)::value))
      return function(type);
    else
      return function(DTypeConstant<DType::q4_0>{});  // rows refuse them
  });
}

}  // namespace orrery::kernels::cuda
