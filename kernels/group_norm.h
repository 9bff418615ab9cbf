// Norm over groups of channels (Wu and He, 2018); src and dst are (batch, channels, inner):
//   dst[n, c, i] = (src[n, c, i] - mean) weight[c] / sqrt(var + eps) + bias[c]
// mean and var being those of the channels / groups channels of n that c belongs to. Sums in float64, the
// rest in float32, rounded once.
//   weight, bias (channels) f32; null: 1 and 0
//   layout: all without gaps; dst may be src
#pragma once

#include <cstdint>

#include "kernels/row.h"

namespace orrery::kernels {

struct GroupNorm {
  static constexpr std::string_view kName = "group_norm";
  struct Problem {
    DType dtype = DType::f32;  // of src and dst
  };
  struct Args {
    DType dtype = DType::f32;
    int64_t batch = 0, channels = 0, inner = 0;
    int64_t groups = 1;  // divides channels
    const void* src = nullptr;
    const float* weight = nullptr;
    const float* bias = nullptr;
    void* dst = nullptr;
    float eps = 1e-5F;
  };
};

std::span<const Row<GroupNorm>> group_norm_rows();
namespace cuda {
std::span<const Row<GroupNorm>> group_norm_rows();
}
namespace ref {
void group_norm(const GroupNorm::Args& args, const Launch& launch);
std::string legal(const GroupNorm::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
