// The row lists of the CUDA module, one an op family; each ends with a row that takes every legal problem.
#pragma once

#include "kernels/device_module.h"

namespace orrery::kernels::cuda {

std::span<const Row<Linear>> linear_rows();
std::span<const Row<Attention>> attention_rows();
std::span<const Row<KvAppend>> kv_append_rows();
std::span<const Row<Norm>> norm_rows();
std::span<const Row<Rope>> rope_rows();
std::span<const Row<Elementwise>> elementwise_rows();
std::span<const Row<Embedding>> embedding_rows();
std::span<const Row<Gather>> gather_rows();
std::span<const Row<Sample>> sample_rows();
std::span<const Row<TopExperts>> top_experts_rows();
std::span<const Row<ExpertMlp>> expert_mlp_rows();

}  // namespace orrery::kernels::cuda
