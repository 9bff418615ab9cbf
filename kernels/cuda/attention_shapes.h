// The types of keys and the shapes that kernels of attention are made for.
#pragma once

#include "kernels/attention.h"

namespace orrery::kernels::cuda {

/// function.operator()<kKv>() of the type of the keys, in pages or packed.
template <class Function>
void with_keys(const Attention::Problem& problem, Function&& function) {
  switch (problem.kv) {
    case DType::f32:
      return function.template operator()<DType::f32>();
    case DType::bf16:
      return function.template operator()<DType::bf16>();
    case DType::q8_0:
      return function.template operator()<DType::q8_0>();
    default:
      return function.template operator()<DType::f16>();
  }
}

/// Of f16 and bf16 pages: function.operator()<kKv, kDim>() of the type of the pages and of the least head
/// that holds the problem's.
template <class Function>
auto with_head(const Attention::Problem& problem, Function&& function) {
  const auto with_dim = [&]<DType kKv>() {
    if (problem.head_dim <= 64) return function.template operator()<kKv, 64>();
    if (problem.head_dim <= 128) return function.template operator()<kKv, 128>();
    return function.template operator()<kKv, 256>();
  };
  if (problem.kv == DType::bf16) return with_dim.template operator()<DType::bf16>();
  return with_dim.template operator()<DType::f16>();
}

}  // namespace orrery::kernels::cuda
