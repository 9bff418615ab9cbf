// Mixture of experts (Shazeer et al. 2017, arXiv 1701.06538; Jiang et al. 2024, arXiv 2401.04088). Two ops:
//   TopExperts: the `active` likeliest experts of each token and their weights, by p = softmax(logits)
//     experts[t, j]: the expert with the j-th largest p; of equal ones that with the lower number
//     weights[t, j]: its p, or with `normalise` p over the sum of the chosen p, which is what a softmax over
//     the chosen logits alone gives
//   ExpertMlp: dst[t] = sum_j weights[t, j] * down_e (act(gate_e src[t]) * up_e src[t])    e = experts[t, j]
// Layout: logits (tokens, experts), experts and weights (tokens, active), src and dst (tokens, width), all
// contiguous; gate_e, up_e (inner, width) and down_e (width, inner) row-major in their stored types.
#pragma once

#include "kernels/linear.h"

namespace orrery::kernels {

struct TopExperts {
  static constexpr std::string_view kName = "top_experts";
  struct Problem {
    int64_t experts = 0, active = 0;
    bool normalise = true;
  };
  struct Args {
    Problem problem;
    const float* logits = nullptr;
    int32_t* experts = nullptr;
    float* weights = nullptr;
    int64_t tokens = 0;
  };
};
std::span<const Row<TopExperts>> top_experts_rows();
namespace cuda {
std::span<const Row<TopExperts>> top_experts_rows();
}
namespace ref {
void top_experts(const TopExperts::Args& args, const Launch& launch);
std::string legal(const TopExperts::Problem& problem);
}  // namespace ref

struct ExpertMlp {
  static constexpr std::string_view kName = "expert_mlp";
  struct Problem {
    int64_t tokens = 1;      // upper bound of the plan's bucket
    int64_t min_tokens = 1;  // lower bound of the bucket
    int64_t width = 0, inner = 0, experts = 0, active = 0;
    DType gate = DType::f32, up = DType::f32, down = DType::f32;
    Epilogue activation = Epilogue::silu_mul;   // gated
    Precision precision = Precision::balanced;  // as for Linear
  };
  /// Of all experts: expert e's matrix begins at base + e * stride bytes.
  struct Matrices {
    const std::byte* base = nullptr;
    size_t stride = 0;

    const std::byte* of(int64_t expert) const { return base + static_cast<size_t>(expert) * stride; }
  };
  struct Args {
    Problem problem;
    const float* src = nullptr;
    const int32_t* experts = nullptr;  // in [0, experts); a token's are all different
    const float* weights = nullptr;
    Matrices gate, up, down;
    float* dst = nullptr;
    int64_t tokens = 0;  // of this call
  };
};
std::span<const Row<ExpertMlp>> expert_mlp_rows();
namespace cuda {
std::span<const Row<ExpertMlp>> expert_mlp_rows();
}
namespace ref {
void expert_mlp(const ExpertMlp::Args& args, const Launch& launch);
std::string legal(const ExpertMlp::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
