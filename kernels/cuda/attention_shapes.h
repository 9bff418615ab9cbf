// The shapes that the kernels of f16 and bf16 pages are made for.
#pragma once

#include "kernels/attention.h"

namespace orrery::kernels::cuda {

/// function.operator()<kKv, kDim>() of the type of the pages and of the least head that holds the problem's.
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
