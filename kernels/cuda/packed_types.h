// The packed types as types, for kernels that are compiled for each.
#pragma once

#include <type_traits>

#include "kernels/dtype.h"

namespace orrery::kernels::cuda {

/// function(std::integral_constant<DType, dtype>) of a packed type.
template <class Function>
auto with_packed_type(DType dtype, Function&& function) {
  const auto with = [&]<DType type>() { return function(std::integral_constant<DType, type>{}); };
  switch (dtype) {
    case DType::q4_0:
      return with.template operator()<DType::q4_0>();
    case DType::q4_1:
      return with.template operator()<DType::q4_1>();
    case DType::q8_0:
      return with.template operator()<DType::q8_0>();
    case DType::q4_k:
      return with.template operator()<DType::q4_k>();
    case DType::q5_0:
      return with.template operator()<DType::q5_0>();
    case DType::q5_1:
      return with.template operator()<DType::q5_1>();
    case DType::q2_k:
      return with.template operator()<DType::q2_k>();
    case DType::q3_k:
      return with.template operator()<DType::q3_k>();
    case DType::q5_k:
      return with.template operator()<DType::q5_k>();
    case DType::iq4_nl:
      return with.template operator()<DType::iq4_nl>();
    case DType::iq4_xs:
      return with.template operator()<DType::iq4_xs>();
    case DType::mxfp4:
      return with.template operator()<DType::mxfp4>();
    default:
      return with.template operator()<DType::q6_k>();
  }
}

}  // namespace orrery::kernels::cuda
