// Softmax over one axis of a tensor without gaps, seen as (outer, count, inner), or its logarithm:
//   dst[o, j, i] = e^(src[o, j, i] - m) / sum_k e^(src[o, k, i] - m),   m = max_k src[o, k, i]
//   log: dst[o, j, i] = src[o, j, i] - m - log(sum_k e^(src[o, k, i] - m))
// 0 everywhere where all is -infinity, and the logarithm of it. Computed in float32, rounded once. dst may be
// src.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
  struct Problem {
    DType dtype = DType::f32;  // f32, f16, bf16; of both
    bool last = true;          // inner is 1
    bool log = false;
  };
  struct Args {
    DType dtype = DType::f32;
    bool log = false;
    int64_t outer = 0, count = 0, inner = 1;
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

std::span<const Row<Softmax>> softmax_rows();
namespace cuda {
std::span<const Row<Softmax>> softmax_rows();
}
namespace ref {
void softmax(const Softmax::Args& args, const Launch& launch);
std::string legal(const Softmax::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
