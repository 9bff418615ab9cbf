// Norms over the last dim, with an optional fused residual add:
//   x = src + residual (if given; written to sum if given)
//   rms_norm:   dst = x * weight / sqrt(mean(x^2) + eps)
//   layer_norm: dst = (x - mean(x)) * weight / sqrt(var(x) + eps) + bias
//   src, residual, sum, dst (tokens, cols) f32, contiguous; sum may be src or residual (in place);
//   accumulation f32 or wider
//   weight, bias (weight_rows, cols) f32; token t takes row t % weight_rows: heads that have norms of their
//   own
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Norm {
  static constexpr std::string_view kName = "norm";
  enum class Kind : uint8_t { rms, layer };
  struct Problem {
    Kind kind = Kind::rms;
    int64_t cols = 0;
    bool residual = false;
  };
  struct Args {
    Kind kind = Kind::rms;
    const float* src = nullptr;
    const float* residual = nullptr;
    float* sum = nullptr;
    float* dst = nullptr;
    const float* weight = nullptr;
    const float* bias = nullptr;  // layer norm only; may be null
    int64_t tokens = 0, cols = 0;
    int64_t weight_rows = 1;
    float eps = 1e-5F;
  };
};
std::span<const Row<Norm>> norm_rows();
namespace cuda {
std::span<const Row<Norm>> norm_rows();
}
namespace ref {
void norm(const Norm::Args& args, const Launch& launch);
std::string legal(const Norm::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
