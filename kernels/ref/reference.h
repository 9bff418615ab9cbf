// The reference form of each op: plain loops in float64, written to be read beside the formula. They are the
// oracle of the tests and the last row of each list, so they take every legal problem, on any machine and on
// one thread.
#pragma once

#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/moe.h"
#include "kernels/norm.h"
#include "kernels/rope.h"
#include "kernels/sample.h"

namespace orrery::kernels::ref {

void attention(const Attention::Args& args, const Launch& launch);
void elementwise(const Elementwise::Args& args, const Launch& launch);
void embedding(const Embedding::Args& args, const Launch& launch);
void expert_mlp(const ExpertMlp::Args& args, const Launch& launch);
void gather(const Gather::Args& args, const Launch& launch);
void kv_append(const KvAppend::Args& args, const Launch& launch);
void norm(const Norm::Args& args, const Launch& launch);
void rope(const Rope::Args& args, const Launch& launch);
void sample(const Sample::Args& args, const Launch& launch);
void top_experts(const TopExperts::Args& args, const Launch& launch);

/// Empty when the problem is legal at all, else what is wrong with it. Every row asks this first.
std::string legal(const Attention::Problem& problem);
std::string legal(const Elementwise::Problem& problem);
std::string legal(const Embedding::Problem& problem);
std::string legal(const ExpertMlp::Problem& problem);
std::string legal(const Gather::Problem& problem);
std::string legal(const KvAppend::Problem& problem);
std::string legal(const Norm::Problem& problem);
std::string legal(const Rope::Problem& problem);
std::string legal(const Sample::Problem& problem);
std::string legal(const TopExperts::Problem& problem);

/// Empty when heads of head_dim can be kept in pages as `kv`.
std::string kept_refusal(DType kv, int64_t head_dim);

}  // namespace orrery::kernels::ref
